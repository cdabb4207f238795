"""Cache lines that loops move, and the cycles that they take beyond the first-level cache."""
