"""Rules about instruction forms: patterns that name forms, and delays that depend on the ports of two forms.

Model parameters name groups of forms by shell patterns, separated by blanks (`VPADD* VPSUB*`).

On Golden Cove, multiplications and shifts of vectors, both on ports 0 and 1, see each other's results a cycle later
than results of their own kind; shuffles do not. The parameter `port_delays` names such classes of forms and holds rules
such as "float@0,1 simple@0,1" = 1: a result of a µop of the class `float` that ran on port 0 or 1 reaches a µop of the
class `simple` on one of these ports a cycle later. If several rules apply, the largest number counts. The simulation
knows both ports; the bounds assume the ports that are best.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import msgspec

_SPECIAL = "*?["


@lru_cache(1 << 14)
def matches(form: str, patterns: str) -> bool:
    """Return True if a form matches one of the patterns, as by fnmatch.fnmatchcase."""
    return any(_matches(form, pattern) for pattern in patterns.split())


def _matches(form: str, pattern: str) -> bool:
    # A report on one loop tests hundreds of patterns on a few forms, and compiling them to regular expressions would
    # take longer than the rest of the analysis. The literal head and tail of a pattern rule out most forms.
    head, tail = _literal_ends(pattern)
    if len(head) == len(pattern):
        return form == pattern
    if not form.startswith(head) or not form.endswith(tail):
        return False
    if len(head) + 1 + len(tail) == len(pattern) and pattern[len(head)] == "*":
        return len(form) >= len(head) + len(tail)

    return fnmatchcase(form, pattern)


def _literal_ends(pattern: str) -> tuple[str, str]:
    """Return the text before the first special character of a pattern, and after the last one."""
    ends = _ENDS.get(pattern)
    if ends is None:
        places = [at for at in map(pattern.find, _SPECIAL) if at >= 0]
        if not places:
            ends = pattern, ""
        else:
            # The bracket that closes a set is special, too.
            last = max(pattern.rfind(character) for character in _SPECIAL + "]")
            ends = pattern[: min(places)], pattern[last + 1 :]
        _ENDS[pattern] = ends
    return ends


_ENDS: dict[str, tuple[str, str]] = {}


class PortDelayRule(msgspec.Struct, frozen=True, kw_only=True):
    """A delay from results of one class of forms to inputs of another, on certain ports."""

    from_class: str
    from_ports: str
    """Port names joined by ","."""
    to_class: str
    to_ports: str
    cycles: int
    """Negative if results come earlier."""


def port_delay_rules(parameter: Mapping[str, Any]) -> list[PortDelayRule]:
    """Return the rules of a model's parameter `port_delays`, in its order."""
    rules = []
    for key, cycles in parameter.get("rules", {}).items():
        (from_class, from_ports), (to_class, to_ports) = (side.split("@") for side in key.split())
        rules.append(
            PortDelayRule(
                from_class=from_class, from_ports=from_ports, to_class=to_class, to_ports=to_ports, cycles=cycles
            )
        )
    return rules


def port_delays_of(key: str, parameter: Mapping[str, Any], cache: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Return the rules that apply to a form's results, and those that apply to its inputs, as bits by rule number."""
    if not parameter:
        return 0, 0
    delays = cache.get(key)
    if delays is None:
        classes = {name for name, patterns in parameter["classes"].items() if matches(key, patterns)}
        from_bits = to_bits = 0
        for number, rule in enumerate(port_delay_rules(parameter)):
            from_bits |= (rule.from_class in classes) << number
            to_bits |= (rule.to_class in classes) << number
        cache[key] = delays = from_bits, to_bits
    return delays
