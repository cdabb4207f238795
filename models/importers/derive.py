"""Forms without a figure of their own that are known to behave like another one: the rules, each with its name.

Every form made here says so in its field `derived`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from incc.models.files.compile import Entry, Forms, write_latency
from incc.models.forms.shapes import Shape, by_key, dataflow, wanted
from incc.models.importers.common import Imported, add_features, indexed_variant, reduced
from incc.models.model import parse_latency

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping

    from incc.models.importers import Request


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_features(parser)


def import_forms(request: Request) -> Imported:
    """All forms that the core has and the model lacks, as far as a rule makes them; and idioms of those that it has."""
    kept = request.kept
    lacking = wanted(kept, request.options.features, request.only_missing)

    def finish(forms: Forms) -> int:
        return idioms(forms, lambda key: forms.get(key) or kept.get(key, {}))

    made = derive(lacking, lambda key: kept.get(key, {}))
    return Imported(made, {}, [], [], [], finish=finish)


def derive(wanted: Iterable[Shape], known: Callable[[str], Mapping[tuple[str, ...], Entry]]) -> Forms:
    """What the rules give for the wanted forms. `known` are the entries of a form that is in the model, or nothing."""
    made: Forms = {}

    def entries(key: str) -> Mapping[tuple[str, ...], Entry]:
        return made.get(key) or known(key)

    shapes = sorted(wanted, key=lambda s: (s.has_memory, s.key))
    for shape in shapes:
        for rule in (_same_operation, _vex_twin, _wide_move):
            found = rule(shape, entries)
            if found:
                made[shape.key] = found
                break
    for shape in shapes:
        if shape.key not in made and shape.has_memory and shape.encoding == "EVEX" and not known(shape.key):
            found = _register_twin(shape, entries)
            if found:
                made[shape.key] = found
    return made


def vex_name(code: str) -> str | None:
    """The VEX code of the same operation on xmm or ymm registers as an EVEX one, None without one (or on zmm)."""
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
    """The VEX code on ymm registers of the same operation as a code on zmm registers."""
    return vex_name(code.replace("ZMM", "YMM").replace("M512", "M256")) if "ZMM" in code else None


def _vex_twin(shape: Shape, known: Callable[[str], Mapping[tuple[str, ...], Entry]]) -> dict[tuple[str, ...], Entry]:
    """An EVEX instruction on xmm or ymm does what its VEX form does, in the same units."""
    code, _, kind = shape.key.rpartition("/")
    name = vex_name(code)
    twin = known(f"{name}/{kind}") if name else None
    if name and not twin and kind == "m":
        name = re.sub(r"_XMMM(\d+)$", r"_M\1", name)
        twin = known(f"{name}/{kind}")
    if not twin or shape.key == f"{name}/{kind}":
        return {}
    other = by_key()[f"{name}/{kind}"]
    if len(other.operands) != len(shape.operands) or other.operands != shape.operands:
        return {}
    result = {c: dict(f) for c, f in twin.items()}
    result[()] = {**result[()], "derived": f"as {name}/{kind}"}
    _with_mask(shape, result)
    return result


def _same_operation(
    shape: Shape, known: Callable[[str], Mapping[tuple[str, ...], Entry]]
) -> dict[tuple[str, ...], Entry]:
    """Encodings of the same operation: sal and shl; a 64-bit register where the upper half is zero anyway."""
    name = shape.key
    for pattern, replacement in (
        (r"^SAL_", "SHL_"),
        (r"_R64M(8|16|32)_", r"_R32M\1_"),
        (r"((?:MOVMSKP[SD]|PMOVMSKB|PEXTRW)_)R64_", r"\1R32_"),
        (r"^EVEX_(VMOVD|VMOVQ)_", r"VEX_\1_"),
    ):
        other = re.sub(pattern, replacement, name)
        if other != name and (twin := known(other)):
            result = {c: dict(f) for c, f in twin.items()}
            result[()] = {**result[()], "derived": f"as {other}"}
            return result
    return {}


def _wide_move(shape: Shape, known: Callable[[str], Mapping[tuple[str, ...], Entry]]) -> dict[tuple[str, ...], Entry]:
    """Loads, stores, load-broadcasts and eliminated moves of zmm registers need what those of ymm registers need."""
    code, _, kind = shape.key.rpartition("/")
    name = _ymm_name(code)
    twin = known(f"{name}/{kind}") if name else None
    if name and not twin:
        # AVX's broadcasts are from memory only, AVX2's from registers, with a code each.
        name = re.sub(r"_XMMM(\d+)$", r"_M\1", name)
        twin = known(f"{name}/{kind}")
    if not twin or twin[()].get("ports", "") not in ("", "1*p23", "1*p237+1*p4"):
        return {}
    result = {c: dict(f) for c, f in twin.items()}
    result[()] = {**result[()], "derived": f"as {name}/{kind}"}
    for fields in result.values():
        fields["ports"] = fields["ports"].replace("p015", "p05") if "ports" in fields else ""
    result = {c: {k: v for k, v in f.items() if not (c and k == "ports" and not v)} for c, f in result.items()}
    _with_mask(shape, result)
    return result


def idioms(forms: Forms, known: Callable[[str], Mapping[tuple[str, ...], Entry]]) -> int:
    """Adds to forms, in place, that they do not depend on their inputs with one register for all; returns how many.

    Of a core that has zero idioms: EVEX forms as the VEX form of the same operation, unless masked (assumed); and the
    pcmpeq instructions, whose result is all ones, but which do execute (Intel's optimization manual names them among
    the dependency-breaking idioms).
    """
    added = 0
    if not any(f.get("breaks") for f in known("PXOR_XMM_XMMM128/r").values()):
        return 0
    for key, entries in forms.items():
        code, _, kind = key.rpartition("/")
        if kind != "r" or ("same_reg",) in entries:
            continue
        if re.match(r"(VEX_V)?PCMPEQ[BWDQ]_[XY]MM", code):
            entries["same_reg",] = {"breaks": True}
        elif name := vex_name(code) or _ymm_name(code):
            twin = known(f"{name}/r").get(("same_reg",), {})
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


def _with_mask(shape: Shape, entries: dict[tuple[str, ...], Entry]) -> None:
    """Merging reads the old destination, and the mask is one more input: both as late as the other register inputs."""
    if not shape.info.can_use_op_mask_register:
        return
    base = entries[()]
    pairs = list(parse_latency(base.get("latency", "")))
    flow = dataflow(shape, mask=True)
    if flow is None or not (pairs or shape.mnemonic.startswith("VMOV")):
        return
    known = {(t, s) for t, s, _ in pairs}
    for to in flow.targets:
        registers = [c for t, s, c in pairs if t == to and s not in ("m", "a")]
        longest = max(registers or [c for t, s, c in pairs if t == to], default=None)
        if longest is not None:
            pairs += [(to, source, longest) for source in flow.sources if (to, source) not in known]
    masked = {**base, "latency": write_latency(pairs)}
    masked.pop("breaks", None)
    masked.pop("derived", None)
    blend = "1*p05" if "ZMM" in shape.operands else "1*p015"
    if shape.mnemonic.startswith(("VMOV", "VBROADCAST", "VPBROADCAST")) and base.get("ports") in ("", "1*p23"):
        # A masked move or load blends: a µop more, and nothing to eliminate.
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


def _register_twin(
    shape: Shape, known: Callable[[str], Mapping[tuple[str, ...], Entry]]
) -> dict[tuple[str, ...], Entry]:
    """With an operand from memory: the register form's µops and a load, which travel as one until issue."""
    register_key = shape.key[:-1] + "r"
    twin = known(register_key)
    flow = dataflow(shape)
    if not twin or flow is None or not flow.loads or flow.stores:
        return {}
    base = dict(twin.get((), {}))
    memory = next((str(n) for n, o in enumerate(shape.operands) if o == "M"), None)
    if memory is None or not base.get("ports"):
        return {}
    ports: dict[str, int] = {}
    for term in base["ports"].split("+"):
        count, _, name = term.partition("*")
        ports[name] = int(count)
    total = sum(ports.values())
    ports["p23"] = ports.get("p23", 0) + 1
    base["ports"] = "+".join(f"{n}*{p}" for p, n in sorted(ports.items()))
    base["retire"] = base.get("retire", total)
    pairs = [(t, "m" if s == memory else s, c) for t, s, c in parse_latency(base.get("latency", ""))]
    base["latency"] = write_latency(pairs)
    base["derived"] = f"{register_key} and a load"
    result: dict[tuple[str, ...], Entry] = {(): base}
    _with_mask(shape, result)
    indexed = indexed_variant(shape.key, base)
    if indexed is not None:
        result["indexed",] = {k: v for k, v in indexed.items() if base.get(k) != v}
    return result


