// A kernel: its verdict and notes, bars, and the views of its instructions, which highlight the same instruction in each other.
const KernelView = (() => {
  const {byId, make, cycles} = Dom;

  function paragraphs(kernel) {
    return [
      ...kernel.more.map(text => make("p", {}, text)),
      ...kernel.notes.map(text => make("p", {class: "note"}, text)),
      make("details", {}, make("summary", {}, kernel.facts[0]), ...kernel.facts.slice(1).map(text => make("p", {}, text))),
    ];
  }

  function bounds(kernel) {
    const rows = kernel.bounds.map(([name, value, by, limits]) =>
      ({name, value, text: by, mark: limits ? "limits" : "", kind: "bound"}));
    rows.unshift({name: "Prediction", value: kernel.cycles, kind: "prediction",
      text: `${kernel.atLeast ? "at least; " : ""}${kernel.by === "simulation" ? "simulated" : "the largest bound"}`});
    if (kernel.measured !== null) {
      rows.splice(1, 0, {name: "Measured", value: kernel.measured, kind: "prediction", text: "where the report was made"});
    }
    const changed = kernel.whatIfs.map(([change, value, gained]) => ({name: change, value,
      mark: gained > 0.005 ? `−${cycles(gained)}` : "", text: gained < -0.005 ? `+${cycles(-gained)}` : ""}));
    const most = Math.max(kernel.cycles, ...rows.map(row => row.value), ...changed.map(row => row.value));
    const headings = {name: "Bound", value: "Cycles", bar: "Bar", text: "By"};
    const found = [Bars.table("Cycles per iteration: the prediction, and the bounds below it", rows,
      {most, line: kernel.cycles, headings})];
    if (changed.length) {
      const inside = Bars.table("Simulated with a changed core, in cycles per iteration", changed,
        {most, line: kernel.cycles, headings: {...headings, name: "Change", text: "Difference"}});
      inside.classList.add("narrow");
      const best = changed.find(row => row.mark);
      found.push(make("details", {open: false},
        make("summary", {}, best ? `On a changed core: ${best.name} ${cycles(best.value)}` : "On a changed core: nothing gained"),
        inside));
    }
    return found;
  }

  function ports(kernel) {
    const used = kernel.resources.filter(([, , load]) => load > 0);
    const idle = kernel.resources.filter(([, , load]) => !load).map(([name]) => name);
    const rows = used.map(([name, title, value, busiest]) => ({name, title, value, mark: busiest ? "busiest" : "",
      text: kernel.cycles ? `${Math.round(100 * value / kernel.cycles)} %` : ""}));
    const table = Bars.table(`Busy cycles per iteration, out of ${cycles(kernel.cycles)} (line)` +
      (kernel.balanced ? "; µops balanced over the ports that they may use" : "; equal shares to all ports that a µop may use"), rows,
    {most: Math.max(kernel.cycles, ...rows.map(row => row.value)), line: kernel.cycles,
      headings: {name: "Port", value: "Cycles", bar: "Bar", text: "Share"}});
    table.classList.add("narrow");
    return [table, idle.length ? make("p", {class: "muted"}, `Not used: ${idle.join(", ")}`) : ""];
  }

  // Returns the text with compiler flags as code, each unbroken.
  function withFlags(text, flags) {
    const at = flags ? text.indexOf(flags) : -1;
    const code = flags ? flags.split(" ").flatMap((flag, n) => [n ? " " : "", make("code", {}, flag)]) : [];
    return at >= 0 ? [text.slice(0, at), ...code, text.slice(at + flags.length)] : flags ? [text, " ", ...code] : [text];
  }

  function section([title, line, parts], n) {
    const table = (caption, columns, rows) =>
      make("div", {class: "wide", role: "region", tabindex: 0, "aria-label": caption},
        make("table", {class: "facts"}, make("caption", {}, caption),
          make("thead", {}, make("tr", {}, ...columns.map(([title, meaning, right]) =>
            make("th", {scope: "col", title: meaning, class: right ? "number" : ""}, title)))),
          make("tbody", {}, ...rows.map(cells => make("tr", {}, ...cells.map((text, n) =>
            make(n ? "td" : "th", n ? {class: columns[n][2] ? "number" : ""} : {scope: "row"}, text)))))));
    return make("section", {"aria-labelledby": `table-title-${n}`}, make("h2", {id: `table-title-${n}`}, title),
      line ? make("p", {}, line) : "", ...parts.flatMap(([caption, columns, rows, sentences]) =>
      [rows.length ? table(caption, columns, rows) : "", ...sentences.map(text => make("p", {class: "muted"}, text))]));
  }

  function mark(index) {
    Assembly.choose(index);
    Graph.mark(index);
  }

  return {
    show(kernel) {
      byId("title").textContent = kernel.title;
      byId("model").textContent = kernel.model;
      byId("verdict").textContent = kernel.verdict;
      byId("more").replaceChildren(...paragraphs(kernel));
      byId("figures").replaceChildren(...kernel.figures.map(([name, value, unit]) =>
        make("div", {}, make("dt", {}, name), make("dd", {}, value, unit ? make("small", {}, ` ${unit}`) : ""))));
      byId("bounds").replaceChildren(...bounds(kernel));
      byId("ports").replaceChildren(...ports(kernel));
      byId("tables").replaceChildren(...kernel.tables.map(section));
      byId("hints").hidden = !kernel.hints.length;
      byId("hints").querySelector("ul").replaceChildren(...kernel.hints.map(([rule, text, flags]) => make("li", {},
        make("span", {class: "rule"}, `${rule}: `), ...withFlags(text, flags.join(" ")))));
      byId("assembly").lastElementChild.replaceChildren(
        make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "Instructions"}, Assembly.table(kernel, mark)));
      Graph.show(kernel, byId("graph").lastElementChild, Assembly.choose);
      byId("timeline").hidden = !kernel.timeline;
      document.querySelector("[data-part=timeline]").hidden = !kernel.timeline;
      if (kernel.timeline) Timeline.show(kernel);
    },
  };
})();
