"""LLVM's reading of an assembly text: the places of mistakes, and the text with macros and repetitions written out.

LLVM, through llvmlite, ends the process at the first mistake. So it runs in a forked child, and runs again
without the statement at fault until it finds no more.
"""

from __future__ import annotations

import os
import re
import resource
from typing import Literal

import msgspec
from msgspec.structs import replace

from incc.frontends.assembling import LimitError, processor_seconds
from incc.frontends.diagnostics import LINE_MARKER, Diagnostic, Reading
from incc.frontends.isa import word_set
from incc.frontends.x86.assembler import ALONE
from incc.support.signals import fork

TRIPLE = "x86_64-unknown-linux-gnu"

MOST = 100
"""The largest number of diagnostics of one text. Each takes another run over the text."""


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line that LLVM is given."""

    text: str
    """The rest of `source`: LLVM gets no line markers, and no statement at fault."""
    source: str
    line: int
    file: str = ""
    file_line: int = 0


_MESSAGE = r"(?m)^(?:\x1b\[[\d;]*m)*(error|warning): (?:\x1b\[[\d;]*m)*(.*?):(\d+):(\d+): (.*)\n?(.*)$"
"""A message of LLVM: the kind, the file, line, column, text, and the line that it shows."""
_TEXT_ITSELF = "<inline asm>"
_UNFINISHED_FRAME = "Unfinished frame!"
_UNDECLARED_FILE = "unassigned file number in '.loc'"


def read(text: str, triple: str = TRIPLE, trusted: bool = False) -> Reading | None:
    """Return LLVM's reading of a text, None if there is no LLVM.

    The reading ends with what LLVM finds in the time that a text of this size is given.

    Args:
        text: The assembly.
        triple: LLVM's name of the target.
        trusted: Let the text read other files.

    Raises:
        LimitError: LLVM was stopped before it found a mistake.
    """
    if not _is_available():
        return None
    lines = [
        _Line(text="" if re.match(LINE_MARKER, line) else line, source=line, line=number)
        for number, line in enumerate(_for_any_llvm(text).split("\n"), 1)
    ]
    errors: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    output = written = ""
    seconds = float(processor_seconds(len(text)))
    try:
        while len(errors) < MOST and seconds > 0:
            output, written, used = _run(_joined(lines), triple, seconds, trusted)
            seconds -= used
            messages = list(re.finditer(_MESSAGE, output))
            warnings = [_diagnostic(each, lines) for each in messages if each[1] == "warning"]
            error = next((each for each in messages if each[1] == "error"), None)
            if error is None:
                break
            if error[5].startswith(_UNDECLARED_FILE) and (without := _without_places(lines)) != lines:
                lines = without
            elif error[2] == _TEXT_ITSELF:
                errors += _diagnostics(error, lines)
                if not _blank(lines, int(error[3]) - 1, int(error[4]) - 1, error[5]):
                    break
            elif not (trusted and _include(lines, error[2])):
                start, end, used = _writing(lines, error[2], triple, seconds, trusted)
                seconds -= used
                column = re.compile(_LABELS).match(lines[start].source)
                message = f"{error[5]} in '{error[6].strip()}', which is written here"
                errors.append(_at(lines, start, column.end() + 1 if column else 1, "error", message))
                lines[start:end] = [replace(line, text="") for line in lines[start:end]]
    except LimitError:
        if not errors:
            raise
    if _UNFINISHED_FRAME in output:
        errors.append(_at(lines, len(lines) - 1, len(lines[-1].source) + 1, "error", _UNFINISHED_FRAME))
    errors += _recursive_symbols(lines)
    diagnostics = sorted(errors + warnings, key=lambda each: (each.line, each.file_line, each.column))
    return Reading(diagnostics, written, _joined(lines))


def expanded(text: str, triple: str = TRIPLE, trusted: bool = False) -> str:
    """Return the text as LLVM reads it, "" if it finds a mistake or there is no LLVM. Raises LimitError."""
    return _run(_for_any_llvm(text), triple, processor_seconds(len(text)), trusted)[1] if _is_available() else ""


# Up to LLVM 19 the operand of a gather had the vector's size, later the element's. All versions take it without any.
_GATHER_SIZE = r"(?im)^([^#\n]*\bvp?(?:gather|scatter)[^#\n]*?)\b(\w+ ptr)(?= )"


# In assembly for Windows LLVM itself has set this symbol when it begins to read a module's.
_FEATURES = r"(?m)^[ \t]*(?:\.set[ \t]+)?\"?@feat\.00\"?[ \t]*[,=][ \t]*\w+(?=[ \t]*(?:[#\r\n]|$))"


def _for_any_llvm(text: str) -> str:
    if "@feat.00" in text:
        text = re.sub(_FEATURES, lambda match: re.sub(r"[^\t]", " ", match[0]), text)
    if "gather" not in text and "scatter" not in text:
        return text
    return re.sub(_GATHER_SIZE, lambda match: match[1] + " " * len(match[2]), text)


# --- places ----------------------------------------------------------------------------------------------------------


def _joined(lines: list[_Line]) -> str:
    return "\n".join([line.text for line in lines])


def _at(lines: list[_Line], at: int, column: int, kind: Literal["error", "warning"], message: str) -> Diagnostic:
    """Return a diagnostic of the line with this index, or of the end of the text."""
    if not 0 <= at < len(lines):
        return Diagnostic(line=len(lines), column=column, kind=kind, message=message, source="")
    line = lines[at]
    file, file_line = line.file, line.file_line
    for above in range(at, -1, -1):
        if lines[above].file != line.file:
            break
        if marker := re.match(LINE_MARKER, lines[above].source):
            if number := int(marker[1]):  # 0, as gcc writes it after inline assembly, ends what the one before began
                file, file_line = marker[2], number + at - above - 1
            break
    place = Diagnostic(line=line.line, column=column, kind=kind, message=message, source=line.source)
    return replace(place, file=file, file_line=file_line)


def _diagnostic(match: re.Match[str], lines: list[_Line]) -> Diagnostic:
    kind: Literal["error", "warning"] = "error" if match[1] == "error" else "warning"
    at = int(match[3]) - 1 if match[2] == _TEXT_ITSELF else -1
    return _at(lines, at, int(match[4]), kind, match[5])


def _diagnostics(match: re.Match[str], lines: list[_Line]) -> list[Diagnostic]:
    """Return an error, and the one that LLVM finds after a wrong mask without leaving the statement."""
    error = _diagnostic(match, lines)
    if error.message == "invalid register name" and error.source[: error.column - 1].endswith("{"):
        return [error, replace(error, column=error.column + 1, message="not a mask register")]
    return [error]


_ASSIGNMENT = r"[ \t]*(?:\.(?:set|equ)[ \t]+([\w.$]+)[ \t]*,|([\w.$]+)[ \t]*=)[ \t]*(?=([^#\n]*))"


def _recursive_symbols(lines: list[_Line]) -> list[Diagnostic]:
    """Return the symbols that are defined by themselves, which LLVM finds only when it writes an object."""
    errors: list[Diagnostic] = []
    assigned: set[str] = set()
    for at, line in enumerate(lines):
        match = re.match(_ASSIGNMENT, line.text) if "=" in line.text or ".set" in line.text else None
        if match:
            name = match[1] or match[2]
            if name not in assigned and name in re.findall(r"[\w.$]+", match[3]):
                errors.append(_at(lines, at, match.end() + 1, "error", f"symbol '{name}' is defined by itself"))
            assigned.add(name)
    return errors


# --- going on after a mistake ----------------------------------------------------------------------------------------

_LABELS = r"(?:[ \t]*[\w.$]+:)*[ \t]*"


def _blank(lines: list[_Line], at: int, place: int, message: str) -> bool:
    """Take the statement at fault out of its line; False if there is nothing to take out."""
    if at >= len(lines) or not lines[at].text.strip(" \t") or message.startswith("no matching '.end"):
        return False
    text = lines[at].text
    code = text.partition("#")[0]
    instead = ""
    directive = re.match(_LABELS + r"\.(if|el|rep|irp|mac)", code)
    if directive or any(sign in code for sign in ('"', "'", "/*", "//")):
        start, end = 0, len(text)
        if directive and directive[1] == "if":  # LLVM reads the text up to the `.endif`
            instead = "\t.if 1"
    else:
        start = code.rfind(";", 0, place) + 1
        end = code.find(";", place)
        end = end if end >= 0 else len(code)
        labels = re.compile(_LABELS).match(text, start)
        if labels and labels.end() <= place:  # LLVM has defined them
            start = labels.end()
        if not text[start:end].strip():
            start, end = 0, len(text)
    if "'.intel_syntax prefix'" in message:  # an error, but the syntax changes
        instead = "\t.intel_syntax noprefix"
    blanks = re.sub(r"[^\t]", " ", text[start:end])  # the columns of the rest stay the same
    lines[at] = replace(lines[at], text=text[:start] + (instead or blanks) + text[end:])
    if text.count('"') % 2:
        _blank_string(lines, at + 1)
    return True


def _without_places(lines: list[_Line]) -> list[_Line]:
    """Return the lines without `.loc`: gcc declares files in a way, or so late, that LLVM lacks their numbers."""
    return [replace(line, text="") if line.text.lstrip().startswith(".loc") else line for line in lines]


def _blank_string(lines: list[_Line], start: int) -> None:
    """Take out the lines of a string up to the next quote."""
    for at in range(start, len(lines)):
        closed = '"' in lines[at].text
        lines[at] = replace(lines[at], text="")
        if closed:
            return


def _include(lines: list[_Line], name: str) -> bool:
    """Put an included file in place of its directive, to find all mistakes in it; False if there is no such file."""
    for at, line in enumerate(lines):
        directive = re.match(r'[ \t]*\.include[ \t]+"([^"\n]*)"[ \t]*$', line.text)
        if not directive or directive[1] != name or not os.path.isfile(name):  # LLVM has emptied a pipe
            continue
        try:
            with open(name, encoding="utf-8", errors="surrogateescape") as file:
                text = file.read(1 << 22)
        except OSError:
            return False
        lines[at : at + 1] = [
            _Line(text=each, source=each, line=line.line, file=name, file_line=number)
            for number, each in enumerate(text.split("\n"), 1)
        ]
        return True
    return False


def _writing(lines: list[_Line], name: str, triple: str, seconds: float, trusted: bool) -> tuple[int, int, float]:
    """Find the repetition or macro call that produces a mistake whose place LLVM does not report.

    Returns the index of its first line, the index after its last line, and the seconds of the processor that LLVM took.
    """
    low, high = 0, len(lines)  # the first mistake of lines[:low] is another one, or none; that of lines[:high] is this
    left = seconds
    while high - low > 1 and left > 0:
        middle = (low + high) // 2
        output, _, used = _run(_joined(lines[:middle]), triple, left, trusted)
        left -= used
        error = next((each for each in re.finditer(_MESSAGE, output) if each[1] == "error"), None)
        low, high = (low, middle) if error is not None and error[2] == name else (middle, high)
    depth = 0
    for start in range(high - 1, -1, -1):
        word = lines[start].text.split(None, 1)[:1]
        depth += (word == [".endr"]) - (word in ([".rept"], [".rep"], [".irp"], [".irpc"]))
        if depth <= 0:
            return start, high, seconds - left
    return high - 1, high, seconds - left


# --- running LLVM ----------------------------------------------------------------------------------------------------

_WRITTEN = "\n#--- written by LLVM\n"
_BYTES = 1 << 30
# The bytes that LLVM may write, for each one of the text and in addition: each number of `.byte 1,2` becomes a line.
_MORE, _MOST = 16, 4 << 20
_PATIENCE = 60
"""Seconds by the clock that a run may take: a pipe that is included may never end."""
_SIGKILL, _SIGALRM, _SIGXCPU = 9, 14, 24  # `signal` would be imported by every run


def _is_available() -> bool:
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError):  # OSError: the library cannot be loaded
        return False
    for name in ("initialize_all_targets", "initialize_all_asmprinters", "initialize_native_asmparser"):
        try:
            getattr(llvm, name)()
        except (AttributeError, RuntimeError):
            continue
    return True


def _run(text: str, triple: str, seconds: float, trusted: bool) -> tuple[str, str, float]:
    """Let LLVM read a text in a child with this much time, which opens no files unless the text is trusted.

    Returns its messages, the text that it writes ("" after a mistake), and the seconds of the processor that it took.
    Raises LimitError.
    """
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        try:
            os.close(reading)
            _limit(seconds)
            os.dup2(writing, 2)
            if not trusted:
                resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
            written = _assemble(text, triple)
            with os.fdopen(writing, "w", encoding="utf-8", errors="replace") as answer:
                answer.write(_WRITTEN + written)
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
    messages, _, written = data.decode("utf-8", "replace").partition(_WRITTEN)
    signal = -os.waitstatus_to_exitcode(status)
    over = ""
    if len(data) > most:
        over = f"{most >> 20} MiB of output"
    elif signal in (_SIGXCPU, _SIGKILL):
        over = f"{_rounded_up(seconds)} s of the processor"
    elif signal == _SIGALRM:
        over = f"{_PATIENCE} s"
    elif signal > 0 and "out of memory" in messages[-1000:]:
        over = f"{_BYTES >> 20} MiB of memory"
    if over:
        raise LimitError(f"LLVM's assembler was stopped: more than {over}")
    return messages, _without_additions(written), used.ru_utime + used.ru_stime


def _rounded_up(seconds: float) -> int:
    return max(1, int(seconds + 0.999))


def _limit(seconds: float) -> None:
    """Limit this process: `.fill` and `.rept` may ask for any memory and time, and an included pipe may never end."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGXCPU, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (_rounded_up(seconds), _rounded_up(seconds) + 1))
    # A process that was large before the fork gets less in addition, but always something.
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


