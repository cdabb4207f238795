"""Scans of many inputs by many processes, here or on a cluster, and the datasets that they write."""
