"""Comparison of reports: kernels of several builds are matched, and their changes explained.

    sides ──▶ match ──▶ rows ──▶ changes with their causes ──▶ Comparison

`match.py` finds the kernels that are the same loop in two builds, `change.py` compares two such kernels, and `build.py`
puts the `ComparisonReport` together (`types.py`, from which its JSON schema is made). The views in `views/comparison`
print it. This package reads reports only and knows no models. Of instruction sets it knows what a form computes, by
which `match_features.py` finds loops with the same work. Sides are made in `driver/sides`.
"""
