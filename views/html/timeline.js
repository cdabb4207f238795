// The timeline: rows are instructions with their µops, columns are cycles. Pointing at a row, or moving to it by keyboard,
// describes its life, and draws its producers and consumers. One kernel is shown at a time.
const Timeline = (() => {
  const HINT = "Point at a row, or go through the rows with the arrow keys (left and right fold an instruction): " +
    "what it did when, what fed it and what it feeds. Click to keep a row, Escape to let it go.";
  const KINDS = {load: "load", compute: "compute", branch: "branch", "store-address": "store address",
    "store-data": "store data", renamer: "renamer"};
  const element = Dom.byId;
  let cell = 14, kernel = null, rows = [], kept = null, chosen = null;

  function make(tag, className, text) {
    const made = document.createElement(tag);
    made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  // A row with several folded µops has a lane for each.
  function bar(row, from, to, state, letter, lane, lanes) {
    if (to <= from) return;
    const b = make("div", `bar ${state}`);
    // The style shows the letter; screen readers announce only the row's instruction.
    b.dataset.letter = letter || "";
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

  // An instruction without µops only retires.
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
    row.tabIndex = -1;
    const name = make("span", "name");
    name.title = label;
    row.append(name);
    parent.append(row);
    rows.push({row, uop: -1, parts: []});
    return rows[rows.length - 1];
  }

  // The data of data.py, expanded: instructions by name, times as cycles.
  function unpacked(data) {
    const {cycles, names, events, uops} = data.timeline;
    const sums = steps => { let sum = 0; return steps.map(step => (sum += step)); };
    return {
      cycles,
      instructions: data.instructions.map(([line, text, ports, remarks]) => ({line, text, uops: ports, remarks})),
      events: events.map(([iteration, index, ...steps]) => [iteration, index, ...sums(steps)]),
      uops: uops.map((row, number) => {
        const [event, kind, port] = row, times = sums(row.slice(3, 9)), inputs = [];
        for (let n = 10; n < row.length; n += 5) {
          const [back, how, via, arrived, latency] = row.slice(n, n + 5);
          inputs.push([number - back, names[how], names[via], arrived + times[0], latency]);
        }
        return {place: events[event].slice(0, 2), kind: names[kind], port: names[port], times, inputs,
          last: row[9] < 0 ? null : row[9]};
      }),
    };
  }

  function show(data) {
    kernel = unpacked(data);
    rows = [];
    kept = null;
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
    const arrows = Dom.svg("svg");
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
    if (waits.length) text += `\nwaited ${waits.join("; ")}`;
    for (const input of uop.inputs) text += `\n← ${nameOf(kernel.uops[input[0]])} ${carried(uop, input)}`;
    for (const [index, input] of uop.feeds)
      text += `\n→ ${nameOf(kernel.uops[index])} ${carried(uop, input)}`;
    return text;
  }

  function describe(entry) {
    const head = entry.head || entry, [iteration, index, dispatched, started, executed, retired] = head.event;
    const i = kernel.instructions[index];
    let text = `[${iteration},${index}]${i.line ? ` ${kernel.numbered === "asm" ? "asm" : "line"} ${i.line}` : ""}: ${i.text}`;
    if (i.uops) text += ` (${i.uops})`;
    if (i.remarks) text += `; ${i.remarks}`;
    if (entry.uop >= 0) return `${text}\n${tell(kernel.uops[entry.uop])}`;
    text += `\ndispatched in cycle ${dispatched}, started ${started}, executed ${executed}, retired ${retired}`;
    return text + entry.parts.map(part => `\n${tell(kernel.uops[part.uop]).split("\n", 2).join("; ")}`).join("");
  }

  function arrow(svg, from, to, input, className) {
    const [, kind, via, arrived, latency] = input;
    const group = Dom.svg("g"), left = rows[0].row.firstChild.offsetWidth;
    const a = shown(from.entry), b = shown(to.entry);
    const y = entry => entry.row.offsetTop + entry.row.offsetHeight / 2;
    const x1 = left + Math.min(arrived, from.times[4]) * cell, x2 = left + arrived * cell, y1 = y(a), y2 = y(b);
    const bend = Math.min(24, 8 + Math.abs(y2 - y1) / 6);
    const add = (tag, attributes) => {
      const made = Dom.svg(tag, attributes);
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
    // Omit letters on bars that are too narrow for them.
    for (const b of element("chart").querySelectorAll(".bar")) {
      const [from, to] = b.dataset.cycles.split("-");
      const size = (to - from) * cell < 6.5 * b.dataset.letter.length ? "0px" : "";
      if (b.style.fontSize !== size) b.style.fontSize = size;
    }
  }

  element("zoom").addEventListener("input", event => {
    cell = Number(event.target.value);
    document.documentElement.style.setProperty("--cell", `${cell}px`);
    axis();
    choose(chosen);
  });
  element("apart").addEventListener("change", event => { foldAll(event.target.checked); keep(kept && shown(kept)); });
  addEventListener("resize", () => { if (kernel) choose(chosen); });

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
      if (!kept) return;
      event.stopPropagation();
      keep(null);
      entry.row.blur();
    } else return;
    event.preventDefault();
    if (next) next.row.focus();
  });

  return {show};
})();
