// Tables that sort and search: each heading is a button, and the box above takes words that must all occur in a row (or in its
// data-search). Rows are moved, never made again. One link of a row is its target; arrow keys move from row to row.
const SortedTable = (() => {
  const collator = new Intl.Collator("en", {numeric: true});

  class SortedTable {
    constructor(table) {
      const {byId} = Dom;
      this.table = table;
      this.body = table.tBodies[0];
      this.rows = [...this.body.rows];
      this.texts = this.rows.map(row => `${row.textContent} ${row.dataset.search || ""}`.toLowerCase());
      this.order = new Map(this.rows.map((row, number) => [row, number]));
      // A filter of rows besides the search.
      this.filter = () => true;
      // The number of rows, including those that are still in the template.
      this.total = 0;
      this.box = byId(`${table.id}-search`);
      this.count = byId(`${table.id}-count`);
      this.headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
      this.headings.forEach((heading, column) => {
        const button = heading.querySelector("button");
        if (button) button.addEventListener("click", () => this.sort(column));
      });
      this.box.addEventListener("input", () => this.search());
      this.box.addEventListener("keydown", event => {
        if (event.key === "ArrowDown" || event.key === "Enter") {
          const [first] = this.visible();
          if (!first) return;
          event.preventDefault();
          if (event.key === "Enter") first.querySelector("a").click();
          else this.go(first);
        } else if (event.key === "Escape" && this.box.value) {
          event.preventDefault();
          event.stopPropagation();
          this.box.value = "";
          this.search();
        }
      });
      this.body.addEventListener("keydown", event => this.key(event));
      this.body.addEventListener("focusin", event => this.choose(event.target.closest("tr")));
      // A click anywhere in a row follows its link; text can still be selected.
      this.body.addEventListener("click", event => {
        const row = event.target.closest("tr");
        if (event.target.closest("a") || String(getSelection())) return;
        // A cell may have its own link.
        const cell = event.target.closest("td");
        (cell && cell.querySelector("a") || row.querySelector("a")).click();
      });
      this.search();
    }

    // Appends further rows.
    add(rows) {
      for (const row of rows) {
        this.order.set(row, this.rows.length);
        this.rows.push(row);
        this.texts.push(`${row.textContent} ${row.dataset.search || ""}`.toLowerCase());
      }
      this.body.append(...rows);
    }

    visible() {
      return [...this.body.rows].filter(row => !row.hidden);
    }

    // Only one of all links can be reached with Tab.
    choose(chosen) {
      for (const row of this.rows) {
        const link = row.querySelector("a");
        if (link) link.tabIndex = row === chosen ? 0 : -1;
      }
    }

    go(row) {
      const link = row.querySelector("a");
      link.focus({preventScroll: true});
      Dom.reveal(row);
    }

    key(event) {
      const rows = this.visible(), at = rows.indexOf(event.target.closest("tr"));
      const steps = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1,
        PageDown: Math.min(at + 20, rows.length - 1), PageUp: Math.max(at - 20, 0)};
      if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = rows[steps[event.key]];
      if (next) this.go(next);
      else if (steps[event.key] < 0) this.box.focus();
    }

    search() {
      const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.rows.forEach((row, number) => { 
        row.hidden = !this.filter(row) || !words.every(word => this.texts[number].includes(word));
      });
      const shown = this.visible();
      const all = this.total || this.rows.length;
      this.count.textContent = `${shown.length === all ? all : `${shown.length} of ${all}`} shown`;
      this.table.classList.toggle("none", !shown.length);
      this.choose(shown[0]);
    }

    sort(column) {
      const heading = this.headings[column], was = heading.getAttribute("aria-sort");
      const numbers = heading.classList.contains("number");
      // Numbers are sorted largest first, since these are of interest. The third click restores the report's order.
      const [first, second] = numbers ? ["descending", "ascending"] : ["ascending", "descending"];
      const next = was === null ? first : was === first ? second : null;
      for (const other of this.headings) other.removeAttribute("aria-sort");
      if (next) heading.setAttribute("aria-sort", next);
      const keys = new Map(this.rows.map(row => [row, this.keyOf(row.cells[column], numbers)]));
      const sign = next === "descending" ? -1 : 1;
      const sorted = [...this.rows].sort((a, b) => {
        const before = this.order.get(a) - this.order.get(b);
        if (!next) return before;
        const x = keys.get(a), y = keys.get(b);
        if (x === null || y === null) return (x === null) - (y === null) || before;
        return sign * (numbers ? x - y : collator.compare(x, y)) || before;
      });
      this.body.append(...sorted);
      this.choose(this.visible()[0]);
    }

    keyOf(cell, number) {
      const key = cell.dataset.key === undefined ? cell.textContent.trim() : cell.dataset.key;
      return key === "" ? null : number ? Number(key) : key;
    }
  }
  return SortedTable;
})();
