"""The timeline as one self-contained HTML page: rows are instructions, columns cycles; pointing at an instruction
explains its life and shows what it waited for. Opens offline in a browser."""

from __future__ import annotations

from incc.driver.views.page import Html, document, escaped, script_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
        Html(f'{_BODY_START}<span class="muted">{tool}</span>{_BODY_END}'),
        f"const kernels = {script_json(kernels)};\n{_SCRIPT}",
    )


def _kernel(unit: t.Unit, kernel: t.Kernel, timeline: t.Timeline) -> dict[str, Any]:
    """What the page needs of a kernel, in short keys."""
    source = kernel["source"]
    file, first, last = unit["assembly_file"], kernel["first_line"], kernel["last_line"]
    place = f"{source['file']}:{source['line']}" if source else f"{file}:{first}-{last}" if first else file
    name = kernel["function_name"] or kernel["name"]
    more = [part["text"] for part in (kernel["elements"], kernel["rates"]) if part]
    more += [kernel["role"]["text"]] if kernel["role"]["of"] else []
    return {
        "title": f"{name}, {place}" if name else place,
        "model": "; ".join([text for text in more if text] + [unit["model"]["title"]]),
        "verdict": kernel["verdict"],
        "cycles": timeline["cycles"],
        "instructions": [
            {
                "line": i["line"],
                "text": i["text"],
                "uops": i["ports"],
                "latency": i["latency"],
                "remarks": i["remarks"],
            }
            for i in kernel["instructions"]
        ],
        "events": [
            [
                e["iteration"],
                e["instruction"],
                e["dispatched"],
                e["earliest"],
                e["ready"],
                e["started"],
                e["executed"],
                e["retired"],
                ["-" if p is None else p for p in e["ports"]],
            ]
            for e in timeline["events"]
        ],
        "dependencies": [
            [d["from"], d["to"], d["distance"], d["via"] or d["kind"], d["latency"]] for d in kernel["dependencies"]
        ],
    }


_STYLE = """\
:root { --cell: 14px; --row: 18px; --name: min(420px, 45vw);
  --dispatched: #757575; --way: #c4c4c4; --waiting: #f2c14e; --port: #e08214; --executing: #3b7dd8; --done: #cfe0f5;
  --retired: #2e7d32; --mark: #d81b60; }
@media (prefers-color-scheme: dark) { :root { --done: #2a3f5c; } }
body { height: 100vh; display: flex; flex-direction: column; }
header { background: var(--head); padding: 8px 12px; border-bottom: 1px solid var(--grid);
  max-height: 50vh; overflow: auto; flex: none; }
main { flex: 1; overflow: auto; }
.verdict { margin: 0 0 6px; }
.controls { display: flex; gap: 18px; align-items: center; flex-wrap: wrap; }
.key { display: inline-flex; align-items: center; gap: 4px; }
.key i { width: 12px; height: 12px; display: inline-block; border-radius: 2px; }
#detail { min-height: 3.9em; margin-top: 6px; white-space: pre-wrap; font: 12px/1.3 ui-monospace, monospace; }
#chart { position: relative; background: repeating-linear-gradient(to right, var(--grid) 0 1px,
  transparent 1px calc(5 * var(--cell))) var(--name) 0 no-repeat; }
.row { height: var(--row); position: relative; white-space: nowrap; }
.row.first { border-top: 1px solid var(--muted); }
.row.hit { background: color-mix(in srgb, var(--executing) 14%, transparent); }
.row.cause { background: color-mix(in srgb, var(--mark) 18%, transparent); }
.name { position: sticky; left: 0; z-index: 2; display: inline-block; width: var(--name); height: var(--row);
  overflow: hidden; text-overflow: ellipsis; white-space: pre; background: var(--paper);
  border-right: 1px solid var(--grid);
  padding-left: 8px; box-sizing: border-box; font: 12px/var(--row) ui-monospace, monospace; }
.row.hit .name { background: color-mix(in srgb, var(--executing) 14%, var(--paper)); }
.row.cause .name { background: color-mix(in srgb, var(--mark) 18%, var(--paper)); }
.bar { position: absolute; top: 3px; height: calc(var(--row) - 6px); }
.tick { position: absolute; top: 0; font: 10px/16px ui-monospace, monospace; color: var(--muted); padding-left: 2px;
  border-left: 1px solid var(--grid); height: 100%; pointer-events: none; }
#axis { position: sticky; top: 0; z-index: 3; height: 16px; background: var(--paper); }
#axis .name { height: 16px; line-height: 16px; color: var(--muted); z-index: 4; }
"""

_BODY_START = """\
<header>
<h1 id="title"></h1>
<p class="verdict"><span id="verdict"></span> <span class="muted" id="model"></span></p>
<div class="controls">
<label id="choice">Kernel <select id="kernel"></select></label>
<label>Zoom <input id="zoom" type="range" min="3" max="40" value="14"></label>
<span class="key"><i style="background:var(--dispatched)"></i>dispatched</span>
<span class="key"><i style="background:var(--way)"></i>on its way to a port</span>
<span class="key"><i style="background:var(--waiting)"></i>waits for inputs</span>
<span class="key"><i style="background:var(--port)"></i>waits for a port</span>
<span class="key"><i style="background:var(--executing)"></i>executes</span>
<span class="key"><i style="background:var(--done)"></i>waits to retire</span>
<span class="key"><i style="background:var(--retired)"></i>retired</span>
"""