def _assemble(text: str, triple: str) -> str:
    import llvmlite.binding as llvm

    escaped = text.encode("utf-8", "surrogateescape").decode("latin-1").translate(_ESCAPES)
    module = llvm.parse_assembly(f'target triple = "{triple}"\nmodule asm "{escaped}"\n')
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)
    # As for llvm-mca, no object is written: LLVM refuses some symbols only in objects.
    return str(machine.emit_assembly(module))


def _without_additions(written: str) -> str:
    """Mark the prefixes that LLVM writes as statements of their own, and leave out the section that it adds."""
    lone = "|".join(sorted(map(re.escape, _PREFIXES)))
    written = re.sub(rf"(?mi)^[ \t]*({lone})[ \t]*$", rf"\t{ALONE}\1", written)
    return re.sub(r'\n[ \t]*\.section[ \t]+"?\.note\.GNU-stack"?[^\n]*\n*$', "\n", written)


# --- texts that assemblers read differently --------------------------------------------------------------------------

# Directives that compilers write, which GNU as and LLVM read alike or an analysis ignores.
_ORDINARY = word_set(
    """addrsig addrsig_sym align ascii asciz att_syntax balign bss build_version byte cg_profile comm data double end
    endef equ file float globl global hidden ident indirect_symbol int intel_syntax internal ifunc lcomm local loc long
    macosx_version_min note octa p2align pad popsection previous private_extern protected pushsection quad rodata scl
    section set short single size skip sleb128 space string subsections_via_symbols symver text type uleb128
    value version weak weak_definition word zero zerofill 2byte 4byte 8byte def secrel32 linkonce"""
)
_ORDINARY_PREFIXES = ("cfi_", "cv_", "L")
# LLVM takes the directives of the target's object format only; GNU as ignores those of the others.
_OF_FORMAT = {
    "coff": word_set("def endef linkonce scl secrel32"),
    "macho": word_set("build_version indirect_symbol macosx_version_min subsections_via_symbols zerofill"),
    "elf": word_set("hidden internal local protected rodata size symver type version weak"),
}
# Prefixes that are statements of their own for LLVM whatever follows, and all prefixes.
_OWN = word_set("addr32 addr16 data16 data32 cs ds es fs gs ss rex rex64 rex.w rex.r rex.x rex.b xacquire xrelease")
_PREFIXES = _OWN | word_set("rep repe repz repne repnz lock bnd notrack")
_BRACES = word_set("{vex} {vex2} {vex3} {evex} {disp8} {disp32} {rex} {rex2}")


