"""Archives and packages, read from start to end without unpacking them to the disk."""
