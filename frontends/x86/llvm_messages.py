"""How LLVM's assembler reads a text, and what it says of it, with its columns: for the face of llvm-mca, where
something was refused, or is written so that assemblers read it in ways of their own.

LLVM, as llvmlite has it, ends the process with the first wrong statement. So a child is forked for each: it ends, and
the statement is blanked for the next one.
"""

from __future__ import annotations

import os
import re

import msgspec
from msgspec.structs import replace

from incc.frontends.x86.assembler import ALONE, LimitError, processor_seconds
from incc.frontends.x86.classify import words

MOST = 100
"""Messages of one text; each takes another run over it."""

_BYTES = 1 << 30

_HEAD = r"(?:\x1b\[[\d;]*m)*(error|warning): (.*?):(\d+):(\d+): (.*)\n(?:(.*)\n( *\^~*)?(?:\n|\Z))?"
_INLINE, _INSTANCE = "<inline asm>", "<instantiation>"
_LINE_MARKER = r'#[ \t]+(\d+)[ \t]+"([^"]*)"'
# Of the object, which llvm-mca does not write.
_OF_OBJECT = r"expected relocatable expression$|symbol '.*' can not be undefined in a subtraction expression$"
_FRAME = "Unfinished frame!"
_NO_CHARACTER = "invalid character in input"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What LLVM says: where, 1-based, what, and the lines that show it: source and caret. `kind`: error or warning.
    `name`: of the file, "" for the one that was given; `named_line`: the line in it. `before` and `after` are lines of
    their own that tell how the place was come to."""

    line: int
    column: int
    text: str
    shown: tuple[str, ...]
    kind: str = "error"
    name: str = ""
    named_line: int = 0
    before: str = ""
    after: str = ""


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line that LLVM is given, and where it comes from; `line`: that of the text which led to it. `whole`: the line
    with the statements that were taken out."""

    text: str
    line: int
    name: str = ""
    named_line: int = 0
    before: str = ""
    after: str = ""
    whole: str = ""


TRIPLE = "x86_64-unknown-linux-gnu"

# Up to LLVM 19 the operand of a gather had the vector's size, later the element's: without any it fits all.
_GATHER_SIZE = r"(?im)^([^#\n]*\bvp?(?:gather|scatter)[^#\n]*?)\b(\w+ ptr)(?= )"


def _for_any_llvm(text: str) -> str:
    if "gather" not in text and "scatter" not in text:
        return text
    return re.sub(_GATHER_SIZE, lambda found: found[1] + " " * len(found[2]), text)


