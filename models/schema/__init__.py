"""The keys and values that a model file may contain."""
