// What is shown when: the table or a pair, by the address (#p12, #p12/C), filters, and the keys.
(() => {
  const {byId, make} = Dom;
  const meta = JSON.parse(byId("meta").textContent);
  const summary = byId("summary"), pairPart = byId("pair"), title = document.title;
  const element = byId("rows");
  const table = element && (element.classList.contains("heat") ? new HeatTable(element) : new SortedTable(element));
  const count = document.querySelectorAll("script[type='application/json']").length - 1;
  let opened = "", row = null, from = 0, last = 0;

  // --- filters: what is in the template is taken when it is asked for ---

  const filters = [...document.querySelectorAll("[data-filter]")];
  const more = make("button", {type: "button", id: "more"});
  let kind = "all";

  const fits = candidate => kind === "all" || (candidate.dataset.kinds || "").split(" ").includes(kind);

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
    // Those that matter most are there; of what is left nobody but who asks for it wants to see anything.
    if (kind === "all" || missing() && !table.rows.some(fits)) take();
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
    table.box.addEventListener("input", () => {
      if (missing() <= 0) return;
      take();
      filter(kind);
    }, {capture: true});
    table.total = Number(filters[filters.length - 1].dataset.count);
    filter(byId("rows-rest") ? "changed" : "all");
  }

  // --- pairs ---

  // The kernels in the order of the table as it is now.
  function order() {
    return table ? table.visible().map(one => Number(one.querySelector("a").hash.slice(2))) : [];
  }

  function way(id, number) {
    const link = byId(id);
    if (number) link.setAttribute("href", `#p${number}`);
    else link.removeAttribute("href");
  }

  function builds(number, side) {
    if (meta.sides.length < 3) return [];
    return row.members.map((member, n) => {
      const [letter, label] = meta.sides[n];
      if (!member || n === row.base) return make("span", {class: "muted", title: label}, letter);
      return make("a", {href: `#p${number}/${letter}`, title: label, "aria-current": n === side ? "true" : false}, letter);
    });
  }

  function open(number, letter) {
    const name = `${number}/${letter || ""}`;
    if (name !== opened) {
      row = JSON.parse(byId(`data-${number}`).textContent);
      let side = meta.sides.findIndex(([own]) => own === letter);
      // Without a build the first that is compared; the base is beside that, too.
      if (side < 0 || !row.members[side] || side === row.base) side = row.changes.findIndex(Boolean);
      if (side < 0) side = row.base;
      pairPart.hidden = false;
      summary.hidden = true;
      PairView.show(row, side, meta);
      show();
      byId("builds").replaceChildren(...builds(number, side));
      document.title = `${row.title} - incc`;
      opened = name;
      last = number;
    }
    const numbers = order(), at = numbers.indexOf(number);
    way("previous", numbers[at - 1]);
    way("next", at >= 0 ? numbers[at + 1] : numbers[0]);
    byId("position").textContent = at >= 0 ? `${at + 1} of ${numbers.length}` : "";
  }

  function show() {
    for (const one of document.querySelectorAll("table.beside")) {
      one.classList.toggle("portless", !byId("ports-shown").checked);
      one.classList.toggle("brief", byId("only-changed").checked);
    }
  }

  function route(event) {
    const [, digits, letter] = /^#p(\d+)(?:\/([A-Z]+))?$/.exec(location.hash) || [];
    const number = Number(digits || 0);
    if (number >= 1 && number <= count) {
      if (!opened) from = scrollY;
      const changed = `${number}/${letter || ""}` !== opened;
      open(number, letter);
      if (!changed) return;
      scrollTo(0, 0);
      if (event) byId("title").focus({preventScroll: true});
      return;
    }
    summary.hidden = false;
    pairPart.hidden = true;
    document.title = title;
    const was = opened && table && table.rows.find(one => one.querySelector("a").hash === `#p${last}`);
    opened = "";
    if (!event) return;
    scrollTo(0, from);
    if (was && !was.hidden) table.go(was);
  }

  function key(event) {
    const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
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
    } else if (opened && event.key === "a") {
      byId("assembly-title").focus({preventScroll: true});
      byId("assembly-title").scrollIntoView();
    } else if (table && !opened && event.key === "ArrowDown" && event.target === document.body) {
      const [first] = table.visible();
      if (first) table.go(first);
    } else return;
    event.preventDefault();
  }

  // Where there is no room for both sides' ports they can be asked for.
  byId("ports-shown").checked = matchMedia("(min-width: 1000px)").matches;
  byId("ports-shown").addEventListener("change", show);
  byId("only-changed").addEventListener("change", show);
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", key);
  addEventListener("hashchange", route);
  route(null);
})();
