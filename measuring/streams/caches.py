"""The caches of this machine, as Linux describes them in /sys."""

from __future__ import annotations

import os
from pathlib import Path

from incc.models.memory import NAMES, MemoryLevel

_SYSTEM = Path("/sys/devices/system/cpu")


def read(cpu: int, system: Path = _SYSTEM) -> tuple[list[MemoryLevel], int]:
    """Return the data caches of a CPU from L1 outwards, without costs, and the bytes of a cache line.

    Returns no level if the system does not describe them.
    """
    levels, line = [], 64
    threads = len(_cpus(_text(system / f"cpu{cpu}/topology/thread_siblings_list"))) or 1
    for folder in sorted((system / f"cpu{cpu}/cache").glob("index*")):
        name, size = f"L{_text(folder / 'level')}", _bytes(_text(folder / "size"))
        if _text(folder / "type") == "Instruction" or name not in NAMES or not size:
            continue
        ways = _text(folder / "ways_of_associativity")
        line = int(_text(folder / "coherency_line_size") or line)
        cores = len(_cpus(_text(folder / "shared_cpu_list"))) // threads
        levels.append(
            MemoryLevel(
                name=name,
                size=size,
                # Linux has 0 for caches that it believes to be fully associative, or about which it knows nothing.
                ways=int(ways) if ways.isdigit() and int(ways) > 0 else None,
                cores=max(cores, 1),
            )
        )
    return levels, line


def one_cpu_per_core(system: Path = _SYSTEM) -> list[int]:
    """Return the CPUs that this process may use, one of each core."""
    cpus, seen = [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        core = _text(system / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu)
        if core not in seen:
            seen.add(core)
            cpus.append(cpu)
    return cpus


def available_bytes(path: str = "/proc/meminfo") -> int:
    """Return the bytes of memory that are free for use; 0 if the system does not say."""
    for line in _text(Path(path)).splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _bytes(text: str) -> int:
    """Return a size as /sys has it: "48K"."""
    digits = text.rstrip("KMG")
    return int(digits) << {"": 0, "K": 10, "M": 20, "G": 30}[text[len(digits) :]] if digits.isdigit() else 0


def _cpus(text: str) -> list[int]:
    """Return the numbers in a list such as "0-3,8"."""
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
