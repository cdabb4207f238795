"""Whole builds: jobs left by compilations, workers that analyse them, and settings of projects."""
