"""Ranking of a whole build's kernels by how much optimising them is worth, as `incc-report` shows it."""
