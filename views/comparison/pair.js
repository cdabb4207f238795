// A pair of kernels: its change and the causes, bounds and figures of both, and the instructions side by side.
const PairView = (() => {
  const {byId, make, cycles} = Dom;
  const MINUS = "\u2212";
  let parts = null;  // the parts of the table of instructions that causes refer to

  const amount = value => value === 0 ? "0" : value >= 1 ? value.toFixed(2) : value.toFixed(3);
  const scroll = (label, table) => make("div", {class: "wide", role: "region", tabindex: 0, "aria-label": label}, table);

  function half([letter, label], member, kind) {
    const facts = [["Limited by", member.limit], ["Vectors", member.vector], ["Hints", member.hints.join(", ")]];
    return make("section", {class: `half ${kind}`, "aria-label": `Build ${letter}`},
      make("h2", {}, make("b", {class: "letter"}, letter), label === letter ? "" : ` ${label}`),
      make("p", {class: "code"}, member.where),
      make("p", {}, make("strong", {}, member.cycles), `; ${member.verdict}`),
      make("dl", {class: "facts"}, ...facts.filter(([, text]) => text).map(([name, text]) =>
        make("div", {}, make("dt", {}, name), make("dd", {}, text)))));
  }

  // Marks the instructions that a cause refers to.
  function mark(cause) {
    if (!parts) return;
    for (const side of [0, 1]) {
      const wanted = new Set(cause ? cause[2 + side] : []);
      for (const [index, cells] of parts[side]) for (const cell of cells) cell.classList.toggle("about", wanted.has(index));
    }
  }

  function causes(change, linked) {
    const most = Math.max(...change.causes.map(([, value]) => Math.abs(value || 0)));
    let pinned = null;
    const rows = change.causes.map(cause => {
      const [text, value, a, b, number] = cause;
      const about = linked && a.length + b.length > 0;
      const share = value && most ? 50 * Math.abs(value) / most : 0;
      const fill = value ? make("div", {class: `fill ${value > 0 ? "slower" : "faster"}`,
        style: `left:${value > 0 ? 50 : 50 - share}%;width:${share}%`}) : "";
      const button = about && make("button", {type: "button", class: "cause", "aria-pressed": "false",
        title: "Mark the instructions that it is about"}, text);
      const row = make("tr", {},
        make("td", {class: "number"}, value === null ? "" : `${value < 0 ? MINUS : value > 0 ? "+" : ""}${number}`),
        make("td", {class: "track"}, make("div", {class: "room signed"}, fill, make("div", {class: "line", style: "left:50%"}))),
        make("th", {scope: "row"}, button || text));
      if (button) {
        row.addEventListener("mouseenter", () => mark(cause));
        row.addEventListener("mouseleave", () => mark(pinned));
        button.addEventListener("focus", () => mark(cause));
        button.addEventListener("blur", () => mark(pinned));
        button.addEventListener("click", () => {
          const on = pinned !== cause;
          pinned = on ? cause : null;
          for (const other of byId("causes").querySelectorAll(".cause")) other.setAttribute("aria-pressed", String(on && other === button));
          mark(pinned || (button.matches(":focus") ? cause : null));
          const first = on && document.querySelector("table.beside .about");
          if (first) first.scrollIntoView({block: "center", inline: "nearest"});
        });
        button.addEventListener("keydown", event => {
          if (event.key !== "Escape" || !pinned) return;
          event.preventDefault();
          button.click();
          mark(null);
        });
      }
      return row;
    });
    return make("table", {class: "bars causes"},
      make("caption", {}, `What each adds to the cycles ${change.of || "per iteration"}: + slower, ${MINUS} faster; none where no ` +
        "number can be put to it"),
      make("thead", {class: "unseen"}, make("tr", {}, ...["Cycles", "Bar", "Cause"].map(text => make("th", {scope: "col"}, text)))),
      make("tbody", {}, ...rows));
  }

  function bounds(change, letters) {
    const most = Math.max(...change.bounds.flatMap(([, [a], [b]]) => [a, b]), ...change.cycles.map(([value]) => value || 0)) || 1;
    const known = change.of && change.cycles.every(([value]) => value !== null);
    const all = known ? [["Cycles", ...change.cycles, 0, 0], ...change.bounds] : change.bounds;
    const bar = ([value, text], kind, letter, limits) => make("div", {class: `both ${kind}`},
      make("b", {}, letter), make("span", {class: "number"}, text),
      make("div", {class: "room"}, make("div", {class: "fill", style: `width:${(100 * value / most).toFixed(2)}%`})),
      make("span", {class: "words"}, limits ? "limits" : ""));
    const rows = all.map(([name, a, b, limitsA, limitsB]) => make("tr", {},
      make("th", {scope: "row"}, name),
      make("td", {}, bar(a, "a", letters[0], limitsA), bar(b, "b", letters[1], limitsB)),
      make("td", {class: "number"}, a[0] && b[0] && Math.abs(b[0] / a[0] - 1) >= 0.005 ? relative(b[0] / a[0]) : "")));
    return make("table", {class: "bounds"},
      make("caption", {}, change.of ? `Cycles ${change.of}${change.alone && `; bounds${change.alone}`}` : "Cycles per iteration of each, which do not do the same work"),
      make("thead", {class: "unseen"}, make("tr", {}, ...["Bound", "Both", "Change"].map(text => make("th", {scope: "col"}, text)))),
      make("tbody", {}, ...rows));
  }

  // Formats a ratio as the table does.
  function relative(ratio) {
    if (ratio >= 2) return `×${ratio.toFixed(2)}`;
    if (ratio <= 0.5) return `÷${(1 / ratio).toFixed(2)}`;
    const percent = 100 * (ratio - 1);
    return `${percent < 0 ? "-" : "+"}${Math.abs(percent).toFixed(Math.abs(percent) >= 9.95 ? 0 : 1)} %`;
  }

  function figures(change, members, letters) {
    const groups = [[change.of ? `${change.of[0].toUpperCase()}${change.of.slice(1)}${change.alone}` : "", change.figures.filter(row => row[3])],
      ["Of the loop", change.figures.filter(row => !row[3])]];
    const bodies = groups.filter(([, rows]) => rows.length).map(([title, rows]) => make("tbody", {},
      make("tr", {}, make("th", {scope: "colgroup", colspan: 3, class: "muted"}, title)),
      ...rows.map(([name, a, b]) => make("tr", {}, make("th", {scope: "row"}, name),
        make("td", {class: "number"}, a), make("td", {class: "number"}, b)))));
    return make("table", {class: "figures"},
      make("thead", {}, make("tr", {}, make("td", {}), ...letters.map(text => make("th", {scope: "col", class: "number"}, text)))),
      ...bodies);
  }

  function heads(code, letter) {
    return [
      make("th", {scope: "col", class: "number"}, code.numbered),
      ...code.ports.map(([name, title, , busiest]) => make("th", {scope: "col", class: `port ${busiest ? "busiest" : ""}`,
        title: `${title}, cycles${busiest ? "; busiest" : ""}`}, name)),
      make("th", {scope: "col", class: "number", title: "Cycles that it adds to the critical path"}, "CP"),
      make("th", {scope: "col", class: "number", title: "Cycles that it adds to the longest loop-carried dependency"}, "LCD"),
      make("th", {scope: "col", class: "code"}, letter),
    ];
  }

  function cellsOf(code, index, most) {
    // Make a cell for each column, so that the columns of ports can be hidden.
    if (index === null) return ["", ...code.ports.map(() => "port"), "", "", ""].map(kind => make("td", {class: `gap ${kind}`}));
    const [line, text, ports, remarks, latency, path, chain, place, ...loads] = code.instructions[index];
    const unknown = remarks.includes("X");
    const meanings = [...remarks].map(letter => Assembly.REMARKS[letter]).filter(Boolean);
    const where = place >= 0 ? [code.places[place]] : [];
    const title = [...where, ports, `latency ${latency}`, ...meanings].filter(Boolean).join("; ");
    return [
      make("td", {class: "number muted"}, line),
      ...loads.map(value => make("td", {class: `port heat${value ? Math.ceil(6 * Math.min(value / most, 1)) : 0}`},
        unknown ? "X" : value ? cycles(value) : "")),
      make("td", {class: `number ${path === null ? "" : "cp"}`}, unknown ? "X" : path === null ? "" : path),
      make("td", {class: `number ${chain === null ? "" : "lcd"}`}, unknown ? "X" : chain === null ? "" : chain),
      make("td", {class: "code", title}, text.replace(/\t/g, " ")),
    ];
  }

  // Shows both sides next to each other, or one if there is no other.
  function beside(codes, rows, letters, marks) {
    const most = Math.max(1, ...codes.flatMap(code => code.instructions.flatMap(row => row.slice(8))));
    const used = new Set();
    parts = [[], []];
    const body = rows.map(([a, b, kind]) => {
      const halves = codes.map((code, side) => {
        const index = side ? b : a, cells = cellsOf(code, index, most);
        for (const cell of cells) cell.classList.add(side ? "b" : "a");
        if (index !== null) parts[side].push([index, cells]);
        return cells;
      });
      const [sign, meaning] = marks[kind] || ["", ""];
      if (meaning) used.add(kind);
      const middle = codes.length > 1 ? [make("td", {class: "sign", title: meaning},
        make("span", {"aria-hidden": "true"}, sign.trim()), meaning ? make("span", {class: "unseen"}, meaning) : "")] : [];
      return make("tr", {class: kind}, ...halves[0], ...middle, ...(halves[1] || []));
    });
    const foot = codes.map((code, side) => [make("td", {class: "number"}, "∑"),
      ...code.ports.map(([, , load]) => make("td", {class: "port"}, cycles(load))),
      make("td", {class: "number"}, amount(code.path)), make("td", {class: "number"}, amount(code.chain)),
      make("td", {class: "code"}, `${cycles(code.cycles)} cycles per iteration`)].map(cell => {
      cell.classList.add(side ? "b" : "a");
      return cell;
    }));
    const between = tag => codes.length > 1 ? [make(tag, {class: "sign"}, tag === "th" ? make("span", {class: "unseen"}, "What became of it") : "")] : [];
    const head = codes.map((code, side) => heads(code, letters[side]));
    const table = make("table", {class: "assembly beside"},
      make("caption", {}, "Cycles on each port in an iteration, and on the critical path (CP) and the longest loop-carried " +
        "dependency (LCD)"),
      make("thead", {}, make("tr", {}, ...head[0], ...between("th"), ...(head[1] || []))),
      make("tbody", {}, ...body),
      make("tfoot", {}, make("tr", {}, ...foot[0], ...between("td"), ...(foot[1] || []))));
    const legend = make("ul", {class: "signs"}, ...Object.keys(marks).filter(kind => used.has(kind)).map(kind =>
      make("li", {class: kind}, make("b", {}, marks[kind][0]), ` ${marks[kind][1]}`)));
    return [legend, scroll("Instructions", table)];
  }

  function assembly(row, side, change, letters, marks) {
    parts = null;
    const members = change ? [row.members[row.base], row.members[side]] : [row.members[side]];
    const codes = members.map(member => member.assembly);
    const there = codes.every(Boolean);
    byId("assembly").querySelector(".controls").hidden = !there;
    byId("only-changed").parentElement.hidden = !change;
    if (!there) {
      const same = change && (change.outcome === "same" || change.outcome === "moved");
      return [make("p", {class: "muted"}, same ? "The code is the same; its instructions are not in this page." :
        "Its instructions are not in this page, which has those of the kernels that matter most: a page of fewer kernels " +
        "(--function, --where) has them.")];
    }
    const rows = change ? change.rows || [] : codes[0].instructions.map((_, n) => [n, null, "same"]);
    return beside(codes, rows, letters, marks);
  }

  return {
    show(row, side, {sides, marks}) {
      const change = row.changes[side], members = row.members, compared = change ? [row.base, side] : [side];
      const letters = compared.map(n => sides[n][0]);
      const fill = (id, content) => {
        byId(id).hidden = !content;
        if (content) byId(id).lastElementChild.replaceChildren(...content);
      };
      byId("title").textContent = row.title;
      byId("verdict").textContent = change ? change.text : `Only in ${sides[side][0]}${sides[side][0] === sides[side][1] ? "" : ` (${sides[side][1]})`}.`;
      byId("verdict").className = change ? change.outcome : "";
      byId("matched").textContent = change ? `Matched: ${change.matched}${change.doubt ? ` (${change.doubt})` : ""}.` : "";
      byId("fails").replaceChildren(...(row.fails || []).map(text => make("li", {}, make("strong", {}, "✗ fails "), text)));
      byId("halves").replaceChildren(...compared.map((n, at) => half(sides[n], members[n], at ? "b" : "a")));
      byId("assembly").lastElementChild.replaceChildren(...assembly(row, side, change, letters, marks));
      const full = change && change.bounds;
      fill("causes", full && change.causes.length ? [causes(change, Boolean(parts))] : null);
      fill("bounds", full ? [bounds(change, letters)] : null);
      fill("figures-part", full && change.figures.length ? [figures(change, members, letters)] : null);
    },
  };
})();
