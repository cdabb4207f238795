// Inside another page (incc-web), lines of the source and instructions point at each other: this page says over which line the
// mouse is and which one is chosen, and marks the line that the other page names.
if (parent !== window) {
  document.documentElement.classList.add("embedded");
  const say = message => parent.postMessage({incc: message}, "*");
  const lineOf = row => Number(row.dataset.source || 0);
  const rows = () => [...document.querySelectorAll("table.assembly tbody tr")];

  const mark = line => {
    for (const row of rows()) row.classList.toggle("hit", Boolean(line) && lineOf(row) === line);
  };

  // Opens the first kernel that has code of a line, unless the one that is open has.
  const open = line => {
    if (!byLine.has(line)) {
      byLine.set(line, [...document.querySelectorAll("script[type='application/json'][id^='data-']")]
        .map((element, n) => [n + 1, JSON.parse(element.textContent)])
        .filter(([, kernel]) => kernel.sources.some(([place]) => Number(/\d+$/.exec(place)?.[0]) === line) ||
          kernel.instructions.some(instruction => instruction[8] < 0 && instruction[0] === line)).map(([n]) => n));
    }
    const numbers = byLine.get(line), now = Number(/^#k(\d+)/.exec(location.hash)?.[1]);
    if (numbers.length && !numbers.includes(now)) location.hash = `#k${numbers[0]}/assembly`;
    setTimeout(() => {
      mark(line);
      const first = rows().find(row => lineOf(row) === line);
      if (first) first.scrollIntoView({block: "center"});
    }, 0);
  };
  const byLine = new Map();

  addEventListener("message", event => {
    const message = event.source === parent && event.data && event.data.incc;
    if (!message) return;
    if (message.open && message.line) open(message.line);
    else mark(message.line);
  });
  document.addEventListener("mouseover", event => {
    const row = event.target.closest("table.assembly tbody tr");
    say({over: row && lineOf(row) ? [lineOf(row)] : []});
  });
  document.addEventListener("click", event => {
    const row = event.target.closest("table.assembly tbody tr");
    if (row && lineOf(row)) say({choose: lineOf(row)});
  });
  addEventListener("hashchange", () => say({place: location.hash}));
}
