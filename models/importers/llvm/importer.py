"""Import of LLVM's scheduling models, through a small program over its MC library (llvm_sched.cpp).

Every form of the decoder is encoded as machine code and put to LLVM, so nothing depends on how LLVM names instructions.
How its figures become a form's is described in docs/models.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from incc.models.files.compile import read_header
from incc.models.files.source import Conditions, Entries, Entry, Forms
from incc.models.forms.shapes import (
    FEATURES,
    VECTOR_BITS,
    FormDataflow,
    Shape,
    by_key,
    dataflow,
    encode,
    example,
)
from incc.models.importers import ImportRequest
from incc.models.importers.common import (
    MALFORMED,
    Imported,
    ImportFailed,
    Malformed,
    add_features,
    indexed_variant,
    reduced,
    wanted,
)
from incc.models.importers.derive import with_pairs_of_twins
from incc.models.importers.llvm import aarch64 as llvm_aarch64
from incc.models.importers.llvm import units as llvm_units
from incc.models.importers.llvm.features import features_of
from incc.models.importers.llvm.units import UnitModel
from incc.models.notation import write_latency, write_numbered_usage
from incc.support.trust import cache_home, distrusted, make_private

if TYPE_CHECKING:
    import argparse

# Cycles of the load that LLVM's Intel models add to the latency of an instruction with a memory source
# (ReadAfterLd and ReadAfterVec*Ld in X86SchedSkylake*.td), by bits loaded or of the widest vector register.
_LOAD_LATENCY = {0: 5, 64: 6, 128: 6, 256: 7, 512: 7}
# From Golden Cove on, the models name ports as uops.info does: A the load port 11, B the arithmetic port 10.
_PORT_NAMES = {10: "B", 11: "A"}
_LOAD_PORTS, _STORE_PORTS = frozenset("23A"), frozenset("4789")


ISAS = ("x86", "aarch64")
NEW_MODEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_features(parser)
    parser.add_argument("-mcpu", "--mcpu", dest="cpu", required=True, metavar="NAME", help="LLVM's processor")
    parser.add_argument("--llvm-config", default="llvm-config-19", metavar="PROGRAM")
    parser.add_argument("--all", action="store_true", help="all forms that LLVM's processor has, by its features")
    parser.add_argument(
        "--kinds",
        default="",
        metavar="KIND=PORTS,…",
        help="LLVM's model is another core's: µops by kind of unit (int, vector, branch) on these ports",
    )
    parser.add_argument(
        "--resources", action="store_true", help="no forms: only LLVM's names of the core's resources (table llvm)"
    )


def import_forms(request: ImportRequest) -> Imported:
    """Return figures of the forms that the model may have, by the way for its instruction set."""
    options = request.options
    if request.isa == "aarch64" and not options.resources:
        lines = run(options.cpu, [], options.llvm_config, "aarch64", "--enumerate")
        parameters = request.chain[0].data.get("parameters", {}) if request.chain else {}
        return llvm_aarch64.import_cpu(options.cpu, lines, options.keep_going, parameters)
    if not request.chain:
        raise ImportFailed(f"{request.output}: no such model")
    header, _ = read_header(request.chain)
    if options.resources:
        return _names(request, header)
    processor = json.loads(run(options.cpu, [], options.llvm_config)[0])
    if options.all:
        has = features_of(processor["features"], FEATURES.values())
        lacking = wanted((), ",".join(sorted(has)), False)
        if request.only_missing:
            lacking = [shape for shape in lacking if shape.key not in request.kept]
    else:
        lacking = wanted(request.kept, options.features, request.only_missing)
    numbered = all(re.search(r"Port(\d+|Invalid)$|Divider", n) for r in processor["resources"] for n in r["members"])
    if numbered and not options.kinds:
        imported = import_cpu(options.cpu, lacking, options.llvm_config, options.keep_going)
        if llvm_units.has_one_load_port(header["functions"]):
            imported = replace(imported, forms=_one_load_port(imported.forms, header["functions"]))
        return _landing_pads(with_pairs_of_twins(imported, request.kept), request.kept)
    core = llvm_units.core_of(header, options.kinds, processor["features"])
    imported = import_cpu(options.cpu, lacking, options.llvm_config, options.keep_going, core)
    if core.fuses and not request.fusion:
        imported = replace(imported, fusion=llvm_units.FUSION, replaces_fusion=True)
    return _landing_pads(imported, request.kept)


def _names(request: ImportRequest, header: Mapping[str, Any]) -> Imported:
    """Return no forms, but LLVM's names of the core's resources."""
    options, arm = request.options, request.isa == "aarch64"
    processor = json.loads(run(options.cpu, [], options.llvm_config, "aarch64" if arm else "x86_64")[0])
    of_unit = llvm_aarch64.ports_of(processor["resources"]).of_unit if arm else {}
    old = request.chain[0].data.get("llvm", {})
    names = llvm_units.names_of(processor, old, header["ports"], header["resources"], of_unit)
    return Imported(forms={}, header=lambda text: llvm_units.with_names(text, names))


def _landing_pads(imported: Imported, kept: Forms) -> Imported:
    """Make `endbr64` a nop, as on every core that does not check jumps; LLVM's models disagree on it."""
    nop = imported.forms.get("NOP_RM32/r") or kept.get("NOP_RM32/r")
    forms: Forms = dict(imported.forms)
    for form in ("ENDBR32/r", "ENDBR64/r"):
        if nop and form in forms:
            forms[form] = {(): {**nop[()], "derived": "as NOP_RM32/r"}}
    return replace(imported, forms=forms)


