"""lit configuration: tests run the commands that are on PATH (`make check` puts the virtual environment first)."""

import os
import platform
import shutil
import sys
from importlib.util import find_spec

config.name = "incc"
config.suffixes = [".test", ".c", ".s", ".f90", ".cpp"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, config.test_source_root)
from places import Tests, plain  # noqa: E402

from incc.frontends.clang_plugin.find import plugin_for, source_plugin_for  # noqa: E402

root = plain(os.path.dirname(os.path.dirname(config.test_source_root)))
config.test_exec_root = os.path.join(root, "build", "lit")
config.test_format = Tests(os.path.join(root, "test", "lit"), config.test_exec_root)
config.environment["PATH"] = os.environ["PATH"]
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
# Golden text must not depend on the terminal or the user's settings.
config.environment["COLUMNS"] = "120"
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["NO_COLOR"] = "1"
# Nor on what earlier runs have left; tests of the cache name one.
config.environment["INCC_CACHE"] = "0"
# The key of jobs and caches, and tables of models.
config.environment["XDG_STATE_HOME"] = os.path.join(config.test_exec_root, "Output", "state")
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "Output", "cache")
if "INCC_GOLDEN" in os.environ:  # make golden
    config.environment["INCC_GOLDEN"] = os.environ["INCC_GOLDEN"]

config.substitutions += [
    ("%python", f'"{sys.executable}"'),
    ("FileCheck", f'"{os.path.join(os.path.dirname(sys.executable), "filecheck")}"'),
    ("%golden", f'"{sys.executable}" {root}/test/lit/golden.py'),
    ("%root", root),
]

# Tests of optional parts name what they need with REQUIRES and are reported as unsupported without it.
for feature, program in {
    "gcc": "gcc",
    "gcc-11": "gcc-11",
    "g++": "g++",
    "gfortran": "gfortran",
    "clang-14": "clang-14",
    "clang-16": "clang-16",
    "clang-19": "clang-19",
    "llvm-mca-19": "llvm-mca-19",
    "aarch64-gcc": "aarch64-linux-gnu-gcc",
    "aarch64-g++": "aarch64-linux-gnu-g++",
    "aarch64-gfortran": "aarch64-linux-gnu-gfortran",
    "aarch64-binutils": "aarch64-linux-gnu-objdump",
    "autoconf": "autoconf",
    "ccache": "ccache",
    "cmake": "cmake",
    "make": "make",
    "meson": "meson",
    "ninja": "ninja",
}.items():
    if shutil.which(program):
        config.available_features.add(feature)
# The pass plugin of an LLVM is there if its headers were; so its opt is wanted, or its clang.
for major in (14, 16, 19):
    if plugin := plugin_for(major, {}):
        config.substitutions.append((f"%plugin-{major}", plugin))
        for tool in ("clang", "opt"):
            if shutil.which(f"{tool}-{major}"):
                config.available_features.add(f"plugin-{tool}-{major}")
    if plugin := source_plugin_for(major, {}):
        config.substitutions.append((f"%source-plugin-{major}", plugin))
        if shutil.which(f"clang-{major}"):
            config.available_features.add(f"source-plugin-{major}")
if find_spec("pyarrow"):
    config.available_features.add("pyarrow")
if platform.machine() == "x86_64":
    config.available_features.add("x86_64-host")
# What takes long or an unusual component is left to `make check-all`.
if lit_config.params.get("long"):
    config.available_features.add("long")
