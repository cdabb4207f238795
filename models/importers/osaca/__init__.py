"""Import of OSACA's machine files."""