_BODY_END = """
</div>
<div id="detail" class="muted"></div>
</header>
<main>
<div id="axis"></div>
<div id="chart"></div>
</main>"""

_SCRIPT = """\
const HINT = "Point at an instruction: what it did when, on which ports, and what it waited for.";
const element = id => document.getElementById(id);
let cell = 14;

function bar(row, from, to, colour) {
  if (to <= from) return;
  const b = document.createElement("div");
  b.className = "bar";
  b.style.left = `calc(var(--name) + ${from} * var(--cell))`;
  b.style.width = `calc(${to - from} * var(--cell))`;
  b.style.background = `var(--${colour})`;
  row.append(b);
}

function describe(kernel, byPlace, event) {
  const [iteration, index, dispatched, earliest, ready, started, executed, retired, ports] = event;
  const i = kernel.instructions[index];
  const causes = [];
  let text = `[${iteration},${index}] line ${i.line}: ${i.text}\\n`;
  text += `dispatched in cycle ${dispatched}, at its port ${earliest}, inputs ready ${ready}, started ${started}, `;
  text += `executed ${executed}, retired ${retired}`;
  if (ports.length) text += `; ports ${ports.join(" ")}`;
  if (i.uops) text += ` (${i.uops})`;
  if (i.remarks) text += `; ${i.remarks}`;
  const waited = [];
  for (const [from, to, distance, via, latency] of kernel.dependencies) {
    if (to !== index || (from === index && distance === 0)) continue;
    const producer = byPlace.get(`${iteration - distance},${from}`);
    if (!producer) continue;
    causes.push(producer);
    waited.push(`[${iteration - distance},${from}] through ${via} (+${latency}), executed ${producer.event[6]}`);
  }
  text += waited.length ? `\\ninputs from ${waited.join("; ")}` : "\\nno inputs from shown instructions";
  return [text, causes];
}

function show(number) {
  const kernel = kernels[number], chart = element("chart"), byPlace = new Map();
  element("title").textContent = kernel.title;
  element("verdict").textContent = kernel.verdict.charAt(0).toUpperCase() + kernel.verdict.slice(1) + ".";
  element("model").textContent = kernel.model;
  element("detail").textContent = HINT;
  chart.replaceChildren();
  for (const event of kernel.events) {
    const [iteration, index, dispatched, earliest, ready, started, executed, retired] = event;
    const row = document.createElement("div"), name = document.createElement("span");
    row.className = index === 0 ? "row first" : "row";
    name.className = "name";
    name.textContent = `${String(iteration).padStart(2)} ${String(kernel.instructions[index].line).padStart(5)}  ` +
      kernel.instructions[index].text;
    name.title = kernel.instructions[index].text;
    row.append(name);
    const arrived = Math.min(Math.max(earliest, dispatched + 1), started);
    const inputs = Math.min(Math.max(ready, arrived), started);
    bar(row, dispatched, dispatched + 1, "dispatched");
    bar(row, dispatched + 1, arrived, "way");
    bar(row, arrived, inputs, "waiting");
    bar(row, Math.max(inputs, dispatched + 1), started, "port");
    bar(row, Math.max(started, dispatched + 1), executed, "executing");
    bar(row, Math.max(executed, dispatched + 1), retired, "done");
    bar(row, retired, retired + 1, "retired");
    byPlace.set(`${iteration},${index}`, {event, row});
    row.addEventListener("mouseenter", () => {
      const [text, causes] = describe(kernel, byPlace, event);
      element("detail").textContent = text;
      row.classList.add("hit");
      for (const cause of causes) cause.row.classList.add("cause");
    });
    row.addEventListener("mouseleave", () => {
      for (const r of chart.querySelectorAll(".hit, .cause")) r.classList.remove("hit", "cause");
    });
    chart.append(row);
  }
  axis(kernel);
}

function axis(kernel) {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter(s => s * cell >= 30);
  const step = steps[0] || 1000, marks = [];
  const heading = document.createElement("span");
  heading.className = "name";
  heading.textContent = "It.  Line  Instruction";
  marks.push(heading);
  for (let c = 0; c <= kernel.cycles; c += step) {
    const t = document.createElement("div");
    t.className = "tick";
    t.style.left = `calc(var(--name) + ${c} * var(--cell))`;
    t.textContent = c;
    marks.push(t);
  }
  element("axis").replaceChildren(...marks);
  const width = `calc(var(--name) + ${kernel.cycles + 2} * var(--cell))`;
  element("chart").style.width = element("axis").style.width = width;
  element("chart").style.backgroundSize = `calc(${kernel.cycles + 1} * var(--cell)) 100%`;
}

kernels.forEach((kernel, number) => {
  const option = document.createElement("option");
  option.value = number;
  option.textContent = kernel.title;
  element("kernel").append(option);
});
element("choice").hidden = kernels.length < 2;
element("kernel").addEventListener("change", event => show(Number(event.target.value)));
element("zoom").addEventListener("input", event => {
  cell = Number(event.target.value);
  document.documentElement.style.setProperty("--cell", `${cell}px`);
  axis(kernels[Number(element("kernel").value) || 0]);
});
show(0);
"""
