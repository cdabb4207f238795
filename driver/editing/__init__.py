"""Analyses of files as an editor has them: the commands that compile them, unsaved text, and trials of flags."""
