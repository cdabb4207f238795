"""How often what ran, or for how long, in the words of the tools that projects have: what each file says is read into
the same few records (`records.py`), whatever it is from."""