def messages(text: str, triple: str = TRIPLE) -> list[Said]:
    """The errors and warnings in a text, in its order; none where there is no LLVM, or where it finds none. Those that
    are found in the time that the text is worth; raises LimitError if that is over before the first."""
    if not _ready():
        return []
    text = _for_any_llvm(text)
    lines = [_Line(text=line, line=number) for number, line in enumerate(text.split("\n"), 1)]
    found: list[Said] = []
    warnings: list[Said] = []
    flattened = 0
    left = float(processor_seconds(len(text)))
    while len(found) < MOST and left > 0:
        try:
            output, seconds = _asked("\n".join(line.text for line in lines), triple, False, left)
        except LimitError:
            if not found:
                raise
            break  # what is known is worth telling
        left -= seconds
        every = list(re.finditer(_HEAD, output))
        warnings = [_said(each, lines, _physical(each, lines)) for each in every if each[1] == "warning"]
        failed = next((each for each in every if each[1] == "error"), None)
        if failed is None:
            if _FRAME in output:  # said of the end, without a place
                last = lines[-1].text.expandtabs(8)
                end = len(lines[-1].text) + 1
                found.append(Said(line=len(lines), column=end, text=_FRAME, shown=(last, " " * len(last) + "^")))
            break
        if failed[2] == _INSTANCE or _physical(failed, lines) < 0:
            flattened += 1
            if flattened <= MOST and _flatten(lines, failed[2]):
                continue
            shown = tuple(x for x in (failed[6], failed[7]) if x is not None)
            where = Said(
                line=len(lines),
                column=int(failed[4]),
                text=failed[5],
                shown=shown,
                kind=failed[1],
                name=failed[2],
                named_line=int(failed[3]),
            )
            found.append(where)
            break
        at = _physical(failed, lines)
        said = _said(failed, lines, at)
        if 0 <= at < len(lines) and lines[at].text.strip() and re.match(_OF_OBJECT, failed[5]):
            lines[at] = replace(lines[at], text="")
            continue
        found.append(said)
        if failed[5] == _NO_CHARACTER and not lines[at].text[: said.column - 1].strip():
            found.append(replace(said, text="unexpected token at start of statement"))
        if failed[5] == "unterminated comment" and not lines[at].text[: said.column - 1].strip():
            found.append(replace(said, text="unexpected token at start of statement"))
        if failed[5] == "invalid register name" and lines[at].text[: said.column - 1].endswith("{"):
            shown = tuple(" " * (len(each) - len(each.lstrip())) + " ^" if "^" in each else each for each in said.shown)
            mask = replace(said, column=said.column + 1, shown=shown)
            found.append(replace(mask, text="Expected an op-mask register at this point"))
        if at >= len(lines) or not lines[at].text.strip(" \t") or failed[5].startswith("no matching '.end"):
            break
        if not _blank_statement(lines, at, said.column - 1):
            _blank(lines, at, failed[5])
    return sorted(found + warnings, key=lambda each: each.line)


def _blank_statement(lines: list[_Line], at: int, place: int) -> bool:
    """Take the statement at this place out of a line of several, behind which LLVM goes on; whether there is more to
    be read in the line, and that can be told."""
    text = lines[at].text
    code = text.partition("#")[0]
    end = code.find(";", place)
    if end < 0 or any(sign in code for sign in ('"', "'", "/*", "//")):
        return False
    if re.match(r"[ \t]*\.(if|el|rep|irp|mac)", code):
        return False
    start = code.rfind(";", 0, place) + 1
    labels = re.compile(r"(?:[ \t]*[\w.$]+:)+").match(text, start)
    if labels and labels.end() <= place:  # they are read before
        start = labels.end()
    if not text[start:end].strip():
        return False
    blanks = re.sub(r"[^\t]", " ", text[start:end])  # columns stay
    whole = lines[at].whole or text
    lines[at] = replace(lines[at], text=text[:start] + blanks + text[end:], whole=whole)
    return True


def _blank(lines: list[_Line], at: int, said: str) -> None:
    """Take a wrong line out, and what LLVM leaves out with it; what it does all the same stays."""
    text = lines[at].text
    instead = "\t.intel_syntax noprefix" if "'.intel_syntax prefix'" in said else ""
    if re.match(r"[ \t]*\.if", text):  # what follows is read, and there is an end to come
        instead = "\t.if 1"
    lines[at] = replace(lines[at], text=instead)
    if text.count('"') % 2:  # a string goes on until the next quote
        for after in range(at + 1, len(lines)):
            closed = '"' in lines[after].text
            lines[after] = replace(lines[after], text="")
            if closed:
                break


def _physical(found: re.Match[str], lines: list[_Line]) -> int:
    """The index of the line that a message is of, -1 for one that is not in the text itself."""
    if found[2] == _INLINE:
        return int(found[3]) - 1
    for at in range(len(lines) - 1, -1, -1):
        marker = re.match(_LINE_MARKER, lines[at].text)
        if marker and marker[2] == found[2] and int(marker[1]) <= int(found[3]):
            return at + 1 + int(found[3]) - int(marker[1])
    return -1


