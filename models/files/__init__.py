"""Model files: reading, compiling to tables, checking and writing them."""
