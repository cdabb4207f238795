"""The frame at each line of an assembly text, as the directives for unwinding describe it."""

from __future__ import annotations

import msgspec


class StackFrame(msgspec.Struct, frozen=True):
    """A description of the frame."""

    rules: tuple[tuple[str, str], ...] = ()
    """By register where its value is, and as "cfa" where the frame begins; () outside of procedures."""
    base: str = ""
    """The register from which the beginning of the frame is computed, "" if there is none."""
    offset: int = 0

    @property
    def by_stack_pointer(self) -> bool:
        """True if a change of the stack pointer must be described."""
        return self.base in _STACK_POINTER


_STACK_POINTER = frozenset(("7", "%rsp", "rsp"))


class Frames:
    """The frames of a text."""

    def __init__(self, lines: list[str]) -> None:
        self._after: list[StackFrame] = [StackFrame()]
        """The frame behind each line, by its number from 1."""
        frame = StackFrame()
        remembered: list[StackFrame] = []
        for line in lines:
            text = line.strip()
            if text.startswith(".cfi_"):
                name, _, rest = text.partition(" ") if " " in text else text.partition("\t")
                operands = [each.strip() for each in rest.partition("#")[0].split(",")]
                if name == ".cfi_startproc":
                    frame, remembered = StackFrame((), "7", 8), []
                elif name == ".cfi_endproc":
                    frame = StackFrame()
                elif name == ".cfi_remember_state":
                    remembered.append(frame)
                elif name == ".cfi_restore_state":
                    frame = remembered.pop() if remembered else frame
                else:
                    frame = _changed(frame, name, operands)
            self._after.append(frame)

    def at(self, line: int) -> StackFrame:
        """Return the frame behind a line."""
        return self._after[line]


def _changed(frame: StackFrame, name: str, operands: list[str]) -> StackFrame:
    """Return a frame after a directive."""
    if name == ".cfi_def_cfa" and len(operands) == 2:
        return StackFrame(frame.rules, operands[0], _number(operands[1]))
    if name == ".cfi_def_cfa_register":
        return StackFrame(frame.rules, operands[0], frame.offset)
    if name == ".cfi_def_cfa_offset":
        return StackFrame(frame.rules, frame.base, _number(operands[0]))
    if name == ".cfi_adjust_cfa_offset":
        return StackFrame(frame.rules, frame.base, frame.offset + _number(operands[0]))
    if name == ".cfi_escape":
        # An expression, of gcc's for frames that are aligned: it is not computed from the stack pointer.
        return StackFrame((*frame.rules, ("escape", ",".join(operands))), "", 0)
    rules = dict(frame.rules)
    if name in (".cfi_restore", ".cfi_same_value"):
        rules.pop(operands[0], None)
    elif operands[0]:
        rules[operands[0]] = f"{name} {operands[1:]}"
    return StackFrame(tuple(sorted(rules.items())), frame.base, frame.offset)


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return 0
