"""The version, and LLVM's names of processors and features, as llvm-mca prints them."""

from __future__ import annotations

from incc.driver.llvm_mca.names import cpus, features
from incc.models.loading import host_cpu_name
from incc.support.version import __version__

LLVM_VERSION = "19.1.7"
"""The version of llvm-mca whose output incc prints: scripts read it."""


def version_text() -> str:
    """Return the output of --version."""
    return (
        f"incc {__version__} LLVM version {LLVM_VERSION}\n"
        "  Optimized build.\n"
        "  Default target: x86_64-pc-linux-gnu\n"
        f"  Host CPU: {host_cpu_name() or 'generic'}\n"
        "\n"
        "  Registered Targets:\n"
        "    aarch64 - AArch64 (little endian)\n"
        "    arm64   - ARM64 (little endian)\n"
        "    x86     - 32-bit X86: Pentium-Pro and above\n"
        "    x86-64  - 64-bit X86: EM64T and AMD64\n"
    )


def lists(isa: str) -> str:
    """Return the output of -mcpu=help and -mattr=help: LLVM's processors and features for an instruction set."""
    names = cpus(isa)
    width = max(map(len, names))
    lines = ["Available CPUs for this target:", ""]
    lines += [f"  {name:<{width}} - Select the {name} processor." for name in names]
    meanings = features(isa)
    width = max(map(len, meanings))
    lines += ["", "Available features for this target:", ""]
    lines += [f"  {name:<{width}} - {text}." for name, text in meanings.items()]
    lines += ["", "Use +feature to enable a feature, or -feature to disable it."]
    lines.append("For example, llc -mcpu=mycpu -mattr=+feature1,-feature2")
    return "".join(f"{line}\n" for line in lines)
