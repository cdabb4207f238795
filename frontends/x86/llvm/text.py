"""x86-64 instructions as LLVM 19 prints them, in both syntaxes.

The text is made from the bytes and a template for each form: `usual` works it out, and forms.txt has the forms
whose names or order of operands differ from that. The statement provides what the bytes do not hold: symbols and
expressions, constants as they were written (`$0xffffffff` and `$-1` are the same bytes, but not the same text), and
prefixes in braces that choose an encoding.
"""

from __future__ import annotations

import re
from typing import Any

from iced_x86 import Decoder, MemorySizeExt, OpKind, RoundingControl
from msgspec.structs import replace

from incc.frontends.asm.expressions import Expression, evaluate, has_symbols, shown
from incc.frontends.isa import word_set, words
from incc.frontends.kernel import Instruction
from incc.frontends.x86.decode import constant_offsets, native_of, register_of
from incc.frontends.x86.iced import CODE32, CODE_NAMES, MNEMONIC_NAMES, REGISTER_NAMES, constants
from incc.frontends.x86.kept import KeyedText, keep
from incc.frontends.x86.statements import Names, TextOnlyParts, read_statement

# --- operands of the machine code -------------------------------------------------------------------------------------

_KIND = {number: name for name, number in constants(OpKind).items()}
_NUMBERS = {name: number for number, name in enumerate(REGISTER_NAMES)}
_NONE = _NUMBERS["NONE"]
_RIP, _EIP = _NUMBERS["RIP"], _NUMBERS["EIP"]
_DS = _NUMBERS["DS"]
_MASKS = frozenset(_NUMBERS[f"K{number}"] for number in range(8))
_ROUNDING = {
    number: {
        "ROUND_TO_NEAREST": "{rn-sae}",
        "ROUND_DOWN": "{rd-sae}",
        "ROUND_UP": "{ru-sae}",
        "ROUND_TOWARD_ZERO": "{rz-sae}",
    }.get(name, "{sae}")
    for name, number in constants(RoundingControl).items()
}
_STRING_REGISTERS = {"SI": "si", "ESI": "esi", "RSI": "rsi", "DI": "di", "EDI": "edi", "RDI": "rdi"}
_IMMEDIATE_BITS = {
    name: (int(match[1]), int(match[2] or match[1]))
    for name in _KIND.values()
    if (match := re.match(r"IMMEDIATE(\d+)(?:TO(\d+))?", name))
}
"""The bits of an immediate in the instruction, and those of the operand that it becomes."""


def _register(number: int) -> str:
    """Return LLVM's name of an iced-x86 register."""
    name = REGISTER_NAMES[number].lower()
    if name[0] == "r" and name[-1] == "l" and name[1].isdigit():
        return name[:-1] + "b"
    if name[:2] == "st" and name[2:].isdigit():
        return f"st({name[2:]})"
    return name


PARTS = ("b", "w", "l", "q")
"""The parts of a general-purpose register that a template may choose: LLVM's may not be the one in the form's name."""


def _part(number: int, part: str) -> int:
    """Return a part of a general-purpose register, and any other register as it is."""
    register = register_of(number)
    width = {"b": 8, "w": 16, "l": 32, "q": 64}.get(part, 0)
    return _by_root(register.root, width) if width and register.kind == "general" else number


_BY_ROOT: dict[tuple[str, int], int] = {}


def _by_root(root: str, width: int) -> int:
    if not _BY_ROOT:
        for number, name in enumerate(REGISTER_NAMES):
            if name and name not in ("NONE", "AH", "BH", "CH", "DH"):
                register = register_of(number)
                _BY_ROOT[register.root, register.width] = number
    return _BY_ROOT[root, width]


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _number(value: int, hexadecimal: bool) -> str:
    if not hexadecimal:
        return str(value)
    return f"-{-value:#x}" if value < 0 else f"{value:#x}"


