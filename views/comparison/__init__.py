"""What is printed of a comparison; each file reads a comparison (`compare/types.py`) and nothing else."""
