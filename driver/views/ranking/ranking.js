// What is shown when: the table or a row, by the address (#r12), filters, and the keys.
(() => {
  const {byId, make} = Dom;
  const summary = byId("summary"), part = byId("row"), title = document.title;
  const table = byId("rows") ? new SortedTable(byId("rows")) : null;
  const count = document.querySelectorAll("script[type='application/json']").length;
  let opened = 0, from = 0;

  // --- filters: what is in the template is taken when it is asked for ---

  const filters = [...document.querySelectorAll("[data-filter]")];
  const more = make("button", {type: "button", id: "more-rows"});
  let kind = "all";

  const fits = row => kind === "all" || (row.dataset.kinds || "").split(" ").includes(kind);

  function missing() {
    const button = filters.find(one => one.dataset.filter === kind);
    return byId("rows-rest") && button ? Number(button.dataset.count) - table.rows.filter(fits).length : 0;
  }

  function take() {
    const rest = byId("rows-rest");
    if (!rest) return;
    rest.remove();
    table.add([...rest.content.children]);
  }

  function filter(wanted) {
    kind = wanted;
    for (const button of filters) button.setAttribute("aria-pressed", String(button.dataset.filter === kind));
    if (kind !== "all" && missing()) take();
    table.filter = fits;
    table.search();
    const left = missing();
    more.hidden = !left;
    more.textContent = `${left} more`;
  }

  if (table) {
    for (const button of filters) button.addEventListener("click", () => filter(button.dataset.filter));
    byId("rows-count").after(more);
    more.addEventListener("click", () => { take(); filter(kind); });
    // A search, and an order, are of all rows.
    for (const [element, event] of [[table.box, "input"], [byId("rows").tHead, "click"]]) {
      element.addEventListener(event, () => {
        if (!byId("rows-rest")) return;
        take();
        filter(kind);
      }, {capture: true});
    }
    table.total = Number(filters.find(one => one.dataset.filter === "all").dataset.count);
    filter("all");
  }

  // --- rows ---

  function order() {
    return table ? table.visible().map(row => Number(row.querySelector("a").hash.slice(2))) : [];
  }

  function way(id, number) {
    const link = byId(id);
    if (number) link.setAttribute("href", `#r${number}`);
    else link.removeAttribute("href");
  }

  function open(number) {
    const row = JSON.parse(byId(`data-${number}`).textContent);
    byId("title").textContent = row.title;
    byId("verdict").textContent = row.verdict;
    byId("advice").hidden = !row.advice.length;
    byId("advice").querySelector("ul").replaceChildren(...row.advice.map(text => make("li", {}, text)));
    byId("facts").replaceChildren(...row.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
    byId("members").replaceChildren(
      ...row.members.map(cells => make("tr", {}, ...cells.map(text => make("td", {class: "code"}, text)))));
    byId("more").textContent = row.more > 0 ? `and ${row.more} more` : "";
    part.hidden = false;
    summary.hidden = true;
    document.title = `${row.title} - incc`;
    opened = number;
    const numbers = order(), at = numbers.indexOf(number);
    way("previous", numbers[at - 1]);
    way("next", at >= 0 ? numbers[at + 1] : numbers[0]);
    byId("position").textContent = at >= 0 ? `${at + 1} of ${numbers.length}` : "";
  }

  function route(event) {
    const [, digits] = /^#r(\d+)$/.exec(location.hash) || [];
    const number = Number(digits || 0);
    if (number >= 1 && number <= count) {
      if (!opened) from = scrollY;
      const changed = number !== opened;
      open(number);
      if (!changed) return;
      scrollTo(0, 0);
      if (event) byId("title").focus({preventScroll: true});
      return;
    }
    summary.hidden = false;
    part.hidden = true;
    document.title = title;
    const was = opened && table && table.rows.find(row => row.querySelector("a").hash === `#r${opened}`);
    opened = 0;
    if (!event) return;
    scrollTo(0, from);
    if (was && !was.hidden) table.go(was);
  }

  function key(event) {
    const typing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
    if (event.key === "Escape") {
      if (event.defaultPrevented) return;
      if (opened) location.hash = "#";
      else if (typing && table && table.visible().length) table.go(table.visible()[0]);
      return;
    }
    if (typing) return;
    if (event.key === "?") byId("help").showModal();
    else if (event.key === "/" && table) {
      if (opened) location.hash = "#";
      // The table is back when the address has changed.
      setTimeout(() => table.box.focus(), 0);
    } else if (opened && (event.key === "n" || event.key === "p")) {
      const link = byId(event.key === "n" ? "next" : "previous");
      if (!link.hasAttribute("href")) return;
      location.hash = link.getAttribute("href");
    } else if (table && !opened && event.key === "ArrowDown" && event.target === document.body) {
      const [first] = table.visible();
      if (first) table.go(first);
    } else return;
    event.preventDefault();
  }

  byId("help-open").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", key);
  addEventListener("hashchange", route);
  route(null);
})();