def _said(found: re.Match[str], lines: list[_Line], at: int) -> Said:
    shown = tuple(x for x in (found[6], found[7]) if x is not None)
    kind, column, text = found[1], int(found[4]), found[5]
    text = text.replace("requiring EVEX/REX2/REX prefix", "requiring REX prefix")
    if recursive := re.match(r"cyclic dependency detected for symbol ('.*')$", text):  # as LLVM 19 says it
        text = f"Recursive use of {recursive[1]}"
        value = re.match(r"[^,=]*[,=]+[ \t]*", lines[at].text) if 0 <= at < len(lines) else None
        if value and len(shown) > 1:
            column = value.end() + 1
            shown = (shown[0], " " * len(value[0].expandtabs(8)) + "^")
    if not 0 <= at < len(lines):
        return Said(line=len(lines), column=column, text=text, shown=shown, kind=kind)  # the end
    line = lines[at]
    if line.whole and shown:
        shown = (line.whole.expandtabs(8), *shown[1:])
    if found[2] != _INLINE:
        return Said(
            line=line.line, column=column, text=text, shown=shown, kind=kind, name=found[2], named_line=int(found[3])
        )
    return Said(
        line=line.line,
        column=column,
        text=text,
        shown=shown,
        kind=kind,
        name=line.name,
        named_line=line.named_line,
        before=line.before,
        after=line.after,
    )


# --- what is repeated, and what is included ---------------------------------------------------------------------------

_REPEATED = r"[ \t]*\.rept?[ \t]+(\d+)[ \t]*$"
_MOST_LINES = 10000


def _flatten(lines: list[_Line], name: str) -> bool:
    """Put what an error is in, which LLVM does not tell the place of, in place of what led to it: the first file that
    is included, or a repetition. Whether there was any."""
    for at, line in enumerate(lines):
        if name != _INSTANCE:
            included = re.match(r'[ \t]*\.include[ \t]+"([^"\n]*)"[ \t]*$', line.text)
            if not included or included[1] != name:
                continue
            try:
                if not os.path.isfile(name):  # a pipe has been read, if it could be
                    return False
                with open(name, encoding="utf-8", errors="surrogateescape") as file:
                    inner = file.read(1 << 22).split("\n")
            except OSError:
                return False
            before = f"{line.before}Included from {line.name or SELF}:{line.named_line or line.line}:\n"
            lines[at : at + 1] = [
                _Line(text=each, line=line.line, name=name, named_line=n, before=before)
                for n, each in enumerate(inner, 1)
            ]
            return True
        body = _repetition(lines, at) or _called(lines, at)
        if body is None:
            continue
        written, end = body
        shown = line.text.expandtabs(8)
        column = len(line.text) - len(line.text.lstrip()) + 1
        caret = " " * len(line.text[: column - 1].expandtabs(8)) + "^"
        where = f"{line.name or SELF}:{line.named_line or line.line}:{column}"
        after = f"{where}: note: while in macro instantiation\n{shown}\n{caret}\n{line.after}"
        if not written or len(written) > _MOST_LINES:
            return False
        written[0] = written[0].lstrip()  # as LLVM does it
        lines[at:end] = [
            _Line(text=each, line=line.line, name=_INSTANCE, named_line=n, before=line.before, after=after)
            for n, each in enumerate(written, 1)
        ]
        return True
    return False


SELF = "\0"
"""Stands for the name of the text in what leads to a place."""


def _repetition(lines: list[_Line], at: int) -> tuple[list[str], int] | None:
    """What a `.rept` that begins there writes, and the index behind its end."""
    found = re.match(_REPEATED, lines[at].text)
    if not found:
        return None
    depth = 0
    for end in range(at, len(lines)):
        word = lines[end].text.split(None, 1)[:1]
        depth += word in ([".rept"], [".rep"], [".irp"], [".irpc"])
        depth -= word == [".endr"]
        if not depth:
            count = min(int(found[1]), _MOST_LINES)
            return [line.text for line in lines[at + 1 : end]] * count, end + 1
    return None