class _Printer:
    """One instruction in one syntax."""

    def __init__(self, native: Any, intel: bool, hexadecimal: bool) -> None:
        self._native = native
        self.intel = intel
        self.hexadecimal = hexadecimal
        self.displacement: Expression | None = None
        """The statement's displacement, None if the bytes hold it."""
        self.target = ""
        """The statement's branch target, "" if the bytes hold it."""
        self.riz = ""
        """The statement's index register that is none, %riz or %eiz."""
        self.resolved = False
        """Symbols that are constants have been replaced by their values."""
        self._immediates: list[Expression] = []
        self._used_immediates = 0

    def take_immediates(self, immediates: list[Expression]) -> None:
        """Set the statement's immediates, in the order in which they are printed."""
        self._immediates = immediates

    def fill(self, template: str) -> str:
        """Return a template with this instruction's operands."""
        parts = template.split("<")
        if len(self._immediates) != sum(self._is_immediate(part) for part in parts[1:]):
            self._immediates = []
        self._used_immediates = 0
        out = [parts[0]]
        for part in parts[1:]:
            name, _, rest = part.partition(">")
            out.append(self._operand(name))
            out.append(rest)
        return "".join(out)

    def _is_immediate(self, part: str) -> bool:
        return part[0] not in "RK" and _KIND[self._native.op_kind(int(part[0]))] in _IMMEDIATE_BITS

    def _operand(self, name: str) -> str:
        native = self._native
        if name == "R":
            return _ROUNDING[native.rounding_control]
        if name == "K":
            return f"{{{self._name(native.op_mask)}}}"
        number, how = int(name[0]), name[1:]
        kind = _KIND[native.op_kind(number)]
        if kind in _IMMEDIATE_BITS:
            return self._immediate(number, kind, how)
        if kind == "REGISTER":
            register = native.op_register(number)
            if register in _MASKS and CODE_NAMES[native.code].startswith("EVEX_VP2INTERSECT"):
                register -= (register - _NUMBERS["K0"]) % 2  # a pair has the name of its first register
            text = self._name(_part(register, how) if how else register)
        elif kind == "MEMORY":
            text = self._memory()
        elif kind.startswith("MEMORY"):
            text = self._string(kind)
        elif kind.startswith("NEAR"):
            bits = 32 if _narrow(native) else 64
            return self.target or _number(_signed(native.near_branch_target - native.next_ip, bits), self.hexadecimal)
        elif kind.startswith("FAR"):
            offset = native.far_branch32 if kind[-2:] == "32" else native.far_branch16
            parts = [_number(value, self.hexadecimal) for value in (native.far_branch_selector, offset)]
            return ", ".join(parts if self.intel else [f"${part}" for part in parts])
        else:
            return self.target
        if number == 0 and native.has_op_mask and how != "m":
            text += f" {{{self._name(native.op_mask)}}}" + " {z}" * native.zeroing_masking
        return text

    def _name(self, number: int) -> str:
        return _register(number) if self.intel else "%" + _register(number)

    def _immediate(self, number: int, kind: str, how: str) -> str:
        encoded, whole = _IMMEDIATE_BITS[kind]
        value = _signed(self._native.immediate(number), whole)
        if self._immediates:
            written = self._immediates[self._used_immediates]
            self._used_immediates += 1
            constant = evaluate(written)
            if constant is not None:
                if (constant - value) & ((1 << encoded) - 1) == 0:
                    value, how = constant, how.replace("U", "")
            elif self.resolved or _symbolic(written, value):
                text = shown(written)
                return f"offset {text}" if self.intel else "$" + text
        if how == "u":
            value &= (1 << encoded) - 1
        elif how == "U":
            value &= (1 << whole) - 1
        text = _number(value, self.hexadecimal)
        return text if self.intel else "$" + text

    def _segment(self) -> str:
        segment = self._native.segment_prefix
        return "" if segment == _NONE or _notrack(self._native) else self._name(segment) + ":"

    def _string(self, kind: str) -> str:
        name = kind.rpartition("_")[2]
        explicit = name.startswith("ES") and name[2:] in _STRING_REGISTERS and kind.startswith("MEMORY_ES")
        register = _STRING_REGISTERS[name[2:] if explicit else name]
        segment = ("es:" if self.intel else "%es:") if explicit else self._segment()
        return f"{segment}[{register}]" if self.intel else f"{segment}(%{register})"

    def _memory(self) -> str:
        native = self._native
        base, index = native.memory_base, native.memory_index
        relative = base in (_RIP, _EIP)
        value = native.memory_displacement - (native.next_ip if relative else 0)
        # iced-x86 has the displacement of a 32-bit address without a sign.
        value = _signed(value, 32 if _short_address(native) or base == _EIP else 64)
        constant: int | None = value
        text = ""
        if self.displacement is not None and (relative or self.resolved or _symbolic(self.displacement, value)):
            constant, text = None, shown(self.displacement)
        indexed = self._name(index) if index != _NONE else ("" if self.intel else "%") * bool(self.riz) + self.riz
        scale = native.memory_index_scale
        return (self._intel_memory if self.intel else self._att_memory)(base, indexed, scale, constant, text)

    def _att_memory(self, base: int, index: str, scale: int, constant: int | None, text: str) -> str:
        if constant is not None and (constant or (base == _NONE and not index)):
            text = _number(constant, self.hexadecimal)
        if base != _NONE or index:
            text += "(" + (self._name(base) if base != _NONE else "")
            if index:
                text += f",{index}" + (f",{scale}" if scale != 1 else "")
            text += ")"
        return self._segment() + text

    def _intel_memory(self, base: int, index: str, scale: int, constant: int | None, text: str) -> str:
        terms = self._name(base) if base != _NONE else ""
        if index:
            terms += " + " * bool(terms) + (f"{scale}*" if scale != 1 or base == _NONE else "") + index
        if constant is None:
            terms += " + " * bool(terms) + text
        elif not terms:
            terms = _number(constant, self.hexadecimal)
        elif constant:
            terms += f" {'-' if constant < 0 else '+'} {_number(abs(constant), self.hexadecimal)}"
        return f"{self._segment()}[{terms}]"


