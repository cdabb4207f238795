"""The timeline as one self-contained HTML page: rows are instructions with their µops, columns cycles; pointing at a
row, or going to it by keyboard, tells its life and draws what fed it and what it feeds. Opens offline in a browser."""

from __future__ import annotations

from incc.driver.views.page import Html, document, element, escaped, script_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from incc.driver.report import types as t


def render(report: t.Report) -> str:
    """The page of all kernels that have a timeline. Raises ValueError where none has."""
    kernels = [
        _kernel(unit, kernel, timeline)
        for unit in report["units"]
        for kernel in unit["kernels"]
        if (timeline := kernel["timeline"])
    ]
    if not kernels:
        raise ValueError("no kernel has a timeline")
    tool = escaped(f"{report['tool']['name']} {report['tool']['version']}")
    return document(
        f"{kernels[0]['title']} - timeline",
        _STYLE,
        Html(f'{_BODY_START}<span class="muted">{tool}</span>\n</div>\n{_legend()}{_BODY_END}'),
        f"const kernels = {script_json(kernels)};\n{_SCRIPT}",
    )


def _kernel(unit: t.Unit, kernel: t.Kernel, timeline: t.Timeline) -> dict[str, Any]:
    """What the page needs of a kernel, in short keys."""
    source = kernel["source"]
    file, first, last = unit["assembly_file"], kernel["first_line"], kernel["last_line"]
    place = f"{source['file']}:{source['line']}" if source else f"{file}:{first}-{last}" if first else file
    name = kernel["function_name"] or kernel["name"]
    most = "at least " if kernel["at_least"] else ""
    more = [kernel["elements"]["text"] if kernel["elements"] else f"{most}{kernel['cycles']:.2f} cycles an iteration"]
    more += [kernel["rates"]["text"]] if kernel["rates"] else []
    more += [kernel["role"]["text"]] if kernel["role"]["of"] else []
    return {
        "title": f"{name}, {place}" if name else place,
        "model": "; ".join([text for text in more if text] + [unit["model"]["title"]]),
        "verdict": kernel["verdict"],
        "range": kernel["range"]["text"] if kernel["range"] else "",
        "cycles": timeline["cycles"],
        "instructions": [
            {
                "line": i["line"],
                "text": i["text"],
                "uops": i["ports"],
                "remarks": i["remarks"],
            }
            for i in kernel["instructions"]
        ],
        "events": [
            [e["iteration"], e["instruction"], e["dispatched"], e["started"], e["executed"], e["retired"]]
            for e in timeline["events"]
        ],
        "uops": [
            {
                "place": [u["iteration"], u["instruction"]],
                "kind": u["kind"],
                "port": f"{u['port']}+{u['unit']}" if u["unit"] else u["port"],
                "times": [u[time] for time in _TIMES],
                "inputs": [[i["producer"], i["kind"], i["via"], i["arrived"], i["latency"]] for i in u["inputs"]],
                "last": u["last_input"],
            }
            for u in timeline["uops"]
        ],
    }


_TIMES: tuple[Literal["dispatched", "earliest", "ready", "started", "executed", "retired"], ...] = (
    "dispatched",
    "earliest",
    "ready",
    "started",
    "executed",
    "retired",
)

# Letters are those of the text's timeline. Colours differ in lightness and pattern, too, for those who see few, and the
# letters are on the bars.
_KEYS = (
    ("dispatched", "D", "dispatched"),
    ("way", "=", "on its way to a port"),
    ("inputs", "i", "waits for inputs"),
    ("data", "s", "waits for data to store"),
    ("port", "p", "waits for its port"),
    ("executing", "e", "executes (its port)"),
    ("done", "-", "waits to retire"),
    ("retired", "R", "retires"),
)


def _legend() -> Html:
    keys = [element("li", element("i", letter, class_=f"bar {name}"), meaning) for name, letter, meaning in _KEYS]
    arrows = (("in", "what fed it; thick: came last"), ("out", "what it feeds"))
    keys += [element("li", Html(f'<svg class="{kind}"><path d="M1 6H22"/></svg>'), text) for kind, text in arrows]
    return element("ul", *keys, class_="legend")