def _called(lines: list[_Line], at: int) -> tuple[list[str], int] | None:
    """What a macro that is called there writes, and the index behind the call: of macros with plain parameters."""
    called = lines[at].text.split(None, 1)
    if not called or called[0].startswith("."):
        return None
    start = next(
        (n for n in range(at - 1, -1, -1) if lines[n].text.replace(",", " ").split()[:2] == [".macro", called[0]]), -1
    )
    if start < 0:
        return None
    body: list[str] = []
    for line in lines[start + 1 : at]:
        if line.text.split()[:1] in ([".endm"], [".endmacro"]):
            break
        body.append(line.text)
    parameters = lines[start].text.replace(",", " ").split()[2:]
    given = [each.strip() for each in called[1].split(",")] if len(called) > 1 else []
    values: dict[str, str] = {}
    for parameter in parameters:
        name, _, default = parameter.partition("=")
        values[name.partition(":")[0]] = default
    order = list(values)
    for place, value in enumerate(given):
        named, equals, rest = value.partition("=")
        if equals and named.strip() in values:
            values[named.strip()] = rest.strip()
        elif place < len(order):
            values[order[place]] = value
    pattern = r"\\(\w+)(?:\\\(\))?"
    return [re.sub(pattern, lambda m: values.get(m[1], m[0]), line) for line in body], at + 1


# --- what LLVM reads --------------------------------------------------------------------------------------------------

# Directives that compilers write, which GNU as and LLVM read alike, or that are nothing for an analysis.
_ORDINARY = words(
    """addrsig addrsig_sym align ascii asciz att_syntax balign bss build_version byte cg_profile comm data double end
    endef equ file float globl global hidden ident indirect_symbol int intel_syntax internal ifunc lcomm local loc long
    macosx_version_min note octa p2align pad popsection previous private_extern protected pushsection quad rodata scl
    section set short single size skip sleb128 space string subsections_via_symbols symver text type uleb128
    value version weak weak_definition word zero zerofill 2byte 4byte 8byte def secrel32 linkonce"""
)
_ORDINARY_PREFIXES = ("cfi_", "cv_", "L")
# Of these LLVM knows those of the target's own object format; GNU as, on Linux, has nothing against any.
_OF_FORMAT = {
    "coff": words("def endef linkonce scl secrel32"),
    "macho": words("build_version indirect_symbol macosx_version_min subsections_via_symbols zerofill"),
    "elf": words("hidden internal local protected rodata size symver type version weak"),
}
# Prefixes that are statements of their own for LLVM whatever follows, and all of them.
_OWN = words("addr32 addr16 data16 data32 cs ds es fs gs ss rex rex64 rex.w rex.r rex.x rex.b xacquire xrelease")
_BRACES = words("{vex} {vex2} {vex3} {evex} {disp8} {disp32} {rex} {rex2}")
_PREFIXES = _OWN | words("rep repe repz repne repnz lock bnd notrack")


def _foreign(triple: str) -> frozenset[str]:
    """The directives that are ordinary, but not for this target's object format; `seh_` stands for all such."""
    system = triple.partition("-")[2]
    own = "elf"
    if any(name in system for name in ("darwin", "macos", "ios", "macho", "watchos", "tvos")):
        own = "macho"
    elif "windows" in system or "win32" in system or "uefi" in system:
        own = "coff"
    found = frozenset().union(*(names for name, names in _OF_FORMAT.items() if name != own))
    return found if own == "coff" else found | {"seh_"}


