"""The analysis behind an editor and a page: what they ask for, and the processes that answer."""
