"""The language of `--what-if`: port 5 += 1, rob = 512, latency VADDPD = 3. Imported only where it is used."""

from __future__ import annotations

from typing import Any

import pyparsing as pp
from msgspec.structs import replace

from incc.core import whatif
from incc.core.altered import WIDEST
from incc.core.whatif import CoreChange, Scenario
from incc.frontends.isa import word_set
from incc.models.binding import bound as b

MOST = 1 << 20  # the largest value of a parameter or a latency


def parse(text: str) -> CoreChange:
    """Parse a change.

    Raises ValueError with the text and the column for a syntax error. A port or an instruction that does not exist is
    reported as a ValueError when the change is applied.
    """
    try:
        match = _LANGUAGE.parse_string(text, parse_all=True)
    except pp.ParseBaseException as error:
        wanted = error.msg.removeprefix("Expected ").replace("end of text", "nothing more")
        raise ValueError(f"what-if {text!r}: column {error.column}: expected {wanted}") from None
    kind, name, operator, value = match
    title = f"with {' '.join(text.split())}"
    match kind:
        case "port":
            return _port(text, title, name, operator, value)
        case "latency":
            return whatif.CoreChange(name=f"latency {name}", text=title, apply=_Latency(text, name, operator, value))
        case _:
            return whatif.CoreChange(name=name, text=title, apply=_Parameter(text, name, operator, value))


def _language() -> pp.ParserElement:
    number = pp.Regex(r"[0-9]+").set_parse_action(lambda t: int(t[0])).set_name("a number")
    unlimited = pp.Keyword("unlimited").set_parse_action(pp.replace_with(b.UNLIMITED))
    operator = pp.one_of("+= -= =").set_name("=, += or -=")
    parameter = pp.one_of(whatif.PARAMETERS, as_keyword=True).set_name("port, latency or a parameter of the core")
    port = pp.Keyword("port") - pp.Word(pp.alphanums).set_name("the name of a port") - operator - number
    mnemonic = pp.Word(pp.alphas, pp.alphanums + "_").set_name("a mnemonic")
    latency = pp.Keyword("latency") - mnemonic - operator - number
    either = (number | unlimited).set_name("a number or unlimited")
    setting = pp.Empty().set_parse_action(pp.replace_with("parameter")) + parameter - operator - either
    return (port | latency | setting).set_name("port, latency or a parameter of the core")


_LANGUAGE = _language()


def _port(text: str, title: str, name: str, operator: str, value: int) -> CoreChange:
    """Return a change that adds ports like an existing one; `= N` sets their total number."""
    count = value if operator == "+=" else value - 1
    if operator == "-=" or count < 1:
        raise ValueError(f"what-if {text!r}: ports can only be added")
    change = whatif.more_ports(name, count)

    def apply(s: Scenario) -> Scenario:
        try:
            return change.apply(s)
        except ValueError as error:
            raise ValueError(f"what-if {text!r}: {error}") from error

    return whatif.CoreChange(name=change.name, text=title, apply=apply)


class _Parameter:
    """A change to a parameter of the core."""

    def __init__(self, text: str, name: str, operator: str, value: int) -> None:
        self.text, self.name, self.operator, self.value = text, name, operator, value

    def __call__(self, s: Scenario) -> Scenario:
        bound = whatif.copy(s.bound)
        is_window = self.name in whatif.WINDOW
        old = whatif.get_parameter(bound, self.name)
        if is_window and not old:
            old = b.UNLIMITED
        if self.operator == "=":
            new = self.value
        elif self.value == b.UNLIMITED or old == b.UNLIMITED:
            raise ValueError(f"what-if {self.text!r}: {self.name} can only be set, not changed, from or to unlimited")
        else:
            new = old + self.value if self.operator == "+=" else old - self.value
        # For a buffer, 0 means that it is unlimited, which no difference of two sizes is.
        least = 1 if self.name in _POSITIVE or (is_window and self.operator != "=") else 0
        if not least <= new <= MOST:
            raise ValueError(f"what-if {self.text!r}: {self.name} would be {new}; it is from {least} to {MOST}")
        whatif.set_parameter(bound, self.name, min(new, _MOST_SIMULATED.get(self.name, MOST)))
        return replace(s, bound=bound)


# A width beyond any buffer is equivalent to no limit, and simulates faster.
_MOST_SIMULATED = {"issue_width": WIDEST, "retire_width": 1 << 10, "idq": 1 << 10}

# With 0 for one of these nothing would ever move; 0 for another parameter removes the limit or the unit.
_POSITIVE = word_set("issue_width retire_width idq predecode_width ms_width dsb_block rob rs move_elim_pipeline")


class _Latency:
    """A change to the latency of a mnemonic, from registers and loaded data to results.

    Forwarding without latency and load latency stay.
    """

    def __init__(self, text: str, mnemonic: str, operator: str, value: int) -> None:
        self.text, self.mnemonic, self.operator, self.value = text, mnemonic.upper(), operator, value
        if value > MOST:
            raise ValueError(f"what-if {text!r}: {value} cycles are too many")

    def __call__(self, s: Scenario) -> Scenario:
        bound = whatif.copy(s.bound)
        bound.input_latency, bound.input_early = list(bound.input_latency), list(bound.input_early)
        chosen = [n for n, i in enumerate(s.kernel.instructions) if i.mnemonic.upper() == self.mnemonic]
        if not chosen:
            raise whatif.InapplicableError(f"what-if {self.text!r}: the kernel has no {self.mnemonic}")
        for i in chosen:
            for v in range(bound.value_start[i], bound.value_start[i + 1]):
                if bound.value_kind[v] != b.VALUE_LOAD:
                    self._set(bound, v)
        return replace(s, bound=bound)

    def _set(self, bound: Any, value: int) -> None:
        for n in range(bound.input_start[value], bound.input_start[value + 1]):
            old = bound.input_latency[n]
            if old:
                change = {"=": self.value, "+=": old + self.value, "-=": old - self.value}[self.operator]
                bound.input_latency[n] = max(1, change)
                if self.operator == "=":
                    bound.input_early[n] = 0