def unusual(text: str, triple: str = "") -> bool:
    """Whether there is something in a text, for this target, that assemblers may read in ways of their own."""
    foreign = _foreign(triple)
    # Without patterns, which take longer to compile than a small file to look through.
    if any(character in text for character in "\0\x0b\x0c\x1a\ufeff"):
        return True
    if "\r" in text and "\r" in text.replace("\r\n", "\n").removesuffix("\r"):
        return True
    frame = intel = False
    ordinary: set[str] = set()
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped in ordinary:
            continue
        if stripped[:5] == ".cfi_":
            begins = stripped.startswith(".cfi_startproc")
            if begins == frame and not stripped.startswith(".cfi_sections"):
                return True  # outside of a frame, or one inside another
            frame = (frame or begins) and not stripped.startswith(".cfi_endproc")
            continue
        if stripped[:1] == "/" and stripped[1:2] not in ("/", "*"):  # a comment to GNU as alone
            return True
        if stripped[:1] == "#":
            if '"' in stripped and re.match(_LINE_MARKER, stripped):
                return True
            continue
        for piece in stripped.split(";") if ";" in stripped else (stripped,):
            if _odd_statement(piece.split(None, 1), foreign):
                return True
            if "_syntax" in piece:
                ordinary.clear()
                intel = ".intel_syntax" in piece or (intel and ".att_syntax" not in piece)
            elif intel and "%" in piece.partition("#")[0]:  # before a register, where GNU as takes it
                return True
        if "_syntax" not in stripped:
            ordinary.add(stripped)
    return frame


def _odd_statement(parts: list[str], foreign: frozenset[str]) -> bool:
    while parts and parts[0][-1] == ":":
        parts = parts[1].split(None, 1) if len(parts) > 1 else []
    if not parts:
        return False
    word, rest = parts[0], parts[1] if len(parts) > 1 else ""
    if word[0] == ".":
        name = word[1:]
        if name.endswith("_syntax"):
            return rest[:1] == ("p" if name == "intel_syntax" else "n")
        if name in foreign:
            return True
        if name[:4] == "seh_":
            return "seh_" in foreign
        ordinary = name in _ORDINARY or name.startswith(_ORDINARY_PREFIXES) or ":" in name or "=" in name
        return not ordinary and rest[:1] not in ("=", ":")
    if word[0] == "{":
        return word not in _BRACES
    word = word.lower()
    if word == "bnd":  # which LLVM does not take, but on a line of its own
        return True
    if word not in _PREFIXES:
        return False
    if not rest or rest[0] in "#/" or word in _OWN:
        return True
    # Behind a prefix LLVM takes names in lower case alone, and none of those prefixes.
    follows = rest.split(None, 1)[0]
    return follows in _OWN or not follows.islower()


_PERHAPS_MASM = r"\d[\da-fA-F]*[htoqybdHTOQYBD]\b"
_MASM_NUMBER = r"(?i)(?<![\w.$@%\\])(?:(\d[0-9a-f]*)h|(\d+)[td]|([0-7]+)[oq]|([01]+)[yb])(?![\w.$@])"


def with_plain_numbers(text: str) -> str:
    """The text with numbers as MASM has them (0ffh, 1010b), which llvm-mca reads everywhere, as all assemblers write
    them, in as many columns. So `jmp 1b` is a jump to the address 1."""
    if not re.search(_PERHAPS_MASM, text):
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        code, sign, comment = line.partition("#")
        if '"' not in code and re.search(_MASM_NUMBER, code):
            lines[at] = re.sub(_MASM_NUMBER, _plain, code) + sign + comment
    return "\n".join(lines)


def _plain(found: re.Match[str]) -> str:
    if found[1] is not None:
        hexadecimal = f"0x{found[1].lstrip('0') or '0'}"
        value = hexadecimal if len(hexadecimal) <= len(found[0]) else str(int(found[1], 16))
    else:
        value = str(int(found[2] or found[3] or found[4], 10 if found[2] else 8 if found[3] else 2))
    return value.ljust(len(found[0]))


