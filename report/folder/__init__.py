"""Folders of reports: what reports in them are called, how they are put there and listed, and the cache of units."""
