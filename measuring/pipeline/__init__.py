"""Probes of a core's pipeline: widths, buffers, latencies of memory."""