def _symbolic(written: Expression, value: int) -> bool:
    """Return True if the linker fills in the value of an expression; False for a constant with a name.

    The field is zero until the linker fills it in. Differences of labels have two symbols.
    """
    symbols = has_symbols(written)
    return symbols > 1 or (symbols == 1 and (value == 0 or "@" in shown(written)))


# --- names and order of operands --------------------------------------------------------------------------------------

_SUFFIXES = {8: "b", 16: "w", 32: "l", 64: "q"}
_KEYWORDS = {1: "byte", 2: "word", 4: "dword", 8: "qword", 10: "tbyte", 16: "xmmword", 32: "ymmword", 64: "zmmword"}
# LLVM prints the byte immediates of all other instructions without a sign.
_SIGNED_BYTES = word_set("add or adc sbb and sub xor cmp test mov")


def _width(number: int) -> int:
    """Return the bits of a general-purpose iced-x86 register, 0 for all others."""
    register = register_of(number)
    return register.width if register.kind == "general" else 0


def usual(native: Any, intel: bool) -> str:
    """Return the template of most forms: the mnemonic and the operands.

    In AT&T syntax the mnemonic has a suffix if a general-purpose register or an integer in memory is an operand of an
    instruction without a vector prefix.
    """
    mnemonic: str = MNEMONIC_NAMES[native.mnemonic].lower()
    registers = [native.op_register(n) for n in range(native.op_count) if _KIND[native.op_kind(n)] == "REGISTER"]
    operands = [text for n in range(native.op_count) if (text := _usual_operand(native, n, mnemonic, registers, intel))]
    if native.rounding_control or native.suppress_all_exceptions:
        at = len(operands) - 1 if operands and operands[-1].endswith("u>") else len(operands)
        operands.insert(at, "<R>")
    if not intel:
        operands.reverse()
        if not any(REGISTER_NAMES[register].startswith(_VECTORS) for register in registers):
            mnemonic += _SUFFIXES.get(_integer_bits(native, registers), "")
    return mnemonic + "\t" * bool(operands) + ", ".join(operands)


