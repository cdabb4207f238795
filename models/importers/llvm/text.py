"""LLVM's data on x86-64's forms that do not depend on the processor: their text and their effects.

`python -m incc.models.importers.llvm.text` writes frontends/x86/llvm/forms.txt and flags.txt, from LLVM 19's
development files (`--llvm-config`). Every form of the decoder is encoded and passed to LLVM, which prints it; the
decoder's operands are matched in that text.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import iced_x86 as iced
import msgspec

from incc.frontends.x86.decode import decode, twin
from incc.frontends.x86.iced import Narrow, bits_of
from incc.frontends.x86.llvm import text as llvm_text
from incc.models.forms.shapes import encode, example, shapes
from incc.models.importers.llvm.importer import print_x86

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(llvm_text.__file__)))
FORMS, FLAGS = (os.path.join(_FOLDER, f"{name}.txt") for name in ("forms", "flags"))
# Sign extended or not, as a number of any width, it is written otherwise, and it names no condition.
_BYTE, _WORD = -100, -12345
_IMMEDIATES = {
    iced.OpKind.IMMEDIATE8: _BYTE,
    iced.OpKind.IMMEDIATE8_2ND: _BYTE + 1,
    iced.OpKind.IMMEDIATE8TO16: _BYTE,
    iced.OpKind.IMMEDIATE8TO32: _BYTE,
    iced.OpKind.IMMEDIATE8TO64: _BYTE,
    iced.OpKind.IMMEDIATE16: _WORD,
    iced.OpKind.IMMEDIATE32: _WORD,
    iced.OpKind.IMMEDIATE32TO64: _WORD,
    iced.OpKind.IMMEDIATE64: _WORD,
}


# Forms that `shapes.example` does not make: two immediates, addresses of 32 bits.
_BY_HAND = "c834129c 66c834129c 660f78c49c9d f20f78e59c9d 67f2450f38f806 67f3450f38f806 6766450f38f806 d7"


class TemplateForm(msgspec.Struct, frozen=True, kw_only=True):
    """A form and variant by its key in the template file: an example's bytes, and LLVM's templates and effects."""

    key: str
    """The form's key, followed by "*" for a broadcast and "+" for {sae} or rounding."""
    code: bytes
    att: str
    intel: str
    flags: str
    """The effects as in the file of flags."""


def examples() -> Iterator[tuple[str, bytes]]:
    """Yield key and bytes of an example of every form, also with a broadcast and with {sae} where possible."""
    for shape in shapes():
        variants = [""]
        if shape.encoding == "EVEX":
            rounding = shape.info.can_use_rounding_control or shape.info.can_suppress_all_exceptions
            variants += ["*"] if shape.has_memory and shape.info.can_broadcast else []
            variants += ["+"] if not shape.has_memory and rounding else []
        for variant in variants:
            instruction = example(shape, broadcast=variant == "*")
            if variant == "+":
                if shape.info.can_use_rounding_control:
                    instruction.rounding_control = iced.RoundingControl.ROUND_DOWN
                else:
                    instruction.suppress_all_exceptions = True
            if instruction.is_vsib:
                # LLVM has the factor of a short displacement wrong for some of these.
                instruction.memory_displacement, instruction.memory_displ_size = 0, 0
            code = encode(_with_immediates(instruction)) or encode(instruction)
            if code is not None:
                yield shape.key + variant, code
    for digits in _BY_HAND.split():
        code = bytes.fromhex(digits)
        yield llvm_text.template_key(iced.Decoder(64, code).decode()), code


def narrow_examples() -> Iterator[tuple[str, bytes]]:
    """Yield examples of the forms of 32-bit mode that may be written otherwise there.

    Vector encodings are excluded, because LLVM's disassembler loses a bit of them in this mode.
    """
    for shape in shapes(32):
        if shape.encoding != "LEGACY":
            continue
        instruction = example(shape, bits=32)
        code = encode(_with_immediates(instruction), 32) or encode(instruction, 32)
        if code is not None:
            yield shape.key, Narrow(code)


def masked_examples() -> Iterator[tuple[str, bytes]]:
    """Yield examples with a mask of the forms that can have one."""
    for shape in shapes():
        if shape.encoding == "EVEX" and shape.info.can_use_op_mask_register:
            code = encode(example(shape, True))
            if code is not None:
                yield shape.key, code


def _with_immediates(instruction: iced.Instruction) -> iced.Instruction:
    changed = instruction.copy()
    for n in range(changed.op_count):
        value = _IMMEDIATES.get(changed.op_kind(n))
        # Not the constant 1 of shifts, and not the registers in an immediate's bits.
        if value is not None:
            changed.set_immediate_i64(n, value)
    return changed


def template(native: Any, text: str, intel: bool) -> str:
    """Return LLVM's text with `<n>` for the operands that are printed as the decoder sees them."""
    mnemonic, tab, rest = text.partition("\t")
    if mnemonic.startswith("{"):
        more, tab, rest = rest.partition("\t")
        mnemonic = f"{mnemonic}\t{more}"
    matches: list[tuple[int, int, str]] = []
    names = ["K"] if native.has_op_mask and intel else []
    names += ["R"] if native.rounding_control or native.suppress_all_exceptions else []
    for n in range(native.op_count):
        unsigned = "u" if native.op_kind(n) == iced.OpKind.IMMEDIATE8 else "U"
        names += [f"{n}{how}" for how in ("", unsigned, "m", *llvm_text.PARTS)]
    rendered = [(llvm_text.fill(native, f"<{name}>", intel), name) for name in names]
    for value, name in sorted(rendered, key=lambda each: -len(each[0])):
        if not value:
            continue
        for match in re.finditer(r"(?<![\w%$])" + re.escape(value) + r"(?![\w(])", rest):
            start, end = match.span()
            if all(end <= a or start >= b for a, b, _ in matches) and not any(x[2][0] == name[0] for x in matches):
                matches.append((start, end, name))
                break
    for start, end, name in sorted(matches, reverse=True):
        rest = f"{rest[:start]}<{name}>{rest[end:]}"
    return mnemonic + tab + rest


