"""The pass plugin for clang, in C++, and what it says in Python: docs/plugin.md."""