_VECTORS = ("XMM", "YMM", "ZMM", "MM", "ST", "K")


def _usual_operand(native: Any, number: int, mnemonic: str, registers: list[int], intel: bool) -> str:
    """Return the usual place of an operand in a template, "" for the 1 of a shift by one."""
    kind = _KIND[native.op_kind(number)]
    if kind == "IMMEDIATE8":
        if native.immediate(number) == 1 and CODE_NAMES[native.code].endswith("_1"):
            return ""
        return f"<{number}>" if mnemonic in _SIGNED_BYTES else f"<{number}u>"
    if kind in ("IMMEDIATE16", "IMMEDIATE32"):
        return f"<{number}U>"
    text = f"<{number}>"
    if kind == "MEMORY":
        size = MemorySizeExt.size(native.memory_size)
        if intel and size in _KEYWORDS:
            text = f"{_KEYWORDS[size]} ptr {text}"
        if native.is_broadcast:
            widths = {"X": 128, "Y": 256, "Z": 512}
            names = [REGISTER_NAMES[register] for register in registers]
            widest = max([widths[name[0]] for name in names if name[1:3] == "MM" and name[0] in widths], default=0)
            text += f"{{1to{widest // (8 * size) if size else 0}}}"
    return text


def _integer_bits(native: Any, registers: list[int]) -> int:
    """Return the width of a first operand in memory, else of the first general-purpose register; 0 for neither."""
    memory = native.op_count > 0 and _KIND[native.op_kind(0)] == "MEMORY"
    bits = 8 * int(MemorySizeExt.size(native.memory_size)) if memory else 0
    return bits or next((width for register in registers if (width := _width(register))), 0)


_FORMS = KeyedText("llvm/forms.txt", "|")


def _special(key: str, intel: bool) -> str:
    """Return the template of a form for which LLVM does not print the usual one, "" for all others."""
    templates = _FORMS.get(key)
    return templates.replace("~", "\t").split("|")[intel] if templates else ""


def template_key(native: Any) -> str:
    """Return the key of an iced-x86 instruction in forms.txt: its form, with * for a broadcast, + for {sae}."""
    name: str = CODE_NAMES[native.code]
    memory = name != "XLAT_M8" and any(_KIND[native.op_kind(n)] == "MEMORY" for n in range(native.op_count))
    extra = "*" if native.is_broadcast else "+" if native.rounding_control or native.suppress_all_exceptions else ""
    return name + ("/m" if memory else "/r") + extra


_TEMPLATES: dict[tuple[int, ...], str] = {}
"""Templates by the properties that choose them, except for conditions: not many more than there are forms."""


def _template(native: Any, intel: bool) -> str:
    place = (
        *(intel, native.code, native.op0_kind, native.op1_kind, native.op2_kind, native.op3_kind),
        *(native.is_broadcast, native.rounding_control, native.suppress_all_exceptions, native.code_size),
    )
    template = _TEMPLATES.get(place, "")
    if not template:
        key = template_key(native)
        narrow = _special(f"32:{key}", intel) if _narrow(native) else ""
        template = _TEMPLATES[place] = narrow or _special(key, intel) or usual(native, intel)
    if template[:3] in ("aad", "aam") and native.immediate8 == 10:
        return template[:3]  # LLVM leaves out base 10
    if "cmp" in template[:5] or template.startswith("vpcom"):
        return _with_condition(template, native, intel)
    return template


