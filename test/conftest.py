"""Tests give the same results wherever, by whomever and however often they are run."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from incc.core import cached
from incc.support import signals

# What incc, compilers, make and terminals read; the job server of a `make -j` around the tests is among it.
_SETTINGS = {
    *("CC", "CXX", "FC", "CFLAGS", "CXXFLAGS", "FFLAGS", "CPPFLAGS", "LDFLAGS", "SOURCE_DATE_EPOCH", "GCC_COLORS"),
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"),
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "LANGUAGE"),
}
for _name in [n for n in os.environ if n in _SETTINGS or n.startswith(("INCC_", "LC_"))]:
    del os.environ[_name]
os.environ["LANG"] = "C.UTF-8"
# Jobs and caches are sealed with a key that is kept there.
_state = tempfile.TemporaryDirectory(prefix="incc-test-")
os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = _state.name

# No test depends on time, and a busy machine is no test's fault. `make check` takes the same examples every time, so
# that what fails was broken by the change that is checked; so does `make check-all`, four times as many (properties.py
# scales the numbers that tests give). `make explore` looks for more: other examples each time.
settings.register_profile(
    "check", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("check"), max_examples=400)
settings.register_profile(
    "explore", settings.get_profile("check"), max_examples=1000, derandomize=False, print_blob=True
)
settings.load_profile("check")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """A job takes over the folder, variables and limits of its compilation; its process is that of the next test."""
    before = {name: value for name, value in os.environ.items() if name.startswith("INCC_")}
    folder = os.getcwd()
    memory = resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, memory)
    for name in [name for name in os.environ if name.startswith("INCC_")]:
        del os.environ[name]
    os.environ.update(before)
    os.chdir(folder)
    # A signal that a test has sent would end the commands that later tests run in this process.
    signals.received.clear()
    # A test may replace the functions of the core.
    cached.forget()
