"""lit configuration: tests run the commands that are on PATH (`make check` puts the virtual environment first)."""

import os
import platform
import shutil
import sys

import lit.formats

config.name = "incc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test", ".c", ".s", ".f90", ".cpp"]
config.excludes = ["Inputs", "lit.cfg.py", "golden.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "..", "..", "build", "lit")
config.environment["PATH"] = os.environ["PATH"]
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
# Golden text must not depend on the terminal or the user's settings.
config.environment["COLUMNS"] = "120"
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["NO_COLOR"] = "1"
for name in [n for n in os.environ if n.startswith("INCC_")]:
    config.environment.pop(name, None)
if "INCC_GOLDEN" in os.environ:  # make golden
    config.environment["INCC_GOLDEN"] = os.environ["INCC_GOLDEN"]

config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("FileCheck", f"{os.path.join(os.path.dirname(sys.executable), 'filecheck')}"))
config.substitutions.append(("%golden", f"{sys.executable} {os.path.join(config.test_source_root, 'golden.py')}"))
config.substitutions.append(("%root", os.path.abspath(os.path.join(config.test_source_root, "..", ".."))))

# Tests of optional parts name what they need with REQUIRES and are reported as unsupported without it.
for feature, program in {
    "gcc": "gcc",
    "gcc-11": "gcc-11",
    "g++": "g++",
    "gfortran": "gfortran",
    "clang-14": "clang-14",
    "clang-19": "clang-19",
    "llvm-mca-19": "llvm-mca-19",
    "aarch64-binutils": "aarch64-linux-gnu-objdump",
}.items():
    if shutil.which(program):
        config.available_features.add(feature)
if platform.machine() == "x86_64":
    config.available_features.add("x86_64-host")
