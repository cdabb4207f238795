"""Measures the caches and the memory of this machine with loops that stream through arrays."""
