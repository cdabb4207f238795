"""Probes in programs: they record how often loops are entered, how long they run, and with which addresses."""
