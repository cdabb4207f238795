// The page of a comparison: its table or heat map, and a pair. An address such as #p12/C names the build that the base is
// compared with.
(() => {
  const {byId, make} = Dom;
  const meta = JSON.parse(byId("meta").textContent);
  const element = byId("rows");
  const table = element && (element.classList.contains("heat") ? new HeatTable(element) : new SortedTable(element));
  if (table) Browse.filters(table, byId("rows-rest") ? "changed" : "all");

  function builds(row, number, side) {
    if (meta.sides.length < 3) return [];
    return row.members.map((member, n) => {
      const [letter, label] = meta.sides[n];
      if (!member || n === row.base) return make("span", {class: "muted", title: label}, letter);
      return make("a", {href: `#p${number}/${letter}`, title: label, "aria-current": n === side ? "true" : false}, letter);
    });
  }

  function showParts() {
    for (const one of document.querySelectorAll("table.beside")) {
      one.classList.toggle("portless", !byId("ports-shown").checked);
      one.classList.toggle("brief", byId("only-changed").checked);
    }
  }

  // If there is no room for the ports of both sides, the user can request them.
  byId("ports-shown").checked = matchMedia("(min-width: 1000px)").matches;
  byId("ports-shown").addEventListener("change", showParts);
  byId("only-changed").addEventListener("change", showParts);

  Browse.start({
    prefix: "p",
    part: byId("pair"),
    table,
    draw(row, letter, number) {
      let side = meta.sides.findIndex(([own]) => own === letter);
      // If the address names no build, choose the first one that is compared, which is next to the base, too.
      if (side < 0 || !row.members[side] || side === row.base) side = row.changes.findIndex(Boolean);
      if (side < 0) side = row.base;
      PairView.show(row, side, meta);
      showParts();
      byId("builds").replaceChildren(...builds(row, number, side));
    },
    keys(event) {
      if (event.key !== "a") return false;
      byId("assembly-title").focus({preventScroll: true});
      byId("assembly-title").scrollIntoView();
      return true;
    },
  });
})();
