"""The work that x86 instructions do: for verdicts, for comparisons, and for drawings of cores."""
