"""Forms without figures of their own that are known to behave like another form.

Every form made here names its origin in the field `derived`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from msgspec.structs import replace

from incc.models.files.source import Conditions, Entries, Entry, Forms
from incc.models.forms.shapes import Shape, by_key, dataflow
from incc.models.importers import ImportRequest
from incc.models.importers.common import (
    Imported,
    add_features,
    indexed_variant,
    reduced,
    wanted,
    with_derived,
)
from incc.models.notation import (
    latency_by_pair,
    longest_latency,
    parse_latency,
    read_usage,
    write_latency,
    write_usage,
)

EntriesOf = Callable[[str], Mapping[Conditions, Entry]]
"""A function that returns the entries of a form in the model, or nothing."""

# Instructions whose VEX form does not name the element size.
_UNSIZED = re.compile(r"^(VPAND|VPANDN|VPOR|VPXOR|VMOVDQA|VMOVDQU)(8|16|32|64|D|Q)(?=_)")
_LANES = tuple(
    (f"{verb}{kind}{width}", f"{verb}{kind}128")
    for verb in ("VEXTRACT", "VINSERT")
    for kind in "FI"
    for width in ("32X4", "64X2")
)

ISAS = ("x86",)
NEW_MODEL = ""
add_arguments = add_features


def import_forms(request: ImportRequest) -> Imported:
    """Return the forms that the core has, the model lacks, and a rule makes; idioms are added to all forms."""
    kept = request.kept
    missing = wanted(kept, request.options.features, request.only_missing)

    def finish(forms: Forms) -> int:
        return add_idioms(forms, lambda key: forms.get(key) or kept.get(key, {}))

    made = derive(missing, lambda key: kept.get(key, {}))
    return Imported(forms=made, finish=finish)


def derive(shapes: Iterable[Shape], entries_of: EntriesOf) -> Forms:
    """Return the entries that the rules derive for the given forms from those in the model."""
    made: Forms = {}

    def entries(key: str) -> Mapping[Conditions, Entry]:
        return made.get(key) or entries_of(key)

    shapes = sorted(shapes, key=lambda s: (s.has_memory, s.key))
    for shape in shapes:
        for rule in (_same_operation, _vex_twin, _evex_twin, _wide_move):
            if derived := rule(shape, entries):
                made[shape.key] = derived
                break
    for shape in shapes:
        if shape.key in made or not shape.has_memory or shape.encoding != "EVEX" or entries_of(shape.key):
            continue
        if derived := _register_twin(shape, entries):
            made[shape.key] = derived
    return made


# --- names -----------------------------------------------------------------------------------------------------------


def vex_name(code: str) -> str | None:
    """Return the VEX code of the same operation as an EVEX code on xmm or ymm registers, else None."""
    if not code.startswith("EVEX_") or "ZMM" in code:
        return None
    name = code.removeprefix("EVEX_")
    name = re.sub(r"_K1Z?(?=_|$)", "", name)
    name = re.sub(r"_(ER|SAE)$", "", name)
    name = re.sub(r"B(16|32|64)(?=_|$)", "", name)
    name = _UNSIZED.sub(r"\1", name)
    for evex, vex in _LANES:
        name = re.sub(f"^{evex}(?=_)", vex, name)
    name = re.sub(r"^VBROADCAST([FI])(?:32X[48]|64X[24])_YMM_M(?:128|256)$", r"VBROADCAST\g<1>128_YMM_M128", name)
    return "VEX_" + name


def _ymm_name(code: str) -> str | None:
    """Return the VEX code on ymm registers of the same operation as a code on zmm registers."""
    return vex_name(code.replace("ZMM", "YMM").replace("M512", "M256")) if "ZMM" in code else None


def _twin(name: str | None, kind: str, entries_of: EntriesOf) -> tuple[str, Mapping[Conditions, Entry]]:
    """Return the key and entries of a VEX code.

    AVX's broadcasts are from memory only and AVX2's from registers, with a code each: where a code with a register or
    memory is missing, the one with memory is taken.
    """
    for code in (name, name and re.sub(r"_XMMM(\d+)$", r"_M\1", name)):
        if code and (entries := entries_of(f"{code}/{kind}")):
            return f"{code}/{kind}", entries
    return "", {}


# --- rules -----------------------------------------------------------------------------------------------------------


def _vex_twin(shape: Shape, entries_of: EntriesOf) -> Entries:
    """Return the entries of the VEX form: an EVEX instruction on xmm or ymm does the same in the same units."""
    code, _, kind = shape.key.rpartition("/")
    key, twin = _twin(vex_name(code), kind, entries_of)
    if not twin or shape.key == key or by_key()[key].operands != shape.operands:
        return {}
    result = with_derived(twin, f"as {key}")
    _add_mask(shape, result)
    return result


def _evex_twin(shape: Shape, entries_of: EntriesOf) -> Entries:
    """Return the entries, without its masks and broadcasts, of the EVEX form of a VEX instruction (AVX-VNNI)."""
    key = _evex_keys().get(shape.key, "")
    twin = {c: f for c, f in entries_of(key).items() if _ONLY_EVEX.isdisjoint(c)} if key else {}
    return with_derived(twin, f"as {key}") if twin and by_key()[key].operands == shape.operands else {}


_ONLY_EVEX = frozenset(("mask", "zeroing", "bcast", "er", "sae"))


@cache
def _evex_keys() -> Mapping[str, str]:
    """Return the key of the EVEX form of each key of a VEX form that has one."""
    pairs = ((key, key.rpartition("/")) for key in by_key())
    return {f"{name}/{kind}": key for key, (code, _, kind) in pairs if (name := vex_name(code))}


def _same_operation(shape: Shape, entries_of: EntriesOf) -> Entries:
    """Return the entries of another encoding of the operation.

    These are sal and shl, and a 64-bit register where the upper half is zero anyway.
    """
    for pattern, replacement in (
        (r"^SAL_", "SHL_"),
        (r"_R64M(8|16|32)_", r"_R32M\1_"),
        (r"((?:MOVMSKP[SD]|PMOVMSKB|PEXTRW)_)R64_", r"\1R32_"),
        (r"^EVEX_(VMOVD|VMOVQ)_", r"VEX_\1_"),
    ):
        other = re.sub(pattern, replacement, shape.key)
        if other != shape.key and (twin := entries_of(other)):
            return with_derived(twin, f"as {other}")
    return {}


def _wide_move(shape: Shape, entries_of: EntriesOf) -> Entries:
    """Return the entries of the ymm form of a move.

    Zmm loads, stores, load-broadcasts and eliminated moves need the same.
    """
    code, _, kind = shape.key.rpartition("/")
    key, twin = _twin(_ymm_name(code), kind, entries_of)
    if not twin or twin[()].get("ports", "") not in ("", "1*p23", "1*p237+1*p4"):
        return {}
    result = with_derived(twin, f"as {key}")
    for fields in result.values():
        fields["ports"] = fields["ports"].replace("p015", "p05") if "ports" in fields else ""
    result = {c: {k: v for k, v in f.items() if not (c and k == "ports" and not v)} for c, f in result.items()}
    _add_mask(shape, result)
    return result


def _register_twin(shape: Shape, entries_of: EntriesOf) -> Entries:
    """Return the register form's µops and a load, which travel as one until issue, for a form with a memory operand."""
    register_key = shape.key[:-1] + "r"
    twin = entries_of(register_key)
    flow = dataflow(shape)
    if not twin or not flow.loads or flow.stores:
        return {}
    base = dict(twin.get((), {}))
    if not shape.memory_operand or not base.get("ports"):
        return {}
    usage = read_usage(base["ports"])
    base["retire"] = base.get("retire", usage.total())
    usage["p23"] += 1
    base["ports"] = write_usage(usage)
    pairs = parse_latency(base.get("latency", ""))
    base["latency"] = write_latency([(t, "m" if s == shape.memory_operand else s, c) for t, s, c in pairs])
    base["derived"] = f"{register_key} and a load"
    result: Entries = {(): base}
    _add_mask(shape, result)
    indexed = indexed_variant(shape.key, base)
    if indexed is not None:
        result["indexed",] = {k: v for k, v in indexed.items() if base.get(k) != v}
    return result


