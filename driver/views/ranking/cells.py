"""What the views of a ranking share: the cells of rows and groups, and the sentences above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.report import wording
from incc.driver.views.layout import count, each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.ranking import types as r
    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout

MOST_NAMED = 5
"""Files that are named in a sentence; more are counted."""


def files(ranking: r.Ranking) -> dict[str, None]:
    """The files of the rows' places."""
    return dict.fromkeys(place_of(row)["file"] for row in ranking["rows"])


def place_of(row: r.Row) -> t.Location:
    """Where a row's loop is: in the source, or in the assembly."""
    return row["source"] or row["assembly"]


def place(row: r.Row, layout: Layout) -> str:
    """Where a row's loop is, and at how many places more."""
    where = place_of(row)
    name = layout.file(where["file"]) if where["file"] else ""
    return f"{name}:{where['line']}" if where["line"] else f"{name}:{row['label']}" if row["label"] else name


def cycles(row: r.Row) -> str:
    """The prediction, or its two ends; at least so many where something is not counted."""
    text = f"{row['least']:.2f}"
    if row["most"] is None:
        text += "" if row["at_least"] else "–?"
    elif row["most"] != row["least"]:
        text += f"–{row['most']:.2f}"
    return f"≥ {text}" if row["at_least"] else text


def element(row: r.Row) -> str:
    return each(row["cycles_per_element"]) if row["cycles_per_element"] is not None else ""


def share(part: float | None) -> str:
    """A part of the time: a tenth of a percent is the least that is told; a dash for nothing."""
    if part is None:
        return ""
    if part >= 0.0995:
        return f"{100 * part:.0f} %"
    if part >= 0.0005:
        return f"{100 * part:.1f} %"
    return "<0.1 %" if part else "-"


def weight(row: r.Row) -> str:
    return share(row["weight"]["share"] if row["weight"] else 0.0)


def saved(row: r.Row) -> str:
    return share(row["weight"]["saved"] if row["weight"] else 0.0)


def headroom(row: r.Row) -> str:
    found = row["headroom"]["share"]
    return f"{100 * found:.0f} %" if found else "-"


def without(row: r.Row) -> str:
    """What the headroom takes, in few words: what could be otherwise."""
    text = row["headroom"]["text"]
    for long, short in _SHORT:
        text = text.replace(long, short)
    return text


_SHORT = (
    ("without dependencies through registers", "no register dependencies"),
    ("without dependencies through memory", "no memory dependencies"),
    ("without dependencies", "no dependencies"),
    ("without carried dependencies", "no carried dependencies"),
    ("with one more port like ", "another port "),
    ("with a perfect front end", "perfect front end"),
    ("with twice the issue and retire width", "twice the width"),
    ("with unlimited ports", "unlimited ports"),
    ("with an unlimited window", "unlimited window"),
    ("with ", ""),
)


def role(row: r.Row) -> str:
    return "" if row["role"] in ("", "main") else row["role"]


def copies(row: r.Row) -> str:
    """How many kernels of the build a row is; nothing for one."""
    return str(row["copies"]) if row["copies"] > 1 else ""


def codes(row: r.Row) -> str:
    """How many codes there are of a row's loop, such as those of a static and a shared library; nothing for one."""
    return f"×{row['variants']}" if row["variants"] > 1 else ""


def model(row: r.Row, ranking: r.Ranking) -> str:
    return row["model"] if len(ranking["totals"]["models"]) > 1 else ""


def look(row: r.Row) -> str:
    return row["look"]


# --- sentences --------------------------------------------------------------------------------------------------------


def summary(ranking: r.Ranking) -> str:
    """What was read, in a sentence; or that nothing of it counts."""
    totals = ranking["totals"]
    if only_stale(ranking):
        number = len(ranking["stale"])
        return f"{number} {'report is' if number == 1 else 'reports are'} stale and left out; there are no others."
    parts = [f"{count(totals['kernels'], 'kernel')} of {count(totals['units'], 'unit')}"]
    if totals["rows"] != totals["kernels"]:
        parts.append(f"{totals['rows']} of them different")
    if totals["loops"] != totals["rows"]:
        parts.append(f"{count(totals['loops'], 'loop')} of the source")
    if totals["models"]:
        few = len(totals["models"]) < 5
        parts.append(f"for {wording.listed(totals['models'])}" if few else f"for {len(totals['models'])} cores")
    return f"{', '.join(parts)}."


def only_stale(ranking: r.Ranking) -> bool:
    """Whether there are no reports but stale ones, which are left out."""
    return bool(ranking["stale"]) and not ranking["stale_shown"] and not ranking["totals"]["units"]


