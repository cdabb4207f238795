"""A kernel's identity for comparing reports, which survives moved lines, and a hash of its code."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from incc.frontends.kernel import Instruction, KernelCode, Region

HASH_DIGITS = 16


def kernel_ids(kernels: Iterable[KernelCode], among: Iterable[Region] = ()) -> list[str]:
    """Return an identity for each kernel of a unit, given in the order of the text.

    "triad/loop1" is the first innermost loop of the function `triad`, "triad/partial1" the first one around others, and
    "triad/region name" a marked region. The identity
    contains no lines, so that it stays the same when code before the kernel grows. Kernels outside functions have the
    part after the slash alone, machine code without a place the hash of its content. Regions are numbered within
    `among`, all regions before the selection, so that a kernel's name does not depend on the selection.
    """
    return region_ids([kernel.region or content_hash(kernel) for kernel in kernels], among)


def region_ids(regions: Iterable[Region | str], among: Iterable[Region] = ()) -> list[str]:
    """Return the identities of kernels by their regions; machine code without a place has the hash of its content."""
    numbers: dict[tuple[str, str, tuple[int, ...]], int] = {}
    all_counted: dict[tuple[str, str], int] = {}
    for each in among:
        kind = _kind(each)
        number = all_counted[each.function, kind] = all_counted.get((each.function, kind), 0) + 1
        numbers[each.function, kind, each.lines] = number
    ids: list[str] = []
    counted: dict[tuple[str, str], int] = {}
    taken: set[str] = set()
    for region in regions:
        function = "" if isinstance(region, str) else region.function
        if isinstance(region, str):
            part = f"code {region}"
        elif region.kind == "marker" and region.name not in ("", function):
            part = f"region {region.name}"
        else:
            kind = _kind(region)
            number = counted[function, kind] = counted.get((function, kind), 0) + 1
            part = f"{kind}{numbers.get((function, kind, region.lines), number)}"
        name = whole = f"{function}/{part}" if function else part
        again = 1
        while whole in taken:
            again += 1
            whole = f"{name} ({again})"
        taken.add(whole)
        ids.append(whole)
    return ids


def _kind(region: Region) -> str:
    """Return the kind of a region in identities. Other loops do not change the numbers of innermost ones."""
    return region.kind if region.shape == "innermost" else region.shape


def content_hash(kernel: KernelCode) -> str:
    """Return a hash of the kernel's instructions that does not depend on their address and their labels.

    Relocations and the distances of jumps are left out.
    """
    digest = blake2b(digest_size=HASH_DIGITS // 2)
    for instruction in kernel.instructions:
        content = _content(instruction)
        digest.update(len(content).to_bytes(4, "little"))
        digest.update(content)
    return digest.hexdigest()


def _content(i: Instruction) -> bytes:
    if i.branch:
        return f"{i.branch} {i.mnemonic} {i.operands} {[(a.register.name, a.read) for a in i.registers]}".encode()
    if not any(m.symbol for m in i.memory):
        return i.encoding
    accesses = [(m.base, m.index, m.scale, m.size, m.load, m.store) for m in i.memory]
    return f"{i.form} {[(a.register.name, a.operand, a.write) for a in i.registers]} {accesses}".encode()