def unusual(text: str, triple: str = "") -> bool:
    """Return True if assemblers may read the text in different ways, for the target of this triple."""
    return (
        any(character in text for character in "\0\x0b\x0c\x1a\ufeff")
        or ("\r" in text and "\r" in text.replace("\r\n", "\n").removesuffix("\r"))
        or (".cfi_" in text and _has_odd_frames(text))
        or _has_odd_lines(text, _foreign_directives(triple))
    )


def _foreign_directives(triple: str) -> frozenset[str]:
    """Return the directives of other object formats than the target's; `seh_` stands for all that begin so."""
    system = triple.partition("-")[2]
    own = "elf"
    if any(name in system for name in ("darwin", "macos", "ios", "macho", "watchos", "tvos")):
        own = "macho"
    elif "windows" in system or "win32" in system or "uefi" in system:
        own = "coff"
    foreign = frozenset().union(*(names for name, names in _OF_FORMAT.items() if name != own))
    return foreign if own == "coff" else foreign | {"seh_"}


def _has_odd_frames(text: str) -> bool:
    """Return True if frame directives are outside a frame, or a frame is inside another or does not end."""
    frame = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped[:5] == ".cfi_" and not stripped.startswith(".cfi_sections"):
            begins = stripped.startswith(".cfi_startproc")
            if begins == frame:
                return True
            frame = not stripped.startswith(".cfi_endproc")
    return frame


