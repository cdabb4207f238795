"""Binding: from a decoded kernel and a machine model to the flat arrays that the native core reads."""
