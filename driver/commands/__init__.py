"""The commands, one module for each program that a user starts."""
