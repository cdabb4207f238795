"""Analyses for the page of incc-web: code that somebody types is compiled, confined, and never run."""