def pairs_of_twin(shape: Shape, entry: Entry, known: Callable[[str], Mapping[tuple[str, ...], Entry]]) -> Entry:
    """Latencies by operand from the VEX form where the longest equals the one latency that a source gives for all."""
    code, _, kind = shape.key.rpartition("/")
    name = vex_name(code) or _ymm_name(code)
    twin = known(f"{name}/{kind}") if name else None
    if not twin:
        return entry
    mine = parse_latency(entry.get("latency", ""))
    theirs = parse_latency(twin.get((), {}).get("latency", ""))
    if not mine or not theirs or max(c for _, _, c in mine) != max(c for _, _, c in theirs):
        return entry
    better = {(t, s): c for t, s, c in theirs}
    return {**entry, "latency": write_latency([(t, s, better.get((t, s), c)) for t, s, c in mine])}


def with_pairs_of_twins(imported: Imported, kept: Forms) -> Imported:
    """The same with `pairs_of_twin` in place of latencies that are given for an instruction as a whole."""
    forms = {}
    for form, entries in imported.forms.items():
        forms[form] = entries
        if () in entries:
            base = pairs_of_twin(by_key()[form], entries[()], lambda key: kept.get(key, {}))
            forms[form] = {**entries, (): base}
    return imported._replace(forms=forms)
