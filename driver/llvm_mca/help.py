"""What the face of llvm-mca prints of itself, in LLVM's form: help, version, processors and features."""

from __future__ import annotations

from incc.driver.llvm_mca.options import TABLE, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from incc.driver.llvm_mca.options import LlvmOption

COLUMN = 41  # where the dash before an option's help stands

LLVM_VERSION = "19.1.7"
"""The LLVM whose tool this stands in for: scripts read it in what --version prints."""


def help_text(wanted: str, program: str) -> str:
    """The text of --help, --help-hidden, --help-list or --help-list-hidden."""
    hidden = wanted.endswith("hidden")
    # --help-list is told of where there are groups, which it leaves out.
    shown = [
        option
        for option in TABLE
        if option.group and (hidden or not option.hidden) and (wanted != "help-list" or option.name != wanted)
    ]
    lines = [
        "OVERVIEW: llvm machine code performance analyzer.",
        "",
        f"USAGE: {program} [options] <input file>",
        "",
        "OPTIONS:",
    ]
    if "list" in wanted:
        for option in sorted(shown, key=lambda o: o.name):
            lines += _entry(option)
    else:
        for group in ("Generic", "Tool", "View"):
            lines += ["", f"{group} Options:", ""]
            for option in shown:
                if option.group == group:
                    lines += _entry(option)
    return "".join(f"{line}\n" for line in lines)


def _entry(option: LlvmOption) -> list[str]:
    value = option.value or (f"<{option.kind}>" if option.kind not in ("bool", "flag") else "")
    if value:
        value = f" {value}" if len(option.name) == 1 else f"={value}"
    lines = [f"  {spelled(option.name)}{value}".ljust(COLUMN) + f" - {option.help}"]
    for name, text in option.choices:
        lines.append(f"    ={name}".ljust(COLUMN) + f" -   {text}")
    return lines


def version_text() -> str:
    """The text of --version; the line on LLVM's version is as its vendors write it."""
    from incc import __version__
    from incc.models.loading import host_cpu_name

    lines = [
        f"incc {__version__} LLVM version {LLVM_VERSION}",
        "  Optimized build.",
        "  Default target: x86_64-pc-linux-gnu",
        f"  Host CPU: {host_cpu_name() or 'generic'}",
        "",
        "  Registered Targets:",
        "    x86    - 32-bit X86: Pentium-Pro and above",
        "    x86-64 - 64-bit X86: EM64T and AMD64",
    ]
    return "".join(f"{line}\n" for line in lines)


def lists() -> str:
    """What -mcpu=help and -mattr=help print: LLVM's processors and features for x86."""
    from incc.driver.llvm_mca.names import CPUS, FEATURES

    cpus, features = CPUS.split(), [line.split("\t") for line in FEATURES.strip().splitlines()]
    width = max(map(len, cpus))
    lines = ["Available CPUs for this target:", ""]
    lines += [f"  {name:<{width}} - Select the {name} processor." for name in cpus]
    width = max(len(name) for name, _ in features)
    lines += ["", "Available features for this target:", ""]
    lines += [f"  {name:<{width}} - {text}." for name, text in features]
    lines += ["", "Use +feature to enable a feature, or -feature to disable it."]
    lines.append("For example, llc -mcpu=mycpu -mattr=+feature1,-feature2")
    return "".join(f"{line}\n" for line in lines)