def _one_load_port(forms: Forms, functions: Mapping[str, str]) -> Forms:
    made: Forms = {}
    for form, entries in forms.items():
        flow = dataflow(by_key()[form])
        made[form] = {
            c: llvm_units.with_one_load_port(f, flow, functions) if "ports" in f else f
            for c, f in entries.items()
            if c != ("indexed",)
        }
    return made


def import_cpu(
    cpu: str,
    forms: Iterable[Shape],
    llvm_config: str = "llvm-config-19",
    keep_going: bool = False,
    core: UnitModel | None = None,
) -> Imported:
    """Return LLVM's figures for forms on a processor, with mask, zeroing and broadcast where they make a difference.

    `core` is the one whose ports its units are, where they are not Intel's numbered ones; there with idioms of one
    register, too. Raises ImportFailed if LLVM's development files or its model of the processor are missing.
    """
    requested = dict(queries(forms, core is not None))
    lines = [f"{key} {code.hex()}" for key, (_, _, code) in requested.items()]
    full: Forms = {}
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(keep_going)
    for number, line in enumerate(run(cpu, lines, llvm_config), 1):
        try:
            data = json.loads(line)
            if "key" not in data:
                continue
            if "error" in data:
                unmatched.append((data["key"], data["error"]))
                continue
            if any(r["name"].endswith("PortInvalid") for r in data["resources"]):
                unmatched.append((data["key"], "LLVM does not know its ports"))
                continue
            shape, conditions, _ = requested[data["key"]]
            _add(full.setdefault(shape.key, {}), shape, conditions, data, core)
        except MALFORMED as e:
            malformed.add(f"llvm_sched {cpu}:{number}", e)
    if core is None:
        _add_indexed(full)
    else:
        _mirrored_idioms(full)
    result: Forms = {key: reduced(entries) for key, entries in full.items() if () in entries}
    return Imported(forms=result, unmatched=unmatched, skipped=malformed.skipped)


def _add(entries: Entries, shape: Shape, conditions: Conditions, data: dict[str, Any], core: UnitModel | None) -> None:
    """Add LLVM's figures of a form under some conditions to its entries."""
    flow = dataflow(shape, "mask" in conditions)
    if core is None:
        entries[conditions] = entry(shape, flow, data)
    elif conditions != ("same_reg",):
        entries[conditions] = llvm_units.entry(shape, flow, data, core)
    elif data["breaks"]:
        # The differences with one register for all, where the result does not depend on it.
        idle = {} if data["resources"] else {"ports": ""}
        entries[conditions] = {**entries.get((), {}), **idle, "breaks": True}
        entries[conditions].pop("derived", None)


