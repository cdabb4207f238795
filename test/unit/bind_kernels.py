"""Kernels from assembly text, bound to a model: what tests of binding and of whole analyses start from."""

from __future__ import annotations

from incc import core
from incc.frontends.asm.parse import parse
from incc.frontends.asm.preceding import code_before
from incc.frontends.asm.regions import innermost_loops, whole_file
from incc.frontends.kernel import KernelCode
from incc.frontends.x86.kernels import decode_regions
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.binding.pipeline import copied
from incc.models.loading import load


def kernel(text: str) -> KernelCode:
    """The one kernel that is the whole text; AT&T syntax, statements separated by new lines or `;`."""
    text += "\n"
    regions, left_out = whole_file(parse(text))
    assert not left_out, left_out
    (result,) = decode_regions(text, regions, "test.s", ())
    assert not result.refused, result.refused
    return result


def loop(text: str) -> KernelCode:
    """The one loop of the text, with what the code before it says of its registers."""
    assembly = parse(text)
    regions, left_out = innermost_loops(assembly)
    assert not left_out, left_out
    (result,) = decode_regions(text, regions, "test.s", before=code_before(assembly, regions))
    assert not result.refused, result.refused
    return result


def bound(text: str, cpu: str = "skylake-avx512") -> BoundKernel:
    """The text's kernel bound to a core."""
    return apart(bind(kernel(text), load(cpu))[0])


def apart(b: BoundKernel) -> BoundKernel:
    """The kernel with a pipeline that is not that of others which are alike, so that a test may change it."""
    if b.pipeline is not None:
        b.pipeline = copied(b.pipeline)
    return b


def analysis(text: str, cpu: str = "skylake-avx512") -> core.Analysis:
    """All bounds of the text's kernel on a core."""
    return core.analyze(bound(text, cpu))


def analysis_of_loop(text: str, cpu: str = "skylake-avx512") -> core.Analysis:
    """All bounds of the text's one loop on a core."""
    return core.analyze(bind(loop(text), load(cpu))[0])


def ports_of(b: BoundKernel, instruction: int) -> list[str]:
    """The port set of each µop of an instruction, as the ports' names run together, resources left out."""
    sets = []
    for u in range(b.uop_start[instruction], b.uop_start[instruction + 1]):
        names = [n for k, n in enumerate(b.port_names) if b.uop_ports[u] >> k & 1]
        if b.uop_ports[u] < 1 << b.n_ports:
            sets.append("".join(names))
    return sets


def inputs_of(b: BoundKernel, value: int) -> dict[str, int]:
    """Latency from each input of a value: locations by name, loaded values as "loaded"."""
    found = {}
    for k in range(b.input_start[value], b.input_start[value + 1]):
        name = "loaded" if b.input_kind[k] else b.location_names[b.input_id[k]]
        found[name] = b.input_latency[k]
    return found


def outputs_of(b: BoundKernel, value: int) -> set[str]:
    """The locations that a value is written to."""
    return {b.location_names[x] for x in b.output_location[b.output_start[value] : b.output_start[value + 1]]}