def _has_odd_lines(text: str, foreign: frozenset[str]) -> bool:
    # Without patterns, which take longer to compile than a small file to look through.
    intel = False
    ordinary: set[str] = set()
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped in ordinary:
            continue
        if stripped[:1] == "/" and stripped[1:2] not in ("/", "*"):  # a comment to GNU as alone
            return True
        if stripped[:1] == "#":
            continue
        for statement in stripped.split(";") if ";" in stripped else (stripped,):
            if _is_odd(statement.split(None, 1), foreign):
                return True
            if "_syntax" in statement:
                ordinary.clear()
                intel = ".intel_syntax" in statement or (intel and ".att_syntax" not in statement)
            elif intel and "%" in statement.partition("#")[0]:  # before a register, where GNU as takes it
                return True
        if "_syntax" not in stripped:
            ordinary.add(stripped)
    return False


def _is_odd(parts: list[str], foreign: frozenset[str]) -> bool:
    """Return True if assemblers read a statement in different ways. `parts`: its first word, and the rest."""
    while parts and parts[0][-1] == ":":
        parts = parts[1].split(None, 1) if len(parts) > 1 else []
    if not parts:
        return False
    word, rest = parts[0], parts[1] if len(parts) > 1 else ""
    if word[0] == ".":
        return _is_odd_directive(word[1:], rest, foreign)
    if word[0] == "{":
        return word not in _BRACES
    word = word.lower()
    if word == "bnd":  # LLVM takes it only on a line of its own
        return True
    if word not in _PREFIXES:
        return False
    if not rest or rest[0] in "#/" or word in _OWN:
        return True
    # After a prefix LLVM takes only names in lower case, and none of those prefixes.
    following = rest.split(None, 1)[0]
    return following in _OWN or not following.islower()


