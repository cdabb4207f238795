"""Views of the report on a run of a program with probes."""
