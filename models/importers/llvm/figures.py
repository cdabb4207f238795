"""Figures of LLVM's scheduling models for instructions that a core does not have: figures.txt.

`python -m incc.models.importers.llvm.figures` writes it anew, from LLVM 19's development files (`--llvm-config`).
llvm-mca analyses whatever the assembler accepts, also for a core that could not run it: where a scheduling model has a
class for an instruction, there are figures. They are not figures of that core, so they are in no model file;
missing_forms.py reads them on demand.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import msgspec

from incc.frontends.x86.decode import twin
from incc.models import loading
from incc.models.forms.shapes import Shape, encode, example, shapes
from incc.models.importers.llvm.importer import queries, run
from incc.models.importers.llvm.missing_forms import FILE

# LLVM's processors by their scheduling model; the first one stands for all of a line.
_MODELS = """
sandybridge core-avx-i core2 core_2_duo_sse4_1 core_2_duo_ssse3 core_2nd_gen_avx core_3rd_gen_avx core_aes_pclmulqdq \
  core_i7_sse4_2 corei7 corei7-avx generic ivybridge nehalem penryn westmere x86-64 x86-64-v2 yonah
haswell core-avx2 core_4th_gen_avx core_4th_gen_avx_tsx knl knm mic_avx512 x86-64-v3
broadwell core_5th_gen_avx core_5th_gen_avx_tsx
skylake
skylake-avx512 skx skylake_avx512 cannonlake cascadelake cooperlake x86-64-v4
icelake-server icelake-client icelake_client icelake_server rocketlake tigerlake
alderlake arrowlake arrowlake-s arrowlake_s clearwaterforest gracemont grandridge lunarlake meteorlake pantherlake \
  raptorlake sierraforest
sapphirerapids emeraldrapids graniterapids graniterapids-d graniterapids_d
bonnell atom
silvermont atom_sse4_2 atom_sse4_2_movbe goldmont goldmont-plus goldmont_plus slm tremont
btver2
bdver2 bdver1
znver1
znver2
znver3
znver4 znver5
"""
MODELS = tuple(tuple(line.split()) for line in _MODELS.strip().split("\n"))


class Figures(msgspec.Struct, frozen=True):
    """The data of one scheduling model: members by resource, and a line of figures by query ("FORM[CONDITIONS]")."""

    resources: dict[str, list[str]]
    lines: dict[str, str]


def read(cpu: str, requested: Sequence[str], narrow: Sequence[str], llvm_config: str) -> Figures:
    """Return LLVM's data on instructions ("QUERY HEX") on one of its processors; `narrow` selects 32-bit mode."""
    processor, *answers = run(cpu, list(requested), llvm_config)
    answers += run(cpu, list(narrow), llvm_config, "i686")[1:]
    resources = {r["name"]: r["members"] for r in json.loads(processor)["resources"]}
    lines = {}
    for answer in answers:
        data = json.loads(answer)
        if "key" in data and "error" not in data:
            lines[data["key"]] = _line(data)
    return Figures(resources, lines)


def _line(data: dict[str, Any]) -> str:
    """Return latency, µops, cycles of the load in the latency (- for none stated), and cycles of resources."""
    advance = max((each["cycles"] for each in data["read_advance"]), default="-")
    used = [f"{r['name']}*{r['cycles']}" for r in data["resources"] if not r["name"].endswith("PortInvalid")]
    return " ".join((str(data["latency"]), str(data["uops"]), str(advance), *used))


def _narrow_shapes() -> list[Shape]:
    """Return the forms that only 32-bit mode has, and no other one of 64-bit mode stands for."""
    wide = {shape.key for shape in shapes()}
    narrow = [shape for shape in shapes(32) if shape.key not in wide]
    return [shape for shape in narrow if twin(shape.key.partition("/")[0]) == shape.key.partition("/")[0]]


def _narrow_queries() -> list[str]:
    requests = []
    for shape in _narrow_shapes():
        code = encode(example(shape, bits=32), 32)
        if code is not None:
            requests.append(f"{shape.key}[] {code.hex()}")
    return requests


def _lacking(cpu: str, others: Sequence[str]) -> set[str]:
    """Return the forms that at least one of these cores' models lacks."""
    forms = {shape.key for shape in (*shapes(), *_narrow_shapes())}
    missing: set[str] = set()
    for name in (cpu, *others):
        model = loading.find_cpu(name, levels=True).model
        if model:
            missing |= forms.difference(loading.load(model).forms())
    return missing


def written(models: dict[str, Figures], lacking: dict[str, set[str]], names: Sequence[Sequence[str]]) -> str:
    """Return the file's text.

    For each model names, resources and figures, then classes of forms with a figure of each model, then the forms with
    their class, and those of conditions where they are others.
    """
    figures: dict[str, dict[str, int]] = {cpu: {} for cpu in models}
    by_form: dict[str, dict[str, tuple[int, ...]]] = {}
    keys = dict.fromkeys(key for each in models.values() for key in each.lines)
    for key in keys:
        form, _, conditions = key.removesuffix("]").partition("[")
        if not any(form in lacks for lacks in lacking.values()):
            continue
        row = []
        for cpu, each in models.items():
            line = each.lines.get(key) if form in lacking[cpu] else None
            row.append(-1 if line is None else figures[cpu].setdefault(line, len(figures[cpu])))
        by_form.setdefault(form, {})[conditions] = tuple(row)
    classes: dict[tuple[int, ...], int] = {}
    forms = []
    for form, rows in sorted(by_form.items()):
        plain = rows.get("")
        if plain is None or max(plain) < 0:
            continue
        numbers = {c: classes.setdefault(row, len(classes)) for c, row in rows.items()}
        more = [f"{c}={n}" for c, n in numbers.items() if c and n != numbers[""]]
        forms.append(" ".join((form, str(numbers[""]), *more)))
    out = [
        "# Made by `python -m incc.models.importers.llvm.figures`, not by hand: see there.",
        "# From LLVM 19's scheduling models (Apache License 2.0 with LLVM exceptions).",
    ]
    for cpu, others in zip(models, names, strict=True):
        out += ["", f"model {' '.join(others)}"]
        out += [f"{name} {' '.join(members)}" for name, members in models[cpu].resources.items()]
        out += ["figures", *figures[cpu]]
    out += ["", "classes"]
    out += [" ".join("-" if n < 0 else str(n) for n in row) for row in classes]
    out += ["", "forms", *forms]
    return "\n".join(out) + "\n"


def made(llvm_config: str) -> str:
    """Return the whole file."""
    requested = [
        f"{key} {code.hex()}"
        for key, (_, _, code) in queries(shape for shape in shapes() if "RESERVEDNOP" not in shape.key)
    ]
    narrow = _narrow_queries()
    models = {names[0]: read(names[0], requested, narrow, llvm_config) for names in MODELS}
    lacking = {cpu: _lacking(cpu, others) for cpu, *others in MODELS}
    return written(models, lacking, MODELS)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--llvm-config", default="llvm-config-19", metavar="PROGRAM")
    text = made(parser.parse_args().llvm_config)
    with open(FILE, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main()
