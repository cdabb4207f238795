// The dependency graph of a kernel, drawn from top to bottom in the order of time. A node is at the cycle in which the
// instruction's result would be ready if an iteration ran alone with all its inputs; the critical path is the longest path in
// this sense. Rows keep that order and are labelled with the cycle. Their distance follows the cycles only roughly, because long
// divisions would otherwise leave large gaps. Dependencies into later iterations are dashed and run at the right.
const Graph = (() => {
  const HEIGHT = 24, ACROSS = 16, LEFT = 46, TOP = 26, LANE = 9, LETTER = 6.7;
  const MOST = 400;  // nodes that are drawn without a request: larger graphs are illegible
  const HINT = "Point at an instruction or an arrow, or go through the instructions with Tab and the arrow keys.";
  const {make, svg, byId, cycles} = Dom;

  // Returns the time of each instruction's result, in cycles from the start of the iteration.
  function readyTimes(kernel) {
    const ready = kernel.instructions.map(instruction => instruction[4]);
    const sorted = kernel.edges.filter(([from, to, , , distance]) => !distance && from < to).sort((a, b) => a[0] - b[0]);
    for (const [from, to, , latency] of sorted) ready[to] = Math.max(ready[to], ready[from] + latency);
    // The second half of a macro-fused pair has no result of its own.
    kernel.instructions.forEach((instruction, index) => {
      if (index && instruction[3].includes("F")) ready[index] = ready[index - 1];
    });
    return ready;
  }

  // Returns rows of instructions with the same time. An instruction that depends on another one of its time with no latency is in
  // a row below it, and no row has more than `room` instructions.
  function rowsOf(kernel, ready, room) {
    const depth = kernel.instructions.map(() => 0);
    const within = kernel.edges.filter(([from, to, , , distance]) => !distance && from < to);
    within.sort((a, b) => a[0] - b[0]);
    for (const [from, to] of within) if (ready[from] === ready[to]) depth[to] = Math.max(depth[to], depth[from] + 1);
    const byKey = new Map();
    ready.forEach((time, index) => {
      const key = `${time} ${depth[index]}`;
      if (!byKey.has(key)) byKey.set(key, {time, depth: depth[index], nodes: []});
      byKey.get(key).nodes.push(index);
    });
    const rows = [...byKey.values()].sort((a, b) => a.time - b.time || a.depth - b.depth);
    return rows.flatMap(({time, nodes}) => {
      const parts = Math.ceil(nodes.length / room), size = Math.ceil(nodes.length / parts);
      return Array.from({length: parts}, (_, n) => ({time, nodes: nodes.slice(n * size, (n + 1) * size)}));
    });
  }

  // Returns the horizontal places of instructions, and of the points at which edges longer than a row pass other rows. Sweeps
  // down and up move each node towards its neighbours, a node's width apart. Edges of paths and chains pull harder, so that these
  // become straight. Edges from one instruction run together as far as possible.
  function placeAcross(kernel, rows, width) {
    const count = kernel.instructions.length, row = new Array(count).fill(0), tied = Array.from({length: count}, () => []);
    rows.forEach((r, number) => { for (const node of r.nodes) row[node] = number; });
    const through = new Map(), lines = rows.map(r => [...r.nodes]);
    const forward = kernel.edges.filter(([from, to, , , distance]) => !distance && row[from] < row[to]);
    const tie = (a, b, weight) => { tied[a].push([b, weight]); tied[b].push([a, weight]); };
    for (const [from, to, , , , path, chains] of forward) {
      const weight = 1 + 3 * path + (chains.includes(0) ? 2 : 0);
      if (!through.has(from)) through.set(from, []);
      const points = through.get(from);
      let last = from;
      for (let level = row[from] + 1; level < row[to]; level += 1) {
        const at = level - row[from] - 1;
        if (points[at] === undefined) {
          points[at] = row.length;
          row.push(level);
          tied.push([]);
          lines[level].push(points[at]);
        }
        tie(last, points[at], 2 * weight);
        last = points[at];
      }
      tie(last, to, weight);
    }
    // Nodes that are connected only across iterations should be near each other, too.
    for (const [from, to, , , distance] of kernel.edges) if (distance && row[from] !== row[to]) tie(from, to, 0.2);
    const room = (a, b) => ((a < count ? width : 4) + (b < count ? width : 4)) / 2 + (a < count || b < count ? ACROSS : 6);
    const x = new Array(row.length).fill(0);
    for (const nodes of lines) {
      const own = nodes.filter(node => node < count);
      own.forEach((node, n) => { x[node] = (n - (own.length - 1) / 2) * (width + ACROSS); });
    }
    for (const [from, points] of through) for (const point of points) x[point] = x[from] + width / 2;
    const wish = (node, above) => {
      let sum = 0, all = 0;
      for (const [other, weight] of tied[node]) {
        if ((row[other] < row[node]) !== above) continue;
        sum += weight * x[other];
        all += weight;
      }
      return all ? sum / all : x[node];
    };
    for (let sweep = 0; sweep < 16; sweep += 1) {
      const down = sweep % 2 === 0;
      for (const nodes of down ? lines : [...lines].reverse()) {
        const wishes = new Map(nodes.map(node => [node, wish(node, down)]));
        nodes.sort((a, b) => wishes.get(a) - wishes.get(b) || a - b);
        const left = [], right = [];
        nodes.forEach((node, n) => {
          const own = wishes.get(node);
          left[n] = n ? Math.max(own, left[n - 1] + room(nodes[n - 1], node)) : own;
        });
        for (let n = nodes.length - 1; n >= 0; n -= 1) {
          const own = wishes.get(nodes[n]);
          right[n] = n < nodes.length - 1 ? Math.min(own, right[n + 1] - room(nodes[n], nodes[n + 1])) : own;
        }
        nodes.forEach((node, n) => { x[node] = (left[n] + right[n]) / 2; });
      }
    }
    const least = Math.min(...x.map((value, node) => value - (node < count ? width / 2 : 0)));
    return {x: x.map(value => value - least), row, through};
  }

  function label(instruction) {
    return `${instruction[0]} ${instruction[1].trim().split(/\s/)[0]}`;
  }

  function where(kernel, index) {
    return `${{"Line": "line", "asm": "asm"}[kernel.numbered] || "no."} ${kernel.instructions[index][0]}`;
  }

  function iterations(distance) {
    return distance === 0 ? "" : distance === 1 ? " of the next iteration" : ` of ${distance} iterations later`;
  }

  function plural(count, word) {
    return `${count} ${word}${count === 1 ? "" : "s"}`;
  }

  function tellEdge(kernel, [from, to, via, latency, distance, path, chains]) {
    const on = [...(path ? ["the critical path"] : []), ...chains.map(chain => `chain ${chain + 1}`)];
    return `${where(kernel, from)} → ${where(kernel, to)}${iterations(distance)}: ${via}, ${plural(latency, "cycle")}` +
      (on.length ? `; on ${on.join(" and ")}` : "");
  }

  function tellNode(kernel, index, ready) {
    const [, text, ports, remarks, latency, path, , , source] = kernel.instructions[index];
    const chains = kernel.chains.flatMap((chain, number) => chain[4].includes(index) ? [number + 1] : []);
    const on = [...(path === null ? [] : [`the critical path (${plural(path, "cycle")})`]), ...chains.map(n => `chain ${n}`)];
    let told = `${kernel.instructions[index][0]} ${text.trim()}${ports ? ` (${ports})` : ""}; latency ${latency}, ` +
      `ready in cycle ${ready}`;
    if (on.length) told += `; on ${on.join(" and ")}`;
    if (remarks) told += `; ${[...remarks].map(mark => Assembly.REMARKS[mark]).join(", ")}`;
    if (source >= 0) told += `; ${kernel.sources[source][0]}`;
    const inputs = kernel.edges.filter(edge => edge[1] === index), outputs = kernel.edges.filter(edge => edge[0] === index);
    const end = ([, , via, cycles, distance]) => `${via} +${cycles}${distance ? `, ${distance === 1 ? "next iteration" :
      `${distance} iterations later`}` : ""}`;
    if (inputs.length) told += `\n← ${inputs.map(edge => `${where(kernel, edge[0])} (${end(edge)})`).join(", ")}`;
    if (outputs.length) told += `\n→ ${outputs.map(edge => `${where(kernel, edge[1])} (${end(edge)})`).join(", ")}`;
    return told;
  }

  // Draws everything except the controls. `state`: `path` (true if the critical path is marked), `chain` (the marked chain, -1
  // for none), `later` (show all dependencies into later iterations, or only those of chains).
  function draw(kernel, state, room) {
    const ready = readyTimes(kernel);
    const width = Math.max(56, ...kernel.instructions.map(i => label(i).length * LETTER + 16)), step = width + ACROSS;
    const onChain = edge => edge[6].includes(state.chain);
    const shown = kernel.edges.filter(edge => !edge[4] || state.later || edge[6].length || edge[5]);
    const around = shown.filter(edge => edge[4] && edge[0] !== edge[1]);
    const lanes = [...new Set(around.map(edge => edge[0]))];
    const rows = rowsOf(kernel, ready, Math.max(2, Math.floor((room - LEFT - lanes.length * LANE - 40) / step)));
    const placed = placeAcross(kernel, rows, width), at = placed.x.map(x => x + LEFT);
    const top = new Array(at.length).fill(0), tops = [];
    let y = TOP;
    const marks = [];
    rows.forEach((row, number) => {
      const before = rows[number - 1];
      if (before) y += HEIGHT + (before.time === row.time ? 18 : Math.min(Math.max(6 * (row.time - before.time), 26), 64));
      if (!before || before.time !== row.time) marks.push([row.time, y]);
      tops[number] = y;
    });
    placed.row.forEach((number, node) => { top[node] = tops[number]; });
    const right = Math.max(...at.map((x, node) => x + (node < kernel.instructions.length ? width / 2 : 0))) + 14, whole = right + lanes.length * LANE + 44, high = y + HEIGHT + 24;
    const centre = node => at[node], left = at.map(x => x - width / 2);

    function line([from, to, , , distance]) {
      const x1 = centre(from), y1 = top[from] + HEIGHT, x2 = centre(to), y2 = top[to] - 5;
      if (from === to) {
        const x = left[from] + width, middle = top[from] + HEIGHT / 2;
        return {d: `M${x} ${middle + 6}c16 5 16 -17 5 -12`, x: x + 34, y: middle + 3, head: `M${x} ${middle - 6}l7 -4v8z`};
      }
      const head = `M${x2} ${y2 + 5}l-4 -7h8z`;
      if (!distance) {
        if (y2 <= y1) {  // next to each other, in rows of the same time
          return {d: `M${x1} ${y1}C${x1} ${y1 + 18} ${x2} ${y2 - 18} ${x2} ${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2, head};
        }
        const points = (placed.through.get(from) || []).slice(0, placed.row[to] - placed.row[from] - 1);
        let d = `M${x1} ${y1}`, x = x1, y = y1;
        const curve = (x3, y3) => {
          const bend = (y3 - y) / 2;
          d += `C${x} ${y + bend} ${x3} ${y3 - bend} ${x3} ${y3}`;
          [x, y] = [x3, y3];
        };
        for (const point of points) {
          curve(at[point], top[point]);
          d += `V${y += HEIGHT}`;
        }
        const middle = [(x + x2) / 2, (y + y2) / 2 + 3];
        curve(x2, y2);
        return {d, x: middle[0], y: middle[1], head};
      }
      const lane = lanes.indexOf(from), x = right + LANE * lane + 8, off = lane % 3 * 2, low = y1 + 6 + off, up = top[to] - 12 - off;
      return {d: `M${x1 + 8} ${y1}V${low}H${x}V${up}H${x2 + 10}V${y2}`, x: x2 + 22, y: up - 2,
        head: `M${x2 + 10} ${y2 + 5}l-4 -7h8z`};
    }

    const edges = shown.map(edge => {
      const {d, x, y: middle, head} = line(edge), [from, to, via, latency, distance, path] = edge;
      const strong = (state.path && path) || onChain(edge);
      const names = `edge${distance ? " later" : ""}${state.path && path ? " cp" : ""}${onChain(edge) ? " lcd" : ""}`;
      return svg("g", {class: names, "data-from": from, "data-to": to, "data-strong": strong},
        svg("title", {}, tellEdge(kernel, edge)),
        svg("path", {class: "near", d}), svg("path", {class: "line", d}), svg("path", {class: "head", d: head}),
        svg("text", {x, y: middle}, `${strong && !distance ? "" : `${via} `}+${latency}`));
    });
    // Draw marked elements above the rest.
    edges.sort((a, b) => a.hasAttribute("data-strong") - b.hasAttribute("data-strong"));
    const nodes = kernel.instructions.map((instruction, index) => {
      const path = state.path && instruction[5] !== null;
      const chain = state.chain >= 0 && kernel.chains[state.chain][4].includes(index);
      return svg("g", {class: `node${path ? " cp" : ""}${chain ? " lcd" : ""}${instruction[3].includes("X") ? " unknown" : ""}`,
        role: "option", tabindex: index ? -1 : 0, "aria-selected": "false", "data-index": index,
        "aria-label": tellNode(kernel, index, ready[index]), transform: `translate(${left[index]} ${top[index]})`},
      svg("rect", {width, height: HEIGHT, rx: 3}),
      svg("text", {x: 8, y: 16}, svg("tspan", {class: "number"}, instruction[0]), ` ${instruction[1].trim().split(/\s/)[0]}`));
    });
    const tags = kernel.instructions.flatMap((instruction, index) => {
      const path = state.path && instruction[5] !== null;
      const chain = state.chain >= 0 && kernel.chains[state.chain][4].includes(index);
      const tag = svg("text", {class: `tag ${chain ? "lcd" : "cp"}`, x: left[index] + width - 3, y: top[index] - 3});
      tag.textContent = [...(path ? ["CP"] : []), ...(chain ? ["LCD"] : [])].join(" ");
      return path || chain ? [tag] : [];
    });
    const axis = svg("g", {class: "axis", "aria-hidden": "true"},
      svg("text", {x: 0, y: 12}, "Cycle"),
      ...marks.flatMap(([time, at]) => [
        svg("line", {x1: LEFT - 14, x2: whole, y1: at + HEIGHT / 2, y2: at + HEIGHT / 2}),
        svg("text", {x: LEFT - 20, y: at + HEIGHT / 2 + 4, class: "time"}, String(time))]));
    const drawn = svg("svg", {width: whole, height: high, viewBox: `0 0 ${whole} ${high}`, role: "listbox",
      "aria-label": "Instructions by the cycle in which their results are ready"},
    axis, svg("g", {class: "edges", "aria-hidden": "true"}, ...edges), ...nodes,
    svg("g", {"aria-hidden": "true"}, ...tags));
    const told = index => tellNode(kernel, index, ready[index]);
    return {drawn, nodes, edges, told, centre, top};
  }

  let kept = null, current = null;

  // Marks an instruction with its edges, or none. Other views of instructions are notified by `onChoose`.
  function mark(index, words) {
    if (!current) return;
    const {nodes, edges, told} = current, info = byId("graph-info");
    current.drawn.classList.toggle("chosen", index !== null);
    nodes.forEach((node, n) => {
      node.classList.toggle("hit", n === index);
      node.setAttribute("aria-selected", n === index ? "true" : "false");
    });
    for (const edge of edges) {
      const own = index !== null && (Number(edge.dataset.from) === index || Number(edge.dataset.to) === index);
      edge.classList.toggle("on", own);
    }
    info.textContent = words || (index === null ? HINT : told(index));
    info.classList.toggle("muted", index === null && !words);
  }

  function nearest(index, key) {
    const {centre, top, nodes} = current, x = centre(index), y = top[index];
    let best = null, least = Infinity;
    nodes.forEach((_, other) => {
      const dx = centre(other) - x, dy = top[other] - y;
      const along = {ArrowDown: dy, ArrowUp: -dy, ArrowRight: dx, ArrowLeft: -dx}[key];
      const beside = Math.abs(key === "ArrowDown" || key === "ArrowUp" ? dx : dy);
      if (other === index || along <= 0) return;
      const far = along + (key === "ArrowDown" || key === "ArrowUp" ? beside / 3 : 8 * beside);
      if (far < least) [best, least] = [other, far];
    });
    return best;
  }

  function listen(onChoose) {
    const {drawn, nodes} = current;
    const at = target => target.closest(".node") ? Number(target.closest(".node").dataset.index) : null;
    const choose = index => { mark(index); onChoose(index); };
    drawn.addEventListener("mouseover", event => {
      const index = at(event.target), edge = event.target.closest(".edge");
      if (index !== null) choose(index);
      else if (edge) {
        choose(kept);
        edge.classList.add("on");
        byId("graph-info").textContent = edge.querySelector("title").textContent;
      } else choose(kept);
    });
    drawn.addEventListener("mouseleave", () => choose(kept));
    drawn.addEventListener("focusin", event => {
      kept = at(event.target);
      nodes.forEach((node, n) => { node.setAttribute("tabindex", n === kept ? 0 : -1); });
      choose(kept);
    });
    drawn.addEventListener("click", event => {
      const index = at(event.target);
      if (index === null) {
        kept = null;
        choose(null);
      } else nodes[index].focus({preventScroll: true});
    });
    drawn.addEventListener("keydown", event => {
      const index = at(event.target);
      if (index === null || event.ctrlKey || event.altKey || event.metaKey) return;
      let next = null;
      if (event.key === "Home") next = 0;
      else if (event.key === "End") next = nodes.length - 1;
      else if (event.key.startsWith("Arrow")) next = nearest(index, event.key);
      else if (event.key === "Escape") {
        kept = null;
        nodes[index].blur();
        choose(null);
        event.stopPropagation();
      } else return;
      event.preventDefault();
      if (next !== null) nodes[next].focus();
    });
  }

  return {
    // Draws a kernel and its controls into `place`.
    show(kernel, place, onChoose) {
      kept = current = null;
      const state = {path: true, chain: kernel.chains.length ? 0 : -1, later: false};
      const later = kernel.edges.filter(edge => edge[4] && edge[0] !== edge[1] && !edge[6].length);
      state.later = later.length <= 6;
      const box = make("div", {id: "graph-box"}), info = make("div", {id: "graph-info", class: "info", role: "status"});
      const redraw = () => {
        current = draw(kernel, state, box.clientWidth || 1000);
        box.replaceChildren(current.drawn);
        listen(onChoose);
        mark(kept);
      };
      const box1 = make("input", {type: "checkbox", id: "graph-path", checked: true});
      box1.addEventListener("change", () => { state.path = box1.checked; redraw(); });
      const box2 = make("input", {type: "checkbox", id: "graph-later", checked: state.later});
      box2.addEventListener("change", () => { state.later = box2.checked; redraw(); });
      const chains = make("select", {id: "graph-chain"}, make("option", {value: -1}, "none"),
        ...kernel.chains.map(([each, , , through], number) => make("option", {value: number, selected: number === 0},
          `${number + 1}: ${cycles(each)} cycles / iteration through ${through.join(", ")}`)));
      chains.addEventListener("change", () => { state.chain = Number(chains.value); redraw(); });
      place.replaceChildren(make("div", {class: "controls"},
        make("label", {}, box1, " ", make("span", {class: "cp key"}, `critical path, ${plural(kernel.path[0], "cycle")}`)),
        kernel.chains.length ? make("label", {}, make("span", {class: "lcd key"}, "loop-carried chain"), " ", chains) : "",
        later.length ? make("label", {}, box2, ` other dependencies into later iterations (${later.length})`) : ""),
      box, info);
      if (kernel.instructions.length > MOST) {
        const button = make("button", {type: "button"}, `Draw ${kernel.instructions.length} instructions`);
        button.addEventListener("click", redraw);
        box.append(button);
      } else if (kernel.instructions.length) redraw();
      this.redraw = redraw;
    },
    mark: index => mark(index === null ? kept : index),
    resized() { if (current) this.redraw(); },
  };
})();
