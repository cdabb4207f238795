"""Readers of profiles: files of many tools become a few kinds of records (`records.py`)."""