_STYLE = """\
:root { --cell: 14px; --row: 18px; --name: min(420px, 42vw); --ink: #1a1a1a;
  --dispatched: #767676; --way: #dcdcdc; --inputs: #f2c14e; --inputs2: #dba01f; --data: #d98cb9; --data2: #b8578f;
  --port: #e0681a; --port2: #b84a06; --executing: #0068a8; --done: #b9dcf3; --retired: #1a1a1a; --arrow: #b3005e; }
@media (prefers-color-scheme: dark) { :root { --dispatched: #8e8e8e; --way: #4a4a4a; --done: #23506f;
  --executing: #3a9ad9; --retired: #f0f0f0; --arrow: #ff6fb0; } }
body { height: 100vh; display: flex; flex-direction: column; }
header, footer { background: var(--head); padding: 6px 12px; flex: none; overflow: auto; }
header { border-bottom: 1px solid var(--grid); max-height: 45vh; }
footer { border-top: 1px solid var(--grid); height: 8em; white-space: pre-wrap; overflow-wrap: anywhere;
  font: 12px/1.35 ui-monospace, monospace; }
main { flex: 1; overflow: auto; min-height: 0; }
.verdict { margin: 0 0 6px; }
.controls { display: flex; gap: 4px 18px; align-items: center; flex-wrap: wrap; }
.legend { display: flex; gap: 3px 14px; flex-wrap: wrap; list-style: none; margin: 6px 0 0; padding: 0; }
.legend li { display: inline-flex; align-items: center; gap: 5px; }
.legend i { position: static; width: 14px; height: 14px; }
.legend svg { width: 24px; height: 12px; }
#chart { position: relative; background: repeating-linear-gradient(to right, var(--grid) 0 1px,
  transparent 1px calc(5 * var(--cell))) var(--name) 0 no-repeat; }
.row { height: var(--row); position: relative; white-space: nowrap; outline-offset: -2px; }
.row.first { border-top: 1px solid var(--muted); }
.row[hidden] { display: none; }
.name { position: sticky; left: 0; z-index: 3; display: inline-block; width: var(--name); height: var(--row);
  overflow: hidden; text-overflow: ellipsis; white-space: pre; background: var(--paper);
  border-right: 1px solid var(--grid);
  padding-left: 8px; box-sizing: border-box; font: 12px/var(--row) ui-monospace, monospace; }
.uop .name { color: var(--muted); }
.fold { border: 0; padding: 0; margin: 0; width: 2ch; background: none; color: inherit; font: inherit;
  cursor: pointer; }
.row.hit { background: color-mix(in srgb, var(--executing) 16%, transparent); }
.row.hit .name { background: color-mix(in srgb, var(--executing) 16%, var(--paper)); color: var(--text); }
.row.cause .name { background: color-mix(in srgb, var(--arrow) 20%, var(--paper)); color: var(--text); }
.row.effect .name { box-shadow: inset 4px 0 var(--muted); color: var(--text); }
.bar { position: absolute; top: 2px; height: calc(var(--row) - 4px); overflow: hidden; box-sizing: border-box;
  font: bold 10px/calc(var(--row) - 4px) ui-monospace, monospace; font-style: normal; text-align: center;
  color: var(--ink); forced-color-adjust: none; }
.bar.dispatched { background: var(--dispatched); color: #fff; }
.bar.way { background: var(--way); color: var(--text); }
.bar.inputs { background: repeating-linear-gradient(135deg, var(--inputs) 0 4px, var(--inputs2) 4px 6px); }
.bar.data { background: radial-gradient(circle, var(--data2) 0 1.2px, transparent 1.5px) 0 0 / 5px 5px, var(--data); }
.bar.port { background: repeating-linear-gradient(to right, var(--port) 0 3px, var(--port2) 3px 5px); color: #fff;
  text-shadow: 0 0 2px #000; }
.bar.executing { background: var(--executing); color: #fff; }
.bar.done { background: linear-gradient(var(--done), var(--done)) 0 50% / 100% 5px no-repeat; color: transparent; }
.bar.retired { background: var(--retired); color: var(--paper); }
.bar.span { border-top: 1px dotted var(--muted); top: calc(var(--row) / 2); height: 0; }
.bar.lane { color: transparent; text-shadow: none; }
.row[aria-expanded=true] .bar:not(.span), .row[aria-expanded=false] .bar.span { display: none; }
.tick { position: absolute; top: 0; font: 10px/16px ui-monospace, monospace; color: var(--muted); padding-left: 2px;
  border-left: 1px solid var(--grid); height: 100%; pointer-events: none; }
#axis { position: sticky; top: 0; z-index: 4; height: 16px; background: var(--paper); }
#axis .name { height: 16px; line-height: 16px; color: var(--muted); z-index: 5; }
#arrows { position: absolute; left: 0; top: 0; z-index: 2; pointer-events: none; overflow: visible; }
.in path, .out path { fill: none; stroke: var(--arrow); stroke-width: 1.3; }
.out path { stroke: var(--text); stroke-dasharray: 4 3; }
.in.last path { stroke-width: 2.6; }
.in .head { fill: var(--arrow); stroke: none; }
.out .head { fill: var(--text); stroke: none; }
#arrows text { font: 11px ui-monospace, monospace; fill: var(--text); paint-order: stroke; stroke: var(--paper);
  stroke-width: 4px; stroke-linejoin: round; }
@media (max-width: 600px) { :root { --name: 38vw; } .legend { gap: 2px 8px; font-size: 11px; } }
"""

