"""Datasets: the kernels of a scan as Parquet files, with their whole reports in an SQLite file (docs/datasets.md)."""
