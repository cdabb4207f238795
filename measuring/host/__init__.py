"""Models of the host, made by measuring it (incc-model make host)."""
