// The page of instructions: its table, and a dialog with the details of the instruction that the address names (#i12).
(() => {
  const {byId, make} = Dom;
  const table = new SortedTable(byId("rows")), dialog = byId("details");
  Browse.filters(table, "all");
  let data = null;

  function open() {
    const [, digits] = /^#i(\d+)$/.exec(location.hash) || [];
    data = data || JSON.parse(byId("data").textContent);
    const [rows, sources] = data;
    const details = digits && rows[Number(digits) - 1];
    if (!details) return;
    const [form, cores] = details;
    const link = table.body.querySelector(`a[href="#i${digits}"]`);
    byId("details-title").textContent = link ? link.textContent : form;
    byId("details-form").textContent = form;
    byId("details-cores").replaceChildren(...cores.flatMap(([name, latencies, notes, source, derived]) => [
      make("h3", {}, name),
      make("dl", {}, ...[["Latencies", latencies], ["Notes", notes], ["Source", sources[name][source] || source],
        ["Derived", derived]].filter(([, text]) => text)
        .flatMap(([title, text]) => [make("dt", {}, title), make("dd", {}, text)])),
    ]));
    if (!dialog.open) dialog.showModal();
  }

  dialog.addEventListener("close", () => {
    const link = table.body.querySelector(`a[href="${location.hash}"]`);
    history.replaceState(null, "", "#");
    if (link) link.focus();
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || dialog.open || event.target.closest("input") || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    table.box.focus();
  });
  addEventListener("hashchange", open);
  open();
})();