def _is_odd_directive(name: str, rest: str, foreign: frozenset[str]) -> bool:
    if name.endswith("_syntax"):
        return rest[:1] == ("p" if name == "intel_syntax" else "n")
    if name in foreign:
        return True
    if name[:4] == "seh_":
        return "seh_" in foreign
    ordinary = name in _ORDINARY or name.startswith(_ORDINARY_PREFIXES) or ":" in name or "=" in name
    return not ordinary and rest[:1] not in ("=", ":")


_PERHAPS_MASM = r"(?<!\w)\d[\da-fA-F]*[htoqybdHTOQYBD]\b"
_MASM_NUMBER = r"(?i)(?<![\w.$@%\\])(?:(\d[0-9a-f]*)h|(\d+)[td]|([0-7]+)[oq]|([01]+)[yb])(?![\w.$@])"


def with_plain_numbers(text: str) -> str:
    """Return the text with MASM's numbers (0ffh, 1010b), which llvm-mca reads everywhere, as all assemblers write them.

    Columns stay. `jmp 1b` becomes a jump to the address 1, as for llvm-mca.
    """
    if not re.search(_PERHAPS_MASM, text):
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        code, sign, comment = line.partition("#")
        if '"' not in code and re.search(_MASM_NUMBER, code):
            lines[at] = re.sub(_MASM_NUMBER, _plain, code) + sign + comment
    return "\n".join(lines)


def _plain(match: re.Match[str]) -> str:
    if match[1] is not None:
        hexadecimal = f"0x{match[1].lstrip('0') or '0'}"
        value = hexadecimal if len(hexadecimal) <= len(match[0]) else str(int(match[1], 16))
    else:
        value = str(int(match[2] or match[3] or match[4], 10 if match[2] else 8 if match[3] else 2))
    return value.ljust(len(match[0]))