def _add_mask(shape: Shape, entries: Entries) -> None:
    """Add the entries of a form with a mask.

    Merging reads the old destination, and the mask is one more input: both as late as the other register inputs.
    """
    if not shape.info.can_use_op_mask_register:
        return
    base = entries[()]
    latency = base.get("latency", "")
    flow = dataflow(shape, mask=True)
    if not (latency or shape.mnemonic.startswith("VMOV")):
        return
    masked = {**base, "latency": _masked_latency(latency, flow.targets, flow.sources)}
    masked.pop("breaks", None)
    masked.pop("derived", None)
    blend = "1*p05" if "ZMM" in shape.operands else "1*p015"
    if shape.mnemonic.startswith(("VMOV", "VBROADCAST", "VPBROADCAST")) and base.get("ports") in ("", "1*p23"):
        # A masked move or load blends: one more µop, and nothing to eliminate.
        masked["ports"] = f"{blend}+1*p23" if base.get("ports") else blend
        masked["latency"] = write_latency([(t, s, 1) for t in flow.targets for s in flow.sources])
    extra = reduced({(): base, ("mask",): masked})
    extra.pop((), None)
    entries.update(extra)
    if any(f.get("breaks") for c, f in entries.items() if "same_reg" in c):
        # A masked idiom still merges.
        entries["mask", "same_reg"] = {
            "ports": base.get("ports", ""),
            "latency": masked["latency"],
            "breaks": False,
        }


