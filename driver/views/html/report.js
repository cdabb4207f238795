// What is shown when: the table or a kernel, by the address (#k12, #k12/graph), and the keys.
(() => {
  const {byId} = Dom;
  const summary = byId("summary"), kernelPart = byId("kernel");
  const table = summary ? new SortedTable(byId("kernels")) : null;
  const count = document.querySelectorAll("script[type='application/json']").length;
  const title = document.title;
  let opened = 0, from = 0;

  // The kernels in the order of the table as it is now.
  function order() {
    const links = table ? table.visible().map(row => row.querySelector("a").hash) : [];
    return links.map(hash => Number(hash.slice(2)));
  }

  function way(link, number) {
    if (number) link.setAttribute("href", `#k${number}`);
    else link.removeAttribute("href");
    link.hidden = !table;
  }

  function open(number) {
    if (number !== opened) {
      const kernel = JSON.parse(byId(`data-${number}`).textContent);
      kernelPart.hidden = false;
      if (summary) summary.hidden = true;
      KernelView.show(kernel);
      document.title = count > 1 ? `${kernel.title} - incc` : title;
      opened = number;
      for (const link of document.querySelectorAll("[data-part]")) link.href = `#k${number}/${link.dataset.part}`;
    }
    const numbers = order(), at = numbers.indexOf(number);
    way(byId("back"), 0);
    byId("back").setAttribute("href", "#");
    way(byId("previous"), numbers[at - 1]);
    way(byId("next"), at >= 0 ? numbers[at + 1] : numbers[0]);
    byId("position").textContent = at >= 0 ? `${at + 1} of ${numbers.length}` : "";
  }

  function route(event) {
    const [, digits, section] = /^#k(\d+)(?:\/(\w+))?$/.exec(location.hash) || [];
    const number = digits ? Number(digits) : summary ? 0 : 1;
    if (number >= 1 && number <= count) {
      if (!opened) from = scrollY;
      const changed = number !== opened;
      open(number);
      const target = section && byId(`${section}-title`);
      if (target && !target.parentElement.hidden) {
        target.focus({preventScroll: true});
        target.scrollIntoView();
      } else if (changed) {
        scrollTo(0, 0);
        if (event) byId("title").focus({preventScroll: true});
      }
    } else if (summary) {
      const row = opened && document.querySelector(`#kernels a[href="#k${opened}"]`);
      summary.hidden = false;
      kernelPart.hidden = true;
      document.title = title;
      opened = 0;
      if (event) {
        scrollTo(0, from);
        if (row) table.go(row.closest("tr"));
      }
    }
  }

  function key(event) {
    const typing = event.target.closest("input:not([type=checkbox]):not([type=range]), select, textarea");
    if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
    if (event.key === "Escape") {
      if (opened && summary && !event.defaultPrevented) location.hash = "#";
      else if (typing && table) table.go(table.visible()[0] || table.rows[0]);
      return;
    }
    if (typing) return;
    const parts = {a: "assembly", d: "graph", t: "timeline"};
    if (event.key === "?") byId("help").showModal();
    else if (event.key === "/" && table) {
      if (opened) location.hash = "#";
      // The table is back when the address has changed.
      setTimeout(() => table.box.focus(), 0);
    } else if (opened && (event.key === "n" || event.key === "p")) {
      const link = byId(event.key === "n" ? "next" : "previous");
      if (!link.hasAttribute("href")) return;
      location.hash = link.getAttribute("href");
    } else if (opened && event.key in parts) {
      const hash = `#k${opened}/${parts[event.key]}`;
      if (location.hash === hash) route(event);
      else location.hash = hash;
    } else if (table && !opened && event.key === "ArrowDown" && event.target === document.body) {
      const [first] = table.visible();
      if (first) table.go(first);
    } else return;
    event.preventDefault();
  }

  byId("help-open").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", key);
  addEventListener("hashchange", route);
  addEventListener("resize", () => { if (opened) Graph.resized(); });
  route(null);
})();