def _mirrored_idioms(full: Forms) -> None:
    """Copy idioms to the mirrored encoding: LLVM names only `xor r, r` with the destination in modrm."""
    for key, entries in full.items():
        mirrored = re.sub(r"^([A-Z]+)_R(\d+)_RM\2/r$", r"\1_RM\2_R\2/r", key)
        twin = full.get(mirrored, {}).get(("same_reg",)) if mirrored != key else None
        if twin is not None:
            entries.setdefault(("same_reg",), dict(twin))


def queries(forms: Iterable[Shape], idioms: bool = False) -> Iterator[tuple[str, tuple[Shape, Conditions, bytes]]]:
    """Yield queries to LLVM about forms: "FORM[CONDITIONS]", the form, the conditions, and an example's bytes.

    With `idioms` also with one register for all, where that may make a difference.
    """
    for shape in forms:
        variants: list[Conditions] = [()]
        if shape.encoding == "EVEX":
            variants += [("mask",)] * shape.info.can_use_op_mask_register
            variants += [("mask", "zeroing")] * shape.info.can_use_zeroing_masking
            variants += [("bcast",)] * (shape.has_memory and shape.info.can_broadcast)
        for conditions in variants:
            code = encode(example(shape, "mask" in conditions, "zeroing" in conditions, "bcast" in conditions))
            if code is not None:
                yield f"{shape.key}[{','.join(conditions)}]", (shape, conditions, code)
        if idioms and llvm_units.idiom(shape):
            instruction = example(shape)
            last = max(n for n, o in enumerate(shape.operands) if not o.startswith("I"))
            instruction.set_op_register(last, instruction.op_register(last - 1))
            if (code := encode(instruction)) is not None:
                yield f"{shape.key}[same_reg]", (shape, ("same_reg",), code)


def entry(shape: Shape, flow: FormDataflow, data: dict[str, Any]) -> Entry:
    """Return a form's fields from LLVM's data. Raises KeyError or ValueError on data that makes no sense.

    LLVM has one latency for each result, a load's included, and for some inputs how many cycles later they are needed.
    """
    ports: Counter[str] = Counter()
    divider = 0
    for resource in data["resources"]:
        names = [re.search(r"Port(\d+)$", m) for m in resource["members"]]
        if all(names):
            ports["".join(sorted(_PORT_NAMES.get(int(n[1]), n[1].lstrip("0") or "0") for n in names if n))] += resource[
                "cycles"
            ]
        elif "Divider" in resource["name"]:
            divider = max(divider, resource["cycles"])
        else:
            raise ValueError(f"resource {resource['name']} is neither port nor divider")
    fields: Entry = {"ports": write_numbered_usage(ports), "retire": fused_uops(shape, ports, flow)}
    latency = data["latency"]
    if flow.loads and any(n for p, n in ports.items() if set(p) <= _LOAD_PORTS):
        # Other inputs are needed when the load is done, the loaded value too.
        width = max((VECTOR_BITS.get(o, 0) for o in shape.operands), default=0)
        latency -= max((a["cycles"] for a in data["read_advance"]), default=_LOAD_LATENCY[width])
    if pairs := llvm_units.latency_pairs(flow, latency, bool(_computing(ports))):
        fields["latency"] = write_latency(pairs)
    if divider:
        fields["divider"] = divider
    if fields["retire"] > 1:
        fields["complex_decoder"] = True
    if fields["retire"] > 4:
        fields["uops_mite"], fields["uops_ms"] = 0, fields["retire"]
    return fields


def _computing(ports: Mapping[str, int]) -> int:
    """Return the number of µops that neither load nor store."""
    return sum(n for p, n in ports.items() if not set(p) <= _LOAD_PORTS | _STORE_PORTS)


