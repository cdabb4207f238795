"""Helpers that know nothing of loops: files, errors, pools of workers."""
