"""What the flags of hints bring: a unit's loops before and after, matched by function and line of the source."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from incc.driver.report import types as t

    Key = tuple[str, str, int]

NOTHING = 0.01
"""Less gain than this is none."""


def flag_sets(units: Iterable[t.Unit]) -> list[tuple[str, ...]]:
    """The flags of each hint, in the order of the report and each once; last all together, if there are several."""
    sets = list(
        dict.fromkeys(
            tuple(hint["flags"])
            for unit in units
            for kernel in unit["kernels"]
            for hint in kernel["hints"]
            if hint["flags"]
        )
    )
    together = tuple(dict.fromkeys(flag for flags in sets for flag in flags))
    # Of several that tell the same thing different values, none is both.
    if len(sets) > 1 and together not in sets:
        sets.append(together)
    return sets


def trial(flags: Sequence[str], before: t.Unit, after: t.Unit | None, problem: str = "") -> t.Trial:
    """What became of a unit's loops with more flags; `after` is None if there is nothing of it because of `problem`."""
    rules = [
        hint["rule"]
        for kernel in before["kernels"]
        for hint in kernel["hints"]
        if hint["flags"] and set(hint["flags"]) <= set(flags)
    ]
    loops: list[t.TriedLoop] = []
    if after is not None:
        old, new = _main_loops(before["kernels"]), _main_loops(after["kernels"])
        loops = [_loop(kernel, _match(key, old, new), flags) for key, kernel in old.items()]
    return {"flags": list(flags), "rules": list(dict.fromkeys(rules)), "problem": problem, "loops": loops}


def _main_loops(kernels: Sequence[t.Kernel]) -> dict[Key, t.Kernel]:
    """For each function and line of the source the loop that does most in an iteration: the others run what it leaves
    over. Loops without lines are told apart by nothing, so the first of a function stands for them."""
    found: dict[Key, t.Kernel] = {}
    for kernel in kernels:
        if not kernel["is_loop"]:
            continue
        source = kernel["source"]
        key = (kernel["function"], source["file"] if source else "", source["line"] if source else 0)
        if key not in found or _work(kernel) > _work(found[key]):
            found[key] = kernel
    return found


NEAR = 3
"""Lines by which a loop may move: compilers give the line of its head or of something in it, as they find it."""


def _match(key: Key, old: Mapping[Key, t.Kernel], new: Mapping[Key, t.Kernel]) -> t.Kernel | None:
    """The loop that one has become: at the same line, else at the nearest one of the same function at which there was
    none."""
    if key in new:
        return new[key]
    function, file, line = key
    near = [k for k in new if k not in old and k[:2] == (function, file) and abs(k[2] - line) <= NEAR]
    return new[min(near, key=lambda k: abs(k[2] - line))] if near else None


def _work(kernel: t.Kernel) -> float:
    """How much of the source's loop an iteration does: elements where they are known, else in bytes."""
    elements, memory = kernel["elements"], kernel["memory"]
    return elements["per_iteration"] if elements else float(memory["bytes_loaded"] or memory["bytes_stored"])


def _loop(before: t.Kernel, after: t.Kernel | None, flags: Sequence[str]) -> t.TriedLoop:
    ratio = gain = None
    if after is not None:
        old, new = before["elements"], after["elements"]
        if old and new:
            ratio = new["per_iteration"] / old["per_iteration"]
        else:
            # The same source reads the same bytes for an element, and writes them where it reads none.
            for name in ("bytes_loaded", "bytes_stored"):
                if before["memory"][name] and after["memory"][name]:
                    ratio = after["memory"][name] / before["memory"][name]
                    break
        if ratio and after["cycles"]:
            gain = round(before["cycles"] * ratio / after["cycles"] - 1, 6)
    return {
        "kernel_id": before["kernel_id"],
        "function_name": before["function_name"],
        "source": before["source"],
        "hinted": any(hint["flags"] and set(hint["flags"]) <= set(flags) for hint in before["hints"]),
        "before": before["cycles"],
        "after": after["cycles"] if after else None,
        "element_before": before["elements"]["cycles"] if before["elements"] else None,
        "element_after": after["elements"]["cycles"] if after and after["elements"] else None,
        "work": round(ratio, 6) if ratio else None,
        "gain": gain,
        "text": _text(before, after, ratio, gain),
    }


def _text(before: t.Kernel, after: t.Kernel | None, ratio: float | None, gain: float | None) -> str:
    from incc.driver.report.wording import number

    if after is None:
        return "there is no such loop any more: it became a call, or part of another one"
    text = f"{number(before['cycles'])} → {number(after['cycles'])} cycles an iteration"
    if ratio is None or gain is None:
        return f"{text}; what an iteration does cannot be compared"
    if ratio != 1:
        text += f", which does {number(ratio)} times as much"
    old, new = before["elements"], after["elements"]
    if old and new:
        text += f"; {number(old['cycles'])} → {number(new['cycles'])} an element"
    if gain >= NOTHING:
        return f"{text}: {number(1 + gain)} times as fast"
    return f"{text}: {'nothing gained' if gain > -NOTHING else 'slower'}"
