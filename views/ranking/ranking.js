// The page of a ranking: its table, and a row in full.
(() => {
  const {byId, make} = Dom;
  const table = byId("rows") ? new SortedTable(byId("rows")) : null;
  if (table) Browse.filters(table, "all");

  Browse.start({
    prefix: "r",
    part: byId("row"),
    table,
    draw(row) {
      byId("title").textContent = row.title;
      byId("verdict").textContent = row.verdict;
      byId("advice").hidden = !row.advice.length;
      byId("advice").querySelector("ul").replaceChildren(...row.advice.map(text => make("li", {}, text)));
      byId("facts").replaceChildren(...row.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
      byId("instructions").hidden = !row.instructions.length;
      byId("instructions").querySelector("tbody").replaceChildren(...row.instructions.map(([line, text]) =>
        make("tr", {}, make("td", {class: "number"}, `${line || ""}`), make("td", {class: "code"}, text))));
      byId("members").replaceChildren(
        ...row.members.map(cells => make("tr", {}, ...cells.map(text => make("td", {class: "code"}, text)))));
      byId("more").textContent = row.more > 0 ? `and ${row.more} more` : "";
    },
  });
})();
