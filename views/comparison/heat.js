// A table of kernels and builds. Arrow keys move between its cells, each of which leads to its pair.
class HeatTable extends SortedTable {
  constructor(table) {
    super(table);
    // Capture the event before the row's listener handles it and chooses the row.
    this.body.addEventListener("focusin", event => {
      const cell = event.target.closest("td");
      if (cell) this.column = cell.cellIndex;
    }, true);
  }

  // Returns the element of a row that can have the focus in a column.
  stop(row, column) {
    const cell = row.cells[column];
    return cell && (cell.querySelector("a") || (cell.classList.contains("stop") ? cell : null));
  }

  // Only one of all cells can be reached with Tab.
  choose(row) {
    for (const other of this.body.querySelectorAll("a:not([tabindex='-1']), .stop[tabindex='0']")) other.tabIndex = -1;
    if (!row) return;
    const stop = this.stop(row, this.column || 0) || row.querySelector("a");
    stop.tabIndex = 0;
  }

  go(row) {
    const stop = this.stop(row, this.column || 0) || row.querySelector("a");
    stop.tabIndex = 0;
    stop.focus({preventScroll: true});
    Dom.reveal(stop.closest("td"));
  }

  key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key], row = event.target.closest("tr");
    if (!step || event.ctrlKey || event.altKey || event.metaKey) {
      super.key(event);
      return;
    }
    event.preventDefault();
    let column = event.target.closest("td").cellIndex + step;
    while (row.cells[column] && !this.stop(row, column)) column += step;
    if (!row.cells[column]) return;
    this.column = column;
    this.go(row);
  }
}
