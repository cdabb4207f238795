"""The output for a comparison; each file reads a comparison (`comparison/types.py`) and nothing else."""
