"""Latency, throughput and port usage of instruction forms."""
