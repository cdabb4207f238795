// The instructions of a kernel as a table: lines, pressure on each port, latency, each one's part of the critical path and of the
// longest chain, marks, and the source line. `choose(index)` marks an instruction, `onChoose` is called when one is chosen.
const Assembly = {
  REMARKS: {X: "not in the model", F: "macro-fused with the one before", E: "eliminated by the renamer",
    Z: "zero idiom", D: "figures derived from another form",
    L: "lacking on this core, figures of another"},

  table(kernel, onChoose) {
    const {make} = Dom;
    // Leave out unused ports, which the bars show already.
    const used = kernel.resources.map((resource, number) => number).filter(number => kernel.resources[number][2] > 0);
    const most = Math.max(1, ...kernel.instructions.map(i => Math.max(0, ...i[7].filter((_, n) => n % 2))));
    const sources = new Set(kernel.instructions.map(i => i[8]).filter(s => s >= 0));
    const withSource = sources.size > 1 || [...sources].some(s => kernel.sources[s][1] !== null);
    const head = make("tr", {},
      make("th", {scope: "col", class: "number"}, kernel.numbered),
      ...used.map(number => {
        const [name, title, , busiest] = kernel.resources[number];
        return make("th", {scope: "col", class: `port ${busiest ? "busiest" : ""}`,
          title: `${title}, cycles${busiest ? "; busiest" : ""}`}, name);
      }),
      make("th", {scope: "col", class: "number", title: "Latency: cycles from the slowest input to the slowest result"}, "Lat."),
      make("th", {scope: "col", class: "number", title: "Cycles that it adds to the critical path"}, "CP"),
      make("th", {scope: "col", class: "number", title: "Cycles that it adds to the longest loop-carried dependency"}, "LCD"),
      make("th", {scope: "col", title: "X unknown, F fused, E eliminated, Z zero idiom, D derived, L lacking"}, "Marks"),
      make("th", {scope: "col"}, "Instruction"),
      withSource ? make("th", {scope: "col"}, "Source") : "");
    let before = -2;
    const rows = kernel.instructions.map((instruction, index) => {
      const [line, text, ports, remarks, latency, path, chain, pressure, source] = instruction;
      const load = new Map();
      for (let n = 0; n < pressure.length; n += 2) load.set(pressure[n], pressure[n + 1]);
      const unknown = remarks.includes("X");
      const same = source === before;
      before = source;
      const cells = used.map(number => {
        const value = load.get(number) || 0;
        const heat = value ? Math.ceil(6 * Math.min(value / most, 1)) : 0;
        return make("td", {class: `port heat${heat}`}, unknown ? "X" : value ? value.toFixed(2) : "");
      });
      const [place, words] = source >= 0 ? kernel.sources[source] : ["", null];
      const meanings = [...remarks].map(mark => Assembly.REMARKS[mark]).join("; ");
      const at = source >= 0 ? Number(/\d+$/.exec(place)[0]) : Number(line);
      return make("tr", {"data-index": index, "data-source": at, style: `--hue: ${Math.round((at * 137.5) % 360)}`, class: `${same ? "same" : "new"} ${unknown ? "unknown" : ""}`},
        make("th", {scope: "row", class: "number"}, line),
        ...cells,
        make("td", {class: "number"}, unknown ? "X" : latency),
        make("td", {class: `number ${path === null ? "" : "cp"}`}, path === null ? "" : path),
        make("td", {class: `number ${chain === null ? "" : "lcd"}`}, chain === null ? "" : chain),
        make("td", {class: "marks", title: meanings}, remarks),
        make("td", {class: "code", title: ports}, text),
        !withSource ? "" : make("td", {class: "source", title: words === null ? place : `${place} ${words}`}, same ? "" : make("span", {class: "muted"}, place),
          same || words === null ? "" : make("code", {}, words)));
    });
    const longest = kernel.chains.length ? kernel.chains[0][1] : "";
    const foot = make("tr", {},
      make("th", {scope: "row", class: "number"}, "∑"),
      ...used.map(number => make("td", {class: "port"}, kernel.resources[number][2].toFixed(2))),
      make("td", {}), make("td", {class: "number"}, kernel.path[0]), make("td", {class: "number"}, longest),
      make("td", {}), make("td", {}), withSource ? make("td", {}) : "");
    const table = make("table", {class: "assembly"},
      make("caption", {}, "Cycles on each port in an iteration, latency, and cycles on the critical path (CP) and the longest " +
        "loop-carried dependency (LCD)"),
      make("thead", {}, head), make("tbody", {}, ...rows), make("tfoot", {}, foot));
    table.tBodies[0].addEventListener("mouseover", event => {
      const row = event.target.closest("tr");
      if (row) onChoose(Number(row.dataset.index));
    });
    table.tBodies[0].addEventListener("mouseleave", () => onChoose(null));
    return table;
  },

  choose(index) {
    for (const row of document.querySelectorAll("table.assembly tbody tr")) {
      row.classList.toggle("hit", index !== null && Number(row.dataset.index) === index);
    }
  },
};
