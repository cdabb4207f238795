"""Reports in a SQLite database: the history of kernels over commits, and baselines (docs/database.md)."""