_BODY_START = """\
<header>
<h1 id="title"></h1>
<p class="verdict"><span id="verdict"></span> <span id="range"></span> <span class="muted" id="model"></span></p>
<div class="controls">
<label id="choice">Kernel <select id="kernel"></select></label>
<label>Zoom <input id="zoom" type="range" min="3" max="40" value="14"></label>
<label><input id="apart" type="checkbox" checked> µops apart</label>
"""

_BODY_END = """
</header>
<main>
<div id="axis"></div>
<div id="chart" role="tree" aria-label="Instructions and their µops by cycle"></div>
</main>
<footer id="detail" tabindex="0" aria-live="polite"></footer>"""

_SCRIPT = """\
const HINT = "Point at a row, or go through the rows with the arrow keys (left and right fold an instruction): " +
  "what it did when, what fed it and what it feeds. Click to keep a row, Escape to let it go.";
const KINDS = {load: "load", compute: "compute", branch: "branch", "store-address": "store address",
  "store-data": "store data", renamer: "renamer"};
const SVG = document.querySelector(".legend svg").namespaceURI;
const element = id => document.getElementById(id);
let cell = 14, kernel = null, rows = [], kept = null, chosen = null;

function make(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text) made.textContent = text;
  return made;
}

// A row that has several µops folded away has a lane for each.
function bar(row, from, to, state, letter, lane, lanes) {
  if (to <= from) return;
  const b = make("div", `bar ${state}`, letter);
  b.dataset.cycles = `${from}-${to}`;
  b.style.left = `calc(var(--name) + ${from} * var(--cell))`;
  b.style.width = `calc(${to - from} * var(--cell))`;
  if (lanes) {
    b.classList.add("lane");
    b.style.top = `calc(2px + ${lane} * (var(--row) - 4px) / ${lanes})`;
    b.style.height = `calc((var(--row) - 4px) / ${lanes})`;
  }
  row.append(b);
}

function uopBars(row, uop, lane, lanes) {
  const [dispatched, earliest, ready, started, executed, retired] = uop.times;
  const later = cycle => Math.max(cycle, dispatched + 1);
  const add = (from, to, state, letter) => bar(row, from, to, state, letter, lane, lanes);
  add(dispatched, dispatched + 1, "dispatched", "D");
  add(dispatched + 1, earliest, "way", "=");
  if (uop.kind === "store-data") add(later(earliest), ready, "data", "s");
  else add(later(earliest), ready, "inputs", "i");
  add(later(ready), started, "port", "p");
  add(later(started), executed, "executing", uop.port);
  add(later(executed), retired, "done", "-");
  add(retired, retired + 1, "retired", "R");
}

// An instruction without µops: there is nothing to do but to retire.
function eventBars(row, event) {
  const [, , dispatched, , , retired] = event;
  bar(row, dispatched, dispatched + 1, "dispatched", "D");
  bar(row, dispatched + 1, retired, "done", "-");
  bar(row, retired, retired + 1, "retired", "R");
}

function addRow(parent, className, level, label) {
  const row = make("div", `row ${className}`);
  row.setAttribute("role", "treeitem");
  row.setAttribute("aria-level", level);
  row.setAttribute("aria-label", label);
  row.tabIndex = -1;
  const name = make("span", "name");
  name.title = label;
  row.append(name);
  parent.append(row);
  rows.push({row, uop: -1, parts: []});
  return rows[rows.length - 1];
}

function show(number) {
  kernel = kernels[number];
  rows = [];
  kept = null;
  element("title").textContent = kernel.title;
  element("verdict").textContent = kernel.verdict.charAt(0).toUpperCase() + kernel.verdict.slice(1) + ".";
  element("range").textContent = kernel.range && kernel.range.charAt(0).toUpperCase() + kernel.range.slice(1) + ".";
  element("model").textContent = kernel.model;
  const uopsOf = new Map();
  kernel.uops.forEach((uop, index) => {
    const place = uop.place.join();
    uopsOf.set(place, (uopsOf.get(place) || []).concat(index));
    uop.feeds = [];
  });
  kernel.uops.forEach((uop, index) => uop.inputs.forEach(input => kernel.uops[input[0]].feeds.push([index, input])));
  const all = document.createDocumentFragment();
  for (const event of kernel.events) {
    const [iteration, index, dispatched, , , retired] = event;
    const uops = uopsOf.get(`${iteration},${index}`) || [], instruction = kernel.instructions[index];
    const head = addRow(all, index === 0 ? "first" : "", 1, `[${iteration},${index}] ${instruction.text}`);
    head.row.dataset.place = `${iteration},${index}`;
    const name = head.row.firstChild;
    const place = `${String(iteration).padStart(2)} ${String(instruction.line).padStart(5)} `;
    head.event = event;
    if (uops.length === 1) {
      name.textContent = `${place}  ${instruction.text}`;
      own(head, uops[0]);
      continue;
    }
    if (!uops.length) {
      eventBars(head.row, event);
      name.textContent = `${place}  ${instruction.text}`;
      continue;
    }
    const fold = make("button", "fold");
    fold.tabIndex = -1;
    fold.setAttribute("aria-label", "µops");
    name.append(place, fold, instruction.text);
    bar(head.row, dispatched, retired + 1, "span");
    for (const u of uops) {
      const uop = kernel.uops[u], label = `${KINDS[uop.kind]}, port ${uop.port}`;
      const part = addRow(all, "uop", 2, `[${iteration},${index}] ${label}`);
      part.row.dataset.place = `${iteration},${index}`;
      part.row.firstChild.textContent = `${" ".repeat(place.length + 4)}${label}`;
      part.head = head;
      own(part, u);
      head.parts.push(part);
    }
  }
  const arrows = document.createElementNS(SVG, "svg");
  arrows.id = "arrows";
  all.append(arrows);
  element("chart").replaceChildren(...all.childNodes);
  rows.forEach((entry, at) => { entry.at = at; entry.row.dataset.row = at; });
  if (rows.length) rows[0].row.tabIndex = 0;
  foldAll(element("apart").checked);
  axis();
  choose(null);
}

function own(entry, index) {
  entry.uop = index;
  kernel.uops[index].entry = entry;
  entry.row.dataset.kind = kernel.uops[index].kind;
  uopBars(entry.row, kernel.uops[index]);
}

function fold(head, open) {
  if (!head.parts.length) return;
  if (!open && !head.row.querySelector(".lane")) {
    head.parts.forEach((part, lane) => uopBars(head.row, kernel.uops[part.uop], lane, head.parts.length));
  }
  head.row.setAttribute("aria-expanded", open);
  head.row.querySelector(".fold").textContent = open ? "▾ " : "▸ ";
  for (const part of head.parts) part.row.hidden = !open;
}

function foldAll(open) {
  for (const entry of rows) fold(entry, open);
}

const shown = entry => entry.row.hidden ? entry.head : entry;
const placeOf = uop => `[${uop.place.join()}]`;
const nameOf = uop => `${KINDS[uop.kind]} of ${placeOf(uop)}`;

function carried(uop, input) {
  const [, kind, via, arrived, latency] = input;
  const what = kind === "internal" ? "within the instruction" : kind === "memory" ? "through memory" : `through ${via}`;
  return `${what}, ${latency < 0 ? latency : "+" + latency}, there in cycle ${arrived}`;
}

function tell(uop) {
  const [dispatched, earliest, ready, started, executed, retired] = uop.times;
  let text = `${nameOf(uop)}, port ${uop.port}: dispatched in cycle ${dispatched}, could start from ${earliest}, `;
  text += `ready ${ready}, started ${started}, executed ${executed}, retired ${retired}`;
  const waits = [], last = uop.last === null ? null : uop.inputs[uop.last];
  const stored = last && last[1] === "memory" && uop.kind === "load";
  if (ready > earliest) {
    const what = uop.kind === "store-data" ? "data to store" : "inputs";
    waits.push(`${ready - earliest} for ${what}` +
      (last && !stored ? `, last ${last[2] || "what comes"} from the ${nameOf(kernel.uops[last[0]])}` : ""));
  }
  if (started > ready) waits.push(`${started - ready} for port ${uop.port}`);
  if (stored) waits.push(`with its result for the ${nameOf(kernel.uops[last[0]])}`);
  if (waits.length) text += `\\nwaited ${waits.join("; ")}`;
  for (const input of uop.inputs) text += `\\n← ${nameOf(kernel.uops[input[0]])} ${carried(uop, input)}`;
  for (const [index, input] of uop.feeds)
    text += `\\n→ ${nameOf(kernel.uops[index])} ${carried(uop, input)}`;
  return text;
}

function describe(entry) {
  const head = entry.head || entry, [iteration, index, dispatched, started, executed, retired] = head.event;
  const i = kernel.instructions[index];
  let text = `[${iteration},${index}]${i.line ? ` line ${i.line}` : ""}: ${i.text}`;
  if (i.uops) text += ` (${i.uops})`;
  if (i.remarks) text += `; ${i.remarks}`;
  if (entry.uop >= 0) return `${text}\\n${tell(kernel.uops[entry.uop])}`;
  text += `\\ndispatched in cycle ${dispatched}, started ${started}, executed ${executed}, retired ${retired}`;
  return text + entry.parts.map(part => `\\n${tell(kernel.uops[part.uop]).split("\\n", 2).join("; ")}`).join("");
}

function arrow(svg, from, to, input, className) {
  const [, kind, via, arrived, latency] = input;
  const group = document.createElementNS(SVG, "g"), left = rows[0].row.firstChild.offsetWidth;
  const a = shown(from.entry), b = shown(to.entry);
  const y = entry => entry.row.offsetTop + entry.row.offsetHeight / 2;
  const x1 = left + Math.min(arrived, from.times[4]) * cell, x2 = left + arrived * cell, y1 = y(a), y2 = y(b);
  const bend = Math.min(24, 8 + Math.abs(y2 - y1) / 6);
  const add = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    group.append(made);
    return made;
  };
  group.setAttribute("class", className);
  group.dataset.from = `${from.place.join()} ${from.kind}`;
  group.dataset.to = `${to.place.join()} ${to.kind}`;
  add("path", {d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend - 6} ${y2} ${x2 - 6} ${y2}`});
  add("path", {class: "head", d: `M${x2} ${y2}l-8 -4v8z`});
  const label = add("text", {x: (x1 + x2) / 2 + 6, y: (y1 + y2) / 2 + 4});
  label.textContent = `${kind === "internal" ? "" : via + " "}${latency < 0 ? latency : "+" + latency}`;
  svg.append(group);
}

function choose(entry) {
  chosen = entry;
  const svg = element("arrows");
  svg.replaceChildren();
  for (const { row } of rows) row.classList.remove("hit", "cause", "effect");
  element("detail").textContent = entry ? describe(entry) : HINT;
  element("detail").classList.toggle("muted", !entry);
  if (!entry) return;
  entry.row.classList.add("hit");
  const parts = entry.uop >= 0 ? [entry] : entry.parts;
  for (const part of parts) {
    const uop = kernel.uops[part.uop];
    for (const [index, input] of uop.feeds) {
      const to = kernel.uops[index];
      if (shown(to.entry) === shown(part)) continue;
      shown(to.entry).row.classList.add("effect");
      arrow(svg, uop, to, input, "out");
    }
    uop.inputs.forEach((input, number) => {
      const from = kernel.uops[input[0]];
      if (shown(from.entry) === shown(part)) return;
      shown(from.entry).row.classList.add("cause");
      arrow(svg, from, uop, input, number === uop.last ? "in last" : "in");
    });
  }
}

function axis() {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter(s => s * cell >= 30);
  const step = steps[0] || 1000, marks = [make("span", "name", "It.  Line   Instruction")];
  for (let c = 0; c <= kernel.cycles; c += step) {
    const t = make("div", "tick", String(c));
    t.style.left = `calc(var(--name) + ${c} * var(--cell))`;
    marks.push(t);
  }
  element("axis").replaceChildren(...marks);
  const width = `calc(var(--name) + ${kernel.cycles + 2} * var(--cell))`;
  element("chart").style.width = element("axis").style.width = width;
  element("chart").style.backgroundSize = `calc(${kernel.cycles + 1} * var(--cell)) 100%`;
  // Letters on bars that are too narrow for them would only be noise.
  for (const b of element("chart").querySelectorAll(".bar")) {
    const [from, to] = b.dataset.cycles.split("-");
    const size = (to - from) * cell < 6.5 * b.textContent.length ? "0px" : "";
    if (b.style.fontSize !== size) b.style.fontSize = size;
  }
}

kernels.forEach((kernel, number) => {
  const option = make("option", "", kernel.title);
  option.value = number;
  element("kernel").append(option);
});
element("choice").hidden = kernels.length < 2;
element("kernel").addEventListener("change", event => show(Number(event.target.value)));
element("zoom").addEventListener("input", event => {
  cell = Number(event.target.value);
  document.documentElement.style.setProperty("--cell", `${cell}px`);
  axis();
  choose(chosen);
});
element("apart").addEventListener("change", event => { foldAll(event.target.checked); keep(kept && shown(kept)); });
addEventListener("resize", () => choose(chosen));

const entryAt = target => {
  const row = target.closest(".row");
  return row ? rows[Number(row.dataset.row)] : null;
};

function keep(entry) {
  for (const other of element("chart").querySelectorAll('.row[tabindex="0"]')) other.tabIndex = -1;
  (entry || rows[0]).row.tabIndex = 0;
  kept = entry;
  choose(entry);
}

const chart = element("chart");
chart.addEventListener("mouseover", event => {
  const entry = entryAt(event.target);
  if (entry) choose(entry);
});
chart.addEventListener("mouseleave", () => choose(kept));
chart.addEventListener("focusin", event => {
  const entry = entryAt(event.target);
  if (entry && entry !== kept) keep(entry);
});
chart.addEventListener("click", event => {
  const entry = entryAt(event.target);
  if (!entry) return;
  if (event.target.closest(".fold")) fold(entry, entry.row.getAttribute("aria-expanded") === "false");
  entry.row.focus({preventScroll: true});
  keep(entry);
});
chart.addEventListener("keydown", event => {
  const entry = entryAt(event.target);
  if (!entry) return;
  const visible = rows.filter(other => !other.row.hidden), at = visible.indexOf(entry);
  const open = entry.row.getAttribute("aria-expanded");
  let next = null;
  if (event.key === "ArrowDown") next = visible[at + 1];
  else if (event.key === "ArrowUp") next = visible[at - 1];
  else if (event.key === "Home") next = visible[0];
  else if (event.key === "End") next = visible[visible.length - 1];
  else if (event.key === "ArrowLeft" && entry.head) next = entry.head;
  else if (event.key === "ArrowRight" && open === "true") next = entry.parts[0];
  else if ((event.key === "ArrowLeft" && open === "true") || (event.key === "ArrowRight" && open === "false")) {
    fold(entry, open === "false");
    choose(entry);
  } else if (event.key === "Escape") {
    entry.row.blur();
    keep(null);
  } else return;
  event.preventDefault();
  if (next) next.row.focus();
});
show(0);
"""