def gaps(ranking: r.Ranking) -> Iterator[str]:
    """What is not in the table, and what of it can be helped; a sentence each."""
    totals = ranking["totals"]
    if totals["left_out"]:
        which = "loop was" if totals["left_out"] == 1 else "loops were"
        yield f"{totals['left_out']} {which} not analysed; the reports say why (left_out)."
    if totals["unknown"] or totals["refused"]:
        parts = [count(totals["unknown"], "instruction") + " that the model lacks"] if totals["unknown"] else []
        parts += [count(totals["refused"], "statement") + " that could not be decoded"] if totals["refused"] else []
        yield f"Not counted: {' and '.join(parts)} (--where 'unknown > 0 or refused > 0' shows where)."
    if totals["replaced"]:
        which = "report is" if totals["replaced"] == 1 else "reports are"
        yield f"{totals['replaced']} {which} replaced by later ones in the same file."
    if only_stale(ranking):
        first = ranking["stale"][0]
        yield (
            f"The first is stale since {first['why']}. For new ones compile with incc again, as by incc-build -- make; "
            "--stale shows the stale ones, --prune removes them."
        )
    elif ranking["stale"]:
        number = len(ranking["stale"])
        which = "1 stale report is" if number == 1 else f"{number} stale reports are"
        first = ranking["stale"][0]
        where = "among them" if ranking["stale_shown"] else "left out"
        yield f"{which} {where}, the first since {first['why']} (--stale shows them, --prune removes them)."
    if totals["pending"]:
        which = "compilation waits for its" if totals["pending"] == 1 else "compilations wait for their"
        yield f"Not in the table: {totals['pending']} {which} analysis."
    for unread in ranking["unread"][:MOST_NAMED]:
        yield f"Not read: {unread['report']}: {unread['why']}."
    if len(ranking["unread"]) > MOST_NAMED:
        yield f"Not read: {len(ranking['unread']) - MOST_NAMED} more files (--format=json names all)."
    for note in ranking["notes"]:
        yield note if note.endswith((".", "?")) else f"{note}."


UNWEIGHTED = (
    "Unweighted: what runs how often is not known, so that loops with advice come first, then those that might gain "
    "most. --hot=FILE weighs them: counts of gcov or llvm-cov, samples of perf, or a list."
)


def hotness(ranking: r.Ranking) -> Iterator[str]:
    """What weighs the kernels, or that nothing does; where there are none, nothing need."""
    found = ranking["hotness"]
    if found is None:
        if ranking["totals"]["units"]:
            yield UNWEIGHTED
        return
    what = "executions times cycles" if found["unit"] == "cycles" else "samples"
    listed = ", ".join(f"{file['file']} ({file['kind']}: {file['text']})" for file in found["files"][:MOST_NAMED])
    if len(found["files"]) > MOST_NAMED:
        listed += f" and {len(found['files']) - MOST_NAMED} more"
    yield f"Weighed by {what}: {listed}."
    matched, other = found["matched"], 1 - found["matched"]
    if found["unit"] == "cycles":
        where = "functions with" if all(file["kind"] == "llvm-profdata" for file in found["files"]) else "lines of"
        text = f"{share_of(matched)} of the executions that are told of are in {where} these loops"
        shares = "Shares are of the loops' cycles."
    else:
        text = f"{share_of(matched)} of the time that is told of is in these loops"
        shares = "Shares are of all of it."
    if matched < _LEAST:
        yield f"{text[:1].upper()}{text[1:]}."
    else:
        rest = f", {share_of(other)} in other code" if other >= _LEAST else ""
        yield f"{text}{rest}. {shares}"
    yield from found["notes"]


def share_of(part: float) -> str:
    """A part in a sentence."""
    return "nothing" if part < _LEAST else f"{100 * part:.1f}\xa0%"


_LEAST = 0.0005
"""The part of the time from which on a tenth of a percent is said."""


def wholly(ranking: r.Ranking) -> str:
    """What all headroom together comes to; empty without hotness."""
    if ranking["hotness"] is None or not ranking["rows"]:
        return ""
    total = sum(row["weight"]["saved"] for row in ranking["rows"] if row["weight"])
    return f"Were all headroom used, {share_of(min(total, 1.0))} of the time would be saved."


def lines_wanted(ranking: r.Ranking) -> str:
    """What tells lines of the source, where some are not known; empty where all are."""
    totals = ranking["totals"]
    if not totals["without_lines"]:
        return ""
    which = "" if totals["without_lines"] == totals["kernels"] else f" of {count(totals['without_lines'], 'kernel')}"
    return (
        f"No lines of the source are known{which}. The compiler tells them with -g1, which leaves the code as it is, "
        "and incc asks for them in the full mode (INCC_MODE=full, incc-build --mode=full)."
    )


GROUPED = {"file": "File", "function": "Function", "bottleneck": "Bound by", "hint": "Hint"}


def group_key(ranking: r.Ranking, group: r.Group, layout: Layout) -> str:
    return layout.file(group["key"]) if ranking["by"] == "file" and group["key"] else group["key"]
