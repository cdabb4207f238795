// The page of a report: its table, and the parts of a kernel that keys open.
(() => {
  const {byId} = Dom;
  const table = byId("summary") ? new SortedTable(byId("kernels")) : null;
  const parts = {a: "assembly", d: "graph", t: "timeline"};
  let opened = false;

  Browse.start({
    prefix: "k",
    part: byId("kernel"),
    table,
    draw(kernel, part, number, again) {
      opened = true;
      if (!again) KernelView.show(kernel);
      for (const link of document.querySelectorAll("[data-part]")) link.href = `#k${number}/${link.dataset.part}`;
    },
    arrived(part) {
      const target = part && byId(`${part}-title`);
      if (!target || target.parentElement.hidden) return false;
      target.focus({preventScroll: true});
      target.scrollIntoView();
      return true;
    },
    keys(event, number, route) {
      if (!(event.key in parts)) return false;
      const hash = `#k${number}/${parts[event.key]}`;
      if (location.hash === hash) route(event);
      else location.hash = hash;
      return true;
    },
  });
  addEventListener("resize", () => { if (opened) Graph.resized(); });
})();
