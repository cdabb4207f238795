"""Hostile input for every command: generators (`kinds/`), the process they run in, and what counts as a fault."""