def _masked_latency(latency: str, targets: Iterable[str], sources: Iterable[str]) -> str:
    pairs = list(parse_latency(latency))
    stated = {(t, s) for t, s, _ in pairs}
    for to in targets:
        registers = [c for t, s, c in pairs if t == to and s not in ("m", "a")]
        longest = max(registers or [c for t, s, c in pairs if t == to], default=None)
        if longest is not None:
            pairs += [(to, source, longest) for source in sources if (to, source) not in stated]
    return write_latency(pairs)


def add_idioms(forms: Forms, entries_of: EntriesOf) -> int:
    """Add to forms, in place, that they break the dependency with one register for all sources; return their number.

    Only if the core has zero idioms: EVEX forms behave like the VEX form of the same operation, unless masked
    (assumed); the result of pcmpeq is all ones, but it executes (Intel's optimization manual lists it with the
    dependency-breaking idioms).
    """
    added = 0
    if not any(f.get("breaks") for f in entries_of("PXOR_XMM_XMMM128/r").values()):
        return 0
    for key, entries in forms.items():
        code, _, kind = key.rpartition("/")
        if kind != "r" or ("same_reg",) in entries:
            continue
        if re.match(r"(VEX_V)?PCMPEQ[BWDQ]_[XY]MM", code):
            entries["same_reg",] = {"breaks": True}
        elif name := vex_name(code) or _ymm_name(code):
            twin = entries_of(f"{name}/r").get(("same_reg",), {})
            if not twin.get("breaks"):
                continue
            base, masked = entries[()], entries.get(("mask",), {})
            entries["same_reg",] = {k: v for k, v in twin.items() if k != "source"}
            if by_key()[key].info.can_use_op_mask_register:
                both = {**base, **masked}
                entries["mask", "same_reg"] = {"ports": both.get("ports", ""), "latency": both.get("latency", "")}
                entries["mask", "same_reg"]["breaks"] = False
        else:
            continue
        added += 1
    return added


# --- latencies of twins ----------------------------------------------------------------------------------------------


def with_pairs_of_twins(imported: Imported, kept: Forms) -> Imported:
    """Return an import with latencies by operand, where its source gives one latency for a whole instruction.

    They are those of the VEX form, if its longest latency equals that one.
    """
    forms = {
        form: {**entries, (): _with_pairs_of_twin(form, entries[()], kept)} if () in entries else entries
        for form, entries in imported.forms.items()
    }
    return replace(imported, forms=forms)


def _with_pairs_of_twin(form: str, entry: Entry, kept: Forms) -> Entry:
    code, _, kind = form.rpartition("/")
    name = vex_name(code) or _ymm_name(code)
    twin = kept.get(f"{name}/{kind}", {}) if name else {}
    latency, theirs = entry.get("latency", ""), twin.get((), {}).get("latency", "")
    if not latency or not theirs or longest_latency(latency) != longest_latency(theirs):
        return entry
    better = latency_by_pair(theirs)
    return {**entry, "latency": write_latency((t, s, better.get((t, s), c)) for t, s, c in parse_latency(latency))}