# The conditions of floating-point comparisons, of integer comparisons (AVX-512) and of XOP's comparisons.
_CONDITIONS = words(
    "eq lt le unord neq nlt nle ord eq_uq nge ngt false neq_oq ge gt true eq_os lt_oq le_oq unord_s neq_us nlt_uq"
    " nle_uq ord_s eq_us nge_uq ngt_uq false_os neq_os ge_oq gt_oq true_us"
)
_INTEGER_CONDITIONS = {0: "eq", 1: "lt", 2: "le", 4: "neq", 5: "nlt", 6: "nle"}
_XOP_CONDITIONS = dict(enumerate(words("lt le gt ge eq neq false true")))
_FLOATING = words("ps pd ss sd ph sh pbf16")
_INTEGERS = words("b w d q ub uw ud uq")


def _with_condition(template: str, native: Any, intel: bool) -> str:
    """Return a comparison's template with the condition in its mnemonic, if it has a name, instead of an immediate."""
    mnemonic, _, operands = template.partition("\t")
    last = native.op_count - 1
    if _KIND[native.op_kind(last)] != "IMMEDIATE8":
        return template
    value = native.immediate(last) & 255
    names: dict[int, str]
    for stem, endings, names in (
        ("cmp", _FLOATING, dict(enumerate(_CONDITIONS[:8]))),
        ("vcmp", _FLOATING, dict(enumerate(_CONDITIONS))),
        ("vpcmp", _INTEGERS, _INTEGER_CONDITIONS),
        ("vpcom", _INTEGERS, _XOP_CONDITIONS),
    ):
        ending = mnemonic.removeprefix(stem)
        if ending != mnemonic and ending in endings:
            if value not in names:
                return template
            place = f", <{last}u>" if intel else f"<{last}u>, "
            return f"{stem}{names[value]}{ending}\t{operands.replace(place, '')}"
    return template


# --- prefixes ---------------------------------------------------------------------------------------------------------

_INDIRECT = frozenset(("JMP_RM64", "JMP_RM32", "JMP_RM16", "CALL_RM64", "CALL_RM32", "CALL_RM16"))


def _notrack(native: Any) -> bool:
    return native.segment_prefix == _DS and CODE_NAMES[native.code] in _INDIRECT


def _narrow(native: Any) -> bool:
    """Return True for an instruction of 32-bit mode."""
    return bool(native.code_size == CODE32)


def _short_address(native: Any) -> bool:
    """Return True if the address of the operand in memory has 32 bits."""
    for register in (native.memory_base, native.memory_index):
        if register != _NONE and register_of(register).kind == "general":
            return register_of(register).width == 32
    return bool(native.memory_displ_size == 4 and native.memory_base == native.memory_index == _NONE)


# The rep prefix of these is a part of the mnemonic.
_REPEATED = ("XCRYPT", "XSHA", "XSTORE", "MONTMUL", "CCS_", "VIA_")


def _with_prefixes(text: str, native: Any, braces: str = "") -> str:
    """Return an instruction's text after its prefixes. `braces`: the prefixes that choose an encoding."""
    prefixes = ""
    if native.has_xacquire_prefix or native.has_xrelease_prefix:
        # LLVM reads these as statements of their own.
        prefixes = "xacquire " if native.has_xacquire_prefix else "xrelease "
    if native.has_lock_prefix:
        prefixes += "lock\t\t"
    if _notrack(native):
        prefixes += "notrack\t\t"
    repeated = native.has_repne_prefix or native.has_rep_prefix
    if repeated and prefixes[:1] != "x" and not CODE_NAMES[native.code].startswith(_REPEATED):
        prefixes += "repne\t\t" if native.has_repne_prefix else "rep\t\t"
    if braces and not text.startswith(braces):
        text = f"{braces}\t{text}"
    if native.memory_displ_size == 4 and native.memory_base == native.memory_index == _NONE and not _narrow(native):
        # No register shows that the address has 32 bits.
        first, tab, rest = text.partition("\t")
        text = f"{first}{tab}addr32\t\t{rest}" if first[:1] == "{" else f"addr32\t\t{text}"
    return prefixes + text


