"""What is printed of a comparison; each file reads a comparison (`driver/comparison/types.py`) and nothing else."""
