// A page of kernels: the table, or the kernel that the address names (#k12, #k12/graph); filters of the table, and keys.
//
// `page` has: `prefix`, the letter of addresses; `part`, the element that shows a kernel; `table`, null for a page of one kernel;
// `draw(kernel, rest, number)`, which shows a kernel's data, with the `rest` of its address; and optionally `arrived(rest)`,
// called when the address has changed, which returns true if it has taken the focus, and `keys(event, number)`, which returns
// true if it has handled a key.
const Browse = (() => {
  const {byId, make} = Dom;

  // Buttons that choose among the rows. Rows move from the template into the table when something needs them.
  function filters(table, first) {
    const buttons = [...document.querySelectorAll("[data-filter]")];
    const more = make("button", {type: "button", id: "more-rows"});
    const rest = byId(`${table.table.id}-rest`);
    let kind = first;

    const fits = row => kind === "all" || (row.dataset.kinds || "").split(" ").includes(kind);
    const total = wanted => Number(buttons.find(button => button.dataset.filter === wanted).dataset.count);
    const missing = () => rest && rest.isConnected ? total(kind) - table.rows.filter(fits).length : 0;

    function show() {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.filter === kind));
      table.search();
      more.hidden = !missing();
      more.textContent = `${missing()} more`;
    }

    function take() {
      if (!missing()) return;
      rest.remove();
      table.add([...rest.content.children]);
      show();
    }

    for (const button of buttons) {
      button.addEventListener("click", () => {
        kind = button.dataset.filter;
        take();
        show();
      });
    }
    byId(`${table.table.id}-count`).after(more);
    more.addEventListener("click", take);
    // Searching and sorting apply to all rows.
    table.box.addEventListener("input", take, {capture: true});
    table.table.tHead.addEventListener("click", take, {capture: true});
    table.filter = fits;
    table.total = total("all");
    show();
  }

  function start({prefix, part, table, draw, arrived = () => false, keys = () => false}) {
    const summary = byId("summary"), title = document.title;
    const count = document.querySelectorAll("script[type='application/json'][id^='data-']").length;
    const numberOf = row => Number(row.querySelector("a").hash.slice(2));
    const pattern = new RegExp(`^#${prefix}(\\d+)(?:/(\\w+))?$`);
    let opened = 0, shown = "", from = 0;

    function way(id, number) {
      const link = byId(id);
      if (number) link.setAttribute("href", `#${prefix}${number}`);
      else link.removeAttribute("href");
      link.hidden = !table;
    }

    function open(number, rest) {
      if (shown !== `${number}/${rest}`) {
        const kernel = JSON.parse(byId(`data-${number}`).textContent);
        part.hidden = false;
        if (summary) summary.hidden = true;
        draw(kernel, rest, number, number === opened);
        document.title = table ? `${kernel.title} - incc` : title;
      }
      opened = number;
      shown = `${number}/${rest}`;
      byId("back").hidden = !table;
      // The kernels in the current order of the table.
      const numbers = table ? table.visible().map(numberOf) : [], at = numbers.indexOf(number);
      way("previous", numbers[at - 1]);
      way("next", at >= 0 ? numbers[at + 1] : numbers[0]);
      byId("position").textContent = at >= 0 ? `${at + 1} of ${numbers.length}` : "";
    }

    function close(event) {
      if (!summary) return;
      const row = opened && table && table.rows.find(candidate => numberOf(candidate) === opened);
      summary.hidden = false;
      part.hidden = true;
      document.title = title;
      opened = 0;
      shown = "";
      if (!event) return;
      scrollTo(0, from);
      if (row && !row.hidden) table.go(row);
    }

    function route(event) {
      const [, digits, rest = ""] = pattern.exec(location.hash) || [];
      const number = digits ? Number(digits) : summary ? 0 : 1;
      if (number < 1 || number > count) {
        close(event);
        return;
      }
      if (!opened) from = scrollY;
      const changed = shown !== `${number}/${rest}`;
      open(number, rest);
      if (arrived(rest) || !changed) return;
      scrollTo(0, 0);
      if (event) byId("title").focus({preventScroll: true});
    }

    function key(event) {
      const typing = event.target.closest("input:not([type=checkbox]):not([type=range]), select, textarea");
      if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
      if (event.key === "Escape") {
        if (event.defaultPrevented) return;
        if (opened && summary) location.hash = "#";
        else if (typing && table && table.visible().length) table.go(table.visible()[0]);
        return;
      }
      if (typing) return;
      if (event.key === "?") byId("help").showModal();
      else if (event.key === "/" && table) {
        if (opened) location.hash = "#";
        // The table is visible again after the address has changed.
        setTimeout(() => table.box.focus(), 0);
      } else if (opened && (event.key === "n" || event.key === "p")) {
        const link = byId(event.key === "n" ? "next" : "previous");
        if (!link.hasAttribute("href")) return;
        location.hash = link.getAttribute("href");
      } else if (table && !opened && event.key === "ArrowDown" && event.target === document.body) {
        const [first] = table.visible();
        if (first) table.go(first);
      } else if (!opened || !keys(event, opened, route)) return;
      event.preventDefault();
    }

    byId("help-open").addEventListener("click", () => byId("help").showModal());
    document.addEventListener("keydown", key);
    addEventListener("hashchange", route);
    route(null);
  }

  return {filters, start};
})();
