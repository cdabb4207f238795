"""What became of kernels: reports of several builds, their kernels matched, and the changes explained.

    sides ──▶ match ──▶ rows ──▶ changes with their causes ──▶ Comparison

`documents.py` decodes reports, `match.py` finds which kernel of one side is which of the other, `change.py` says what
became of it, `build.py` puts the `Comparison` together (`types.py`, from which its JSON schema is made), and views in
`views/comparison` print it. A comparison knows reports and nothing of models or instruction sets. Sides are made
in `driver/sides`.
"""
