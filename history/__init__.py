"""Reports in a SQLite database: their history over commits, and baselines to compare with (docs/database.md)."""