# --- printing ---------------------------------------------------------------------------------------------------------

_PRINTED: tuple[dict[bytes, str], ...] = ({}, {}, {}, {})
"""The texts of encodings whose statements hold no more than they do.

In AT&T syntax, in Intel's, then both with hexadecimal numbers.
"""

_WRITTEN: dict[tuple[bytes, str, str, bool, bool, bool | None], str] = {}
"""The texts of statements with their encodings, if no name in the whole text changes these, for targets of 32 bits and
others."""


def printed(
    instruction: Instruction, syntax: str = "att", hex_immediates: bool = False, names: Names | None = None
) -> str:
    """Return a decoded instruction as LLVM prints it in this syntax, with a tab after its mnemonic.

    Args:
        instruction: the instruction, whose `text` provides symbols and constants as they are written if it is a
            statement of either syntax, and not the call of a macro.
        syntax: "att" or "intel".
        hex_immediates: print numbers in hexadecimal.
        names: the names in the whole text that LLVM replaces.
    """
    intel = syntax == "intel"
    if names is not None and names.any:
        return _printed(instruction, intel, hex_immediates, names)
    target = None if names is None else names.narrow_target
    key = instruction.encoding, instruction.text, instruction.target, intel, hex_immediates, target
    text = _WRITTEN.get(key)
    return text if text is not None else keep(_WRITTEN, key, _printed(instruction, intel, hex_immediates, names))


def _printed(instruction: Instruction, intel: bool, hex_immediates: bool, names: Names | None) -> str:
    if is_prefix(instruction):
        return instruction.mnemonic
    written = _statement(instruction, names)
    plain = not written.says_more and instruction.encoding[0] != 0xC4  # LLVM may exchange its sources
    printed_encodings = _PRINTED[intel + 2 * hex_immediates]
    if plain and (text := printed_encodings.get(instruction.encoding)):
        return text
    if written.mnemonic == "nop" and instruction.mnemonic == "pause":
        return "rep\t\tnop"
    native = _widened(instruction)[0] if written.wide else native_of(instruction)
    if names is not None and (shorter := _commuted(instruction.encoding, native, written)):
        native = Decoder(64, shorter).decode()
    printer = _Printer(native, intel, hex_immediates)
    printer.displacement = written.displacement
    printer.riz = written.riz
    printer.resolved = names is not None
    printer.take_immediates(list(written.immediates))
    branch = native.op_count > 0 and "BRANCH" in _KIND[native.op0_kind]
    if branch:
        printer.target = instruction.target
        if written.target is not None:
            value = evaluate(written.target)
            printer.target = shown(written.target) if value is None else _number(value, hex_immediates)
    template = _template(native, intel)
    if template.startswith("calll\t<") and names is not None and not names.narrow_target:
        template = f"callq{template[5:]}"  # LLVM's call for a 64-bit target, also after .code32
    if written.mnemonic[:4] == "xchg":
        template = _exchange(template, native, written, intel)
    text = _with_prefixes(printer.fill(template), native, written.braces)
    if written.mnemonic in _SCANS:
        text = "rep\t\t" + text.replace(_SCANS[written.mnemonic], written.mnemonic, 1)
    elif text[:4] == "retq" and 0x66 in instruction.encoding[:-1].partition(b"\xc2")[0]:
        text = "retw" + text[4:]
    if plain and not branch:
        keep(printed_encodings, instruction.encoding, text)
    return text


# The instructions whose two sources LLVM exchanges for a shorter VEX prefix: they commute in its descriptions.
_COMMUTE = words(
    "VADDPD VADDPS VANDPD VANDPS VCMPPD VCMPPS VMULPD VMULPS VORPD VORPS VPADDB VPADDD VPADDQ VPADDSB VPADDSW VPADDUSB"
    " VPADDUSW VPADDW VPAND VPAVGB VPAVGW VPCMPEQB VPCMPEQD VPCMPEQW VPMADDWD VPMAXSW VPMAXUB VPMINSW VPMINUB VPMULHUW"
    " VPMULHW VPMULLW VPMULUDQ VPOR VPSADBW VPXOR VXORPD VXORPS"
)


