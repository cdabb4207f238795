"""The sides of a comparison: reports, folders, databases, code, and compilations."""
