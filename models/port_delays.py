"""Delays that depend on ports: which forms they are between, and which ports.

On Golden Cove a multiplication and a shift of vectors, both on ports 0 and 1, see each other's results a cycle later
than others of their kind do; a shuffle does not. The parameter `port_delays` names classes of forms, and has rules such
as "float@0,1 simple@0,1" = 1: from a µop of an instruction of the class `float` that ran on port 0 or 1, to one of the
class `simple` that has one of these ports, the result takes a cycle more. Of several rules that hold the largest number
counts. The simulation knows both ports; the bounds take the best that the µops could have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


class PortDelayRule(msgspec.Struct, frozen=True, kw_only=True):
    from_class: str
    from_ports: str
    to_class: str
    to_ports: str
    cycles: int


def port_delay_rules(value: Mapping[str, Any]) -> list[PortDelayRule]:
    """The rules of `port_delays` of a model, in its order."""
    rules = []
    for key, cycles in value.get("rules", {}).items():
        (from_class, from_ports), (to_class, to_ports) = (side.split("@") for side in key.split())
        rules.append(
            PortDelayRule(
                from_class=from_class, from_ports=from_ports, to_class=to_class, to_ports=to_ports, cycles=cycles
            )
        )
    return rules


def port_delays_of(key: str, value: Mapping[str, Any], known: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Of the rules, as bits by number: those for the results of a form, those for its inputs. `known` keeps them."""
    if not value:
        return 0, 0
    found = known.get(key)
    if found is None:
        from incc.models.patterns import matches

        classes = {name for name, patterns in value["classes"].items() if matches(key, patterns)}
        gives = takes = 0
        for number, rule in enumerate(port_delay_rules(value)):
            gives |= (rule.from_class in classes) << number
            takes |= (rule.to_class in classes) << number
        known[key] = found = gives, takes
    return found
