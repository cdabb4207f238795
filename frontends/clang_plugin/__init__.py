"""The pass plugin for clang, in C++, and a reader of its tables, in Python: docs/plugin.md."""
