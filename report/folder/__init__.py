"""Folders of reports: the reports' names, how they are written and listed, and the cache of units."""
