"""What became of kernels: reports of several builds read, their kernels matched, and the changes explained.

    reports, folders, databases, code ──▶ sides ──▶ match ──▶ rows ──▶ changes with their causes ──▶ Comparison

`read.py` makes a `Side` of whatever was named, `match.py` finds which kernel of one side is which of the other,
`build.py` puts the `Comparison` together (`types.py`, from which its JSON schema is made), and views in
`driver/views/comparison` print it. A comparison knows reports and nothing of models or instruction sets.
"""