def _commuted(code: bytes, native: Any, written: TextOnlyParts) -> bytes:
    """Return an instruction with its sources exchanged, b"" if LLVM's assembler does not exchange them.

    It does if only the second source, a register, needs the longer VEX prefix.
    """
    if code[0] != 0xC4 or code[1] & 0x3F != 1 or code[2] & 0xC0 != 0x40 or code[4] < 0xC0 or "vex3" in written.braces:
        return b""
    name = CODE_NAMES[native.code].split("_")[1]
    if name not in _COMMUTE or (name[:4] == "VCMP" and code[5] & 7 not in (0, 3, 4, 7)):
        return b""
    first, second = ~code[2] >> 3 & 15, code[4] & 7 | 8
    prefix = code[1] & 0x80 | (~second & 15) << 3 | code[2] & 7
    return bytes((0xC5, prefix, code[3], code[4] & 0xF8 | first)) + code[5:]


# Compilers write `rep bsf` and `rep bsr` for any core. The decoder reads other instructions, LLVM prints these.
_SCANS = {"bsf": "tzcnt", "bsr": "lzcnt"}


def is_prefix(instruction: Instruction) -> bool:
    """Return True for a prefix in a statement of its own (see `decode.prefix_alone`)."""
    return instruction.length == 1 and instruction.encoding[0] != 0x90 and instruction.form == "NOPD/r"


def _statement(instruction: Instruction, names: Names | None) -> TextOnlyParts:
    """Return the statement of an instruction with the names replaced that LLVM replaces."""
    written = read_statement(instruction.text)
    if names is None or not written.says_more:
        return written

    def replaced(expression: Expression | None) -> Expression | None:
        return None if expression is None else names.replaced(expression, instruction.line)

    return replace(
        written,
        displacement=replaced(written.displacement),
        immediates=tuple([names.replaced(each, instruction.line) for each in written.immediates]),
        target=replaced(written.target),
    )


def _exchange(template: str, native: Any, written: TextOnlyParts, intel: bool) -> str:
    """Return the template of an exchange of two registers in the statement's order, which the bytes do not tell.

    The decoder takes the exchange of %ax with itself for a no-operation.
    """
    if native.op_count == 0:
        if _narrow(native) and native.len == 1:
            return "xchg\teax, eax" if intel else "xchgl\t%eax, %eax"
        return "xchg\tax, ax" if intel else "xchgw\t%ax, %ax"
    if _exchanges(native):
        # LLVM has the operands in the statement's order in AT&T syntax, and in reverse in Intel's.
        order = (0, 1) if _first_in_front(native, written) != written.intel else (1, 0)
        mnemonic = template.partition("\t")[0]
        return "{}\t<{}>, <{}>".format(mnemonic, *(order if not intel else order[::-1]))
    return template


def _widened(instruction: Instruction) -> tuple[Any, bytes]:
    """Return an instruction with 64-bit operands, decoded and in bytes."""
    code = bytearray(instruction.encoding)
    if code[0] & 0xF0 == 0x40:
        code[0] |= 8
    else:
        code.insert(0, 0x48)
    return Decoder(64, bytes(code)).decode(), bytes(code)


def _exchanges(native: Any) -> bool:
    """Return True for an exchange of two registers that a ModRM byte names."""
    name: str = CODE_NAMES[native.code]
    return name.startswith("XCHG_RM") and bool(native.op_kind(0) == native.op_kind(1))


def _first_in_front(native: Any, written: TextOnlyParts) -> bool:
    """Return True if the statement of an exchange begins with the first register of the machine code."""
    return written.first_register == _register(native.op_register(0))


