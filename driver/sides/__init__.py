"""Makes the sides of a comparison of whatever is named: reports, folders, databases, code, compilers."""