def fused_uops(shape: Shape, ports: Mapping[str, int], flow: FormDataflow) -> int:
    """Return fused-domain µops: a load travels with a computation, a store's address with its data.

    LLVM does not tell the fused domain. Only true of instructions with an operand in memory, not of microcode.
    """
    total = sum(ports.values())
    gathered = flow.loads and not flow.stores and any(o.startswith("VSIB") for o in shape.operands)
    if gathered:
        # As measured for the VEX gathers: all loads are one fused µop.
        return total - sum(n for p, n in ports.items() if set(p) <= _LOAD_PORTS) + 1
    if total > 4:
        return total
    loads = sum(n for p, n in ports.items() if set(p) <= _LOAD_PORTS and len(p) > 1)
    fused = min(loads, _computing(ports)) if flow.loads else 0
    if flow.stores and (ports.get("4") or ports.get("49")):
        fused += 1
    return max(1, total - fused)


def _add_indexed(full: Forms) -> None:
    """Add the changes of an indexed address on Sandy Bridge to Skylake: see docs/models.md."""
    for key, entries in full.items():
        for conditions, fields in list(entries.items()) if key.endswith("/m") else ():
            if (indexed := indexed_variant(key, fields)) is not None:
                entries[tuple(sorted((*conditions, "indexed")))] = indexed


# --- running LLVM ----------------------------------------------------------------------------------------------------


def print_x86(lines: list[str], llvm_config: str = "llvm-config-19", triple: str = "x86_64") -> list[str]:
    """Return LLVM's text and effects, on any processor, of instructions ("KEY HEX"): JSON, one a line.

    Raises ImportFailed if LLVM's development files are missing.
    """
    return run("sapphirerapids", lines, llvm_config, triple, "--print")


def run(cpu: str, lines: list[str], llvm_config: str, triple: str = "x86_64", *options: str) -> list[str]:
    """Return LLVM's data on a processor, and on instructions ("KEY HEX") on it: JSON, one a line.

    `options` are llvm_sched.cpp's. Raises ImportFailed if LLVM's development files or its model of the processor are
    missing.
    """
    command = [_program(llvm_config), triple, cpu, *options]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        raise ImportFailed(done.stderr.strip() or f"{command[0]} ended with status {done.returncode}")
    return done.stdout.splitlines()


def _program(llvm_config: str) -> str:
    """Build llvm_sched once for each LLVM. Raises ImportFailed."""
    config = shutil.which(llvm_config)
    if config is None:
        raise ImportFailed(f"{llvm_config} not found: the import needs LLVM's development files (Debian: llvm-19-dev)")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "llvm_sched.cpp")

    def ask(*what: str) -> list[str]:
        return subprocess.run([config, *what], capture_output=True, text=True, check=True).stdout.split()

    version = ask("--version")[0]
    with open(source, "rb") as file:
        stamp = blake2b(file.read(), digest_size=8).hexdigest()
    home = cache_home(os.environ)
    folder = os.path.join(home, "llvm_sched")
    if not home or not make_private(folder):
        why = distrusted(folder, private=True) if home else "HOME is not set"
        raise ImportFailed(f"no folder for the program that reads LLVM's models: {why or f'{folder} cannot be made'}")
    target = os.path.join(folder, f"llvm_sched-{version}-{stamp}")
    if os.path.isfile(target):
        return target
    new = f"{target}.{os.getpid()}"
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        raise ImportFailed("no C++ compiler: set CXX")
    flags = [f for f in ask("--cxxflags") if not f.startswith("-std=")]
    command = [compiler, "-std=c++20", "-O1", "-w", *flags, source, "-o", new]
    done = subprocess.run([*command, *ask("--ldflags"), *ask("--libs")], capture_output=True, text=True)
    if done.returncode:
        raise ImportFailed(f"cannot build llvm_sched.cpp against LLVM {version}:\n{done.stderr.strip()}")
    os.replace(new, target)
    return target