def read(
    llvm_config: str, requested: list[tuple[str, bytes]]
) -> tuple[list[TemplateForm], list[tuple[str, bytes, str]]]:
    """Return (key, bytes) as LLVM writes them, and those that it rejects, with its reason."""
    lines = [f"{key} {code.hex()}" for key, code in requested]
    triple = "i686" if requested and bits_of(requested[0][1]) == 32 else "x86_64"
    written, unknown = [], []
    for (key, code), line in zip(requested, print_x86(lines, llvm_config, triple), strict=True):
        data = json.loads(line)
        if "error" in data:
            unknown.append((key, code, data["error"]))
            continue
        native = iced.Decoder(bits_of(code), code).decode()
        att, intel = (_plain(template(native, data[name], name == "intel")) for name in ("att", "intel"))
        flags = "L" * data["load"] + "S" * data["store"] + "U" * data["effects"] or "-"
        written.append(TemplateForm(key=key, code=code, att=att, intel=intel, flags=flags))
    return written, unknown


def _plain(text: str) -> str:
    """Return the text without prefixes and comments."""
    return re.sub(r"\s*#.*", "", text).strip()


def forms_file(written: list[TemplateForm], narrow: list[TemplateForm]) -> str:
    """Return the templates that the general rule does not give; "32:" marks those that differ in 32-bit mode."""
    lines = [
        "# Made by `python -m incc.models.importers.llvm.text`, not by hand: see llvm/text.py.",
        "# FORM|AT&T|INTEL: how LLVM 19 prints forms; nothing where it does what is usual. ~ is a tab. 32: is what is",
        "# otherwise in 32-bit mode.",
    ]
    for each in written:
        native = iced.Decoder(64, each.code).decode()
        usual = [llvm_text.usual(native, intel) for intel in (False, True)]
        texts = ["" if text == rule else text for text, rule in zip((each.att, each.intel), usual, strict=True)]
        if any(texts):
            lines.append("|".join((each.key, *texts)).replace("\t", "~"))
    templates = {line.partition("|")[0]: line.replace("~", "\t").split("|")[1:] for line in lines}
    for each in narrow:
        native = iced.Decoder(32, each.code).decode()
        wide = templates.get(each.key, ["", ""])
        rules = [wide[intel] or llvm_text.usual(native, intel) for intel in (False, True)]
        texts = ["" if text == rule else text for text, rule in zip((each.att, each.intel), rules, strict=True)]
        if any(texts):
            lines.append("|".join((f"32:{each.key}", *texts)).replace("\t", "~"))
    return "\n".join(lines) + "\n"


def flags_file(written: list[TemplateForm], masked: list[TemplateForm], narrow: list[TemplateForm]) -> str:
    """Return the forms with other effects in LLVM than in the decoder, or with effects which its model has not.

    Those with a mask are listed where LLVM's effects differ from those without.
    """
    lines = [
        "# Made by `python -m incc.models.importers.llvm.text`, not by hand: see llvm_flags.py.",
        "# FORM FLAGS: LLVM 19's instruction descriptions where the decoder says otherwise. L: may load, S: may store,",
        "# U: has effects that are not modelled, -: nothing of these. With {k}: only with a mask. 32: is what is",
        "# otherwise in 32-bit mode.",
    ]
    flags: dict[str, str] = {}
    for each in written:
        if each.key[-1] not in "*+" and each.flags != _decoded(each.code):
            flags[each.key] = each.flags
    for each in masked:
        if each.flags != flags.get(each.key, _decoded(each.code)):
            flags[f"{each.key}{{k}}"] = each.flags
    for each in narrow:
        name, _, kind = each.key.partition("/")
        if each.flags != flags.get(f"{twin(name)}/{kind}", _decoded(each.code)):
            flags[f"32:{each.key}"] = each.flags
    return "\n".join([*lines, *[f"{key} {value}" for key, value in sorted(flags.items())]]) + "\n"


def _decoded(code: bytes) -> str:
    memory = decode(code).memory
    return "L" * any(a.load for a in memory) + "S" * any(a.store for a in memory) or "-"


def main() -> int:
    """Write both files."""
    parser = argparse.ArgumentParser(description="Take from LLVM how instructions are written.")
    parser.add_argument("--llvm-config", default="llvm-config-19", metavar="PROGRAM")
    parser.add_argument("--unknown", action="store_true", help="list the forms that LLVM does not know")
    options = parser.parse_args()
    written, unknown = read(options.llvm_config, list(examples()))
    masked, _ = read(options.llvm_config, list(masked_examples()))
    narrow, _ = read(options.llvm_config, list(narrow_examples()))
    for path, text in ((FORMS, forms_file(written, narrow)), (FLAGS, flags_file(written, masked, narrow))):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    print(f"{len(written)} forms and variants, {len(unknown)} that LLVM does not know")
    if options.unknown:
        for key, code, why in unknown:
            print(f"{key} {code.hex()}: {why}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