def _exchanged(code: bytes) -> bytes:
    """Return an exchange of two registers with their places in the ModRM byte swapped."""
    *prefixes, opcode, bits = code
    if prefixes and prefixes[-1] & 0xF0 == 0x40:
        rex = prefixes[-1]
        prefixes[-1] = rex & 0x4A | (rex & 1) << 2 | rex >> 2 & 1
    return bytes((*prefixes, opcode, 0xC0 | (bits & 7) << 3 | bits >> 3 & 7))


_SHORT_SUM = rb"(?s)(\x66?[\x48-\x4f]?)([\x05\x0d\x15\x1d\x25\x2d\x35\x3d])"

# LLVM's order of prefixes of string instructions; elsewhere it has GNU as's order.
_PREFIX_ORDER = {0xF3: 0, 0xF2: 0, 0x67: 1, 0x26: 2, 0x2E: 2, 0x36: 2, 0x3E: 2, 0x64: 2, 0x65: 2, 0x66: 3}


def _ordered(code: bytes) -> bytes:
    """Return an instruction with its prefixes in LLVM's order."""
    end = next(at for at, byte in enumerate(code) if byte not in _PREFIX_ORDER)
    return bytes(sorted(code[:end], key=lambda byte: _PREFIX_ORDER.get(int(byte), 0))) + code[end:]


_LONG_JUMP = rb"(?s)([\x2e\x3e\x66\xf2]*)(?:\xeb|([\x70-\x7f])).$"


def encoding(instruction: Instruction, names: Names | None = None) -> bytes:
    """Return the bytes that LLVM's assembler makes of a statement before it knows where symbols are."""
    code = instruction.encoding
    if is_prefix(instruction):
        return code
    if code[0] in _PREFIX_ORDER and code[1] in _PREFIX_ORDER and native_of(instruction).is_string_instruction:
        code = _ordered(code)
    written = _statement(instruction, names)
    if code[0] == 0xC4 and names is not None and (shorter := _commuted(code, native_of(instruction), written)):
        return shorter
    if not written.says_more:
        return code
    if written.mnemonic in _SCANS:
        code = _ordered(code)
    if written.wide:
        return _widened(instruction)[1]
    native = native_of(instruction)
    if written.mnemonic and _exchanges(native) and _first_in_front(native, written) == written.intel:
        return _exchanged(code)
    if written.target is not None and has_symbols(written.target) and (match := re.match(_LONG_JUMP, code)):
        condition = match[2]
        return match[1] + (bytes((0x0F, condition[0] + 0x10)) if condition else b"\xe9") + bytes(4)
    return _without_symbols(code, native, written)


def _without_symbols(code: bytes, native: Any, written: TextOnlyParts) -> bytes:
    """Return an instruction with zeros in the fields that symbols will fill."""
    constants = constant_offsets(code)
    fields: list[tuple[int, int]] = []
    if written.target is not None and has_symbols(written.target):
        fields.append((constants.immediate_offset, constants.immediate_size))
    displacement = written.displacement
    relative = native.is_ip_rel_memory_operand
    if displacement is not None and (relative or _symbolic(displacement, _signed(native.memory_displacement, 64))):
        fields.append((constants.displacement_offset, constants.displacement_size))
    symbols = [has_symbols(each) for each in written.immediates]
    if any(symbols) and constants.immediate_size > 1 and (match := re.match(_SHORT_SUM, code)):
        # LLVM does not know how large the number is, and so does not choose the encoding that only %eax has.
        code = match[1] + bytes((0x81, 0xC0 | (match[2][0] >> 3) << 3)) + code[match.end() :]
        constants = constant_offsets(code)
    if any(count > 1 for count in symbols):
        fields.append((constants.immediate_offset, constants.immediate_size))
    for offset, size in fields:
        code = code[:offset] + bytes(size) + code[offset + size :]
    return code


def fill(native: Any, template: str, intel: bool) -> str:
    """Return a template with the operands of an iced-x86 instruction."""
    return _Printer(native, intel, False).fill(template)