def expanded(text: str, triple: str = TRIPLE) -> str:
    """The text as LLVM has it after reading: repetitions, macros and conditions carried out, comments kept; "" where it
    refuses it, or there is no LLVM. Raises LimitError where that is too much."""
    if not _ready():
        return ""
    output, _ = _asked(_for_any_llvm(text), triple, True, processor_seconds(len(text)))
    found = output.partition(_MARK)[2]
    lone = "|".join(sorted(map(re.escape, _PREFIXES)))
    found = re.sub(rf"(?mi)^[ \t]*({lone})[ \t]*$", rf"\t{ALONE}\1", found)
    return re.sub(r'\n[ \t]*\.section[ \t]+"?\.note\.GNU-stack"?[^\n]*\n*$', "\n", found)


_MARK = "\n#--- what LLVM has read\n"


def _ready() -> bool:
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError):  # OSError: there is, but the library cannot be loaded
        return False
    for name in ("initialize_all_targets", "initialize_all_asmprinters", "initialize_native_asmparser"):
        try:
            getattr(llvm, name)()
        except (AttributeError, RuntimeError):
            continue
    return True


def _asked(text: str, triple: str, whole: bool, seconds: float) -> tuple[str, float]:
    """What LLVM says when it assembles the text; for `whole` behind a mark what it has read, too. And the seconds of
    the processor that it took, of which it has so many. Raises LimitError."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _limit(seconds)
            os.dup2(writing, 2)
            written = _assemble(text, triple, whole)
            if whole:
                with os.fdopen(writing, "w", encoding="utf-8", errors="replace") as answer:
                    answer.write(_MARK + written)
        finally:
            os._exit(0)
    os.close(writing)
    status = None
    most = _MORE * len(text) + _MOST
    try:
        with os.fdopen(reading, "rb") as answer:
            data = answer.read(most + 1)
        _, status, used = os.wait4(child, 0)
    finally:
        if status is None:
            os.kill(child, 9)
            os.waitpid(child, 0)
    found = data.decode("utf-8", "replace")
    over = ""
    if len(data) > most:
        over = f"{most >> 20} MiB of what it has read" if whole else f"{most >> 20} MiB of messages"
    elif (ended := os.waitstatus_to_exitcode(status)) in (-_SIGXCPU, -_SIGKILL):
        over = f"{_whole(seconds)} s of the processor"
    elif ended == -_SIGALRM:
        over = f"{_PATIENCE} s"
    elif ended < 0 and "out of memory" in found[-1000:]:
        over = f"{_BYTES >> 20} MiB of memory"
    if over:
        raise LimitError(f"LLVM's assembler was stopped: more than {over}")
    return found, used.ru_utime + used.ru_stime


# Bytes of what LLVM writes of a text: of `.byte 1,2` it makes a line each.
_MORE, _MOST = 16, 4 << 20

_PATIENCE = 60
"""Seconds by the clock: a pipe that is included may never have an end."""


# `signal` itself is loaded by none of the runs on what compilers write.
_SIGKILL, _SIGALRM, _SIGXCPU = 9, 14, 24


def _whole(seconds: float) -> int:
    return max(1, int(seconds + 0.999))


def _limit(seconds: float) -> None:
    """What `.fill` and `.rept` may ask for is no reason to fill the machine, nor what is included to wait for ever."""
    import resource
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGXCPU, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (_whole(seconds), _whole(seconds) + 1))
    # A process that was large before may take less, but not nothing.
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            before = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux
        before = 0
    most = max(_BYTES, before + _BYTES - _BYTES // 4)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(_PATIENCE)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


_ESCAPES = {byte: f"\\{byte:02X}" for byte in range(256) if not 32 <= byte < 127 or byte in b'"\\'}


def _assemble(text: str, triple: str, whole: bool) -> str:
    import llvmlite.binding as llvm

    escaped = text.encode("utf-8", "surrogateescape").decode("latin-1").translate(_ESCAPES)
    module = llvm.parse_assembly(f'target triple = "{triple}"\nmodule asm "{escaped}"\n')
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)
    if whole:
        return str(machine.emit_assembly(module))
    machine.emit_object(module)
    return ""
