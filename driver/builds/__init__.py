"""Whole builds: jobs that compilations leave, warm workers that take them, and what a project says of itself."""
