"""Scans of many files: work for the processes of a cluster, and the datasets that they write."""
