"""The live page: an application for a browser on this machine, and what protects it."""
