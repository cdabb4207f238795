"""The notation of model files: keys of entries, port sets, port usage and latencies.

Port usage is written as uops.info does: `1*p01+2*p23` is one µop for port 0 or 1 and two µops for port 2 or 3. Port
names of several characters drop the `p` (`2*FP01` means FP0 or FP1), and any set can be listed: `1*p(V0|V1)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_DIGITS = "0123456789ABCDEF"
"""The last characters of numbered ports' names."""

# --- keys ------------------------------------------------------------------------------------------------------------


def form_key(form: str, conditions: Sequence[str]) -> str:
    """Return the key of an entry: `ADD_RM64_R64/m [indexed]`."""
    return f"{form} [{', '.join(conditions)}]" if conditions else form


def split_key(key: str) -> tuple[str, tuple[str, ...]]:
    """Return the form and the sorted conditions of a key. Raises ValueError if the key is malformed."""
    form, bracket, rest = key.partition(" [")
    if not bracket:
        conditions: tuple[str, ...] = ()
    elif rest.endswith("]") and all(rest[:-1].split(", ")):
        conditions = tuple(sorted(rest[:-1].split(", ")))
    else:
        raise ValueError(f"malformed key {key!r}: conditions are written FORM [ONE, OTHER]")
    if not form.partition("/")[0] or "/" not in form or " " in form:
        raise ValueError(f"malformed key {key!r}: a form is written NAME/OPERANDS, without blanks")
    return form, conditions


# --- ports -----------------------------------------------------------------------------------------------------------


def parse_port_set(text: str, ports: Sequence[str]) -> str:
    """Return the ports of a set joined by ",": "p23" is "2,3", "FP01" is "FP0,FP1", "p(V0|V1)" is "V0,V1".

    Raises ValueError for a port that is not in `ports`.
    """
    if text in ports:
        return text
    if text.startswith("p(") and text.endswith(")"):
        names = text[2:-1].split("|")
    else:
        prefix = text.rstrip(_DIGITS)
        if not prefix:
            raise ValueError(f"malformed port set {text!r}")
        names = [("" if prefix == "p" else prefix) + c for c in text[len(prefix) :]]
    for name in names or [text]:
        if name not in ports:
            raise ValueError(f"unknown port {name!r} in {text!r} (ports: {', '.join(ports)})")
    return ",".join(sorted(set(names), key=list(ports).index))


def parse_ports(text: str, ports: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return (port set, µops) for each term of a port usage. Raises ValueError if the usage is malformed."""
    if not text:
        return ()
    usage = []
    for term in text.split("+"):
        count, star, names = term.partition("*")
        if not star or not count.isdigit() or count == "0":
            raise ValueError(f"malformed port usage {term!r} in {text!r}: it is written 1*p01+2*p23")
        usage.append((parse_port_set(names, ports), int(count)))
    return tuple(usage)


def port_set_name(ports: Sequence[str]) -> str:
    """Return the shortest notation of a port set that `parse_port_set` reads back."""
    if all(len(name) == 1 and name in _DIGITS for name in ports):
        return "p" + "".join(ports)
    if len(ports) == 1:
        return ports[0]
    prefix = ports[0].rstrip(_DIGITS)
    if prefix not in ("", "p") and all(n.rstrip(_DIGITS) == prefix and len(n) == len(prefix) + 1 for n in ports):
        return prefix + "".join(name[len(prefix) :] for name in ports)
    return f"p({'|'.join(ports)})"


def write_ports(uops: Iterable[tuple[str, int]]) -> str:
    """Return the port usage that `parse_ports` reads back."""
    return "+".join(f"{n}*{port_set_name(ports.split(','))}" for ports, n in uops)


def read_usage(text: str) -> Counter[str]:
    """Return the µops of a port usage by port set as written ("p23"), without checking the ports."""
    usage: Counter[str] = Counter()
    for term in text.split("+") if text else ():
        count, _, ports = term.partition("*")
        usage[ports] += int(count)
    return usage


def write_usage(usage: Mapping[str, int]) -> str:
    """Return the port usage that `read_usage` reads back, sorted by port set."""
    return "+".join(f"{count}*{ports}" for ports, count in sorted(usage.items()) if count)


def write_numbered_usage(usage: Mapping[str, int]) -> str:
    """Return a port usage from µops by port set without the prefix `p` ("01")."""
    return "+".join(
        f"{n}*{'' if len(ports) > 1 and ports[:2].isalpha() else 'p'}{ports}" for ports, n in sorted(usage.items())
    )


# --- latencies -------------------------------------------------------------------------------------------------------

Latency = tuple[str, str, int]
"""A latency: (to operand, from operand, cycles), named as in `Form.latency`."""


def parse_latency(text: str) -> tuple[Latency, ...]:
    """Return the pairs of "0,C<0,1:2 0<m:1", in which each operand before "<" waits for each one after it.

    Raises ValueError if the text is malformed.
    """
    pairs = []
    for term in text.split():
        operands, colon, cycles = term.rpartition(":")
        targets, less, sources = operands.partition("<")
        if not colon or not less or not cycles.isdigit() or not all(targets.split(",") + sources.split(",")):
            raise ValueError(f"malformed latency {term!r}: it is written TO<FROM:CYCLES")
        pairs += [(to, source, int(cycles)) for to in targets.split(",") for source in sources.split(",")]
    return tuple(pairs)


def latency_by_pair(text: str) -> dict[tuple[str, str], int]:
    """Return cycles by (to operand, from operand). Raises ValueError if the text is malformed."""
    return {(to, source): cycles for to, source, cycles in parse_latency(text)}


def write_latency(pairs: Iterable[Latency]) -> str:
    """Return the shortest notation that `parse_latency` reads back, in a fixed order."""
    sources_of: dict[tuple[str, int], list[str]] = {}
    for to, source, cycles in pairs:
        sources = sources_of.setdefault((to, cycles), [])
        if source not in sources:
            sources.append(source)
    groups: dict[tuple[tuple[str, ...], int], list[str]] = {}
    for (to, cycles), sources in sources_of.items():
        groups.setdefault((tuple(sorted(sources, key=_operand_order)), cycles), []).append(to)
    terms = [(sorted(to, key=_operand_order), sources, cycles) for (sources, cycles), to in groups.items()]
    terms.sort(key=lambda t: ([_operand_order(x) for x in t[0]], [_operand_order(x) for x in t[1]]))
    return " ".join(f"{','.join(to)}<{','.join(sources)}:{cycles}" for to, sources, cycles in terms)


def longest_latency(text: str) -> int | None:
    """Return the longest of some latencies in cycles, None if there are none."""
    return max((cycles for _, _, cycles in parse_latency(text)), default=None)


def _operand_order(name: str) -> tuple[int, str]:
    if name.isdigit():
        return 0, name
    special = ("k", "m", "a", "C", "SPAZO", "M")
    return (2 + special.index(name), "") if name in special else (1, name)
