"""Reports: their types, and how they are built, worded and merged."""
