"""The parts of reports that `report/kernel.py` and `report/build.py` put together."""
