"""The tests, a package so that `python -m test.fuzz` runs the fuzzer."""
