// Bars with their numbers, as a table: name, bar, number, words. `rows` have `name`, `value`, and optionally `title`, `text`
// (after the bar), `mark` (a word for a conspicuous row, since colour alone is not enough) and `kind` (a class). `most` is the
// length of the longest bar, `line` a value that all are compared with.
const Bars = {
  table(caption, rows, {most, line, headings}) {
    const {make, cycles} = Dom;
    const share = value => `${Math.min(100 * value / (most || 1), 100).toFixed(2)}%`;
    const heads = [headings.name, headings.value, headings.bar, headings.text];
    return make("table", {class: "bars"},
      make("caption", {}, caption),
      make("thead", {class: "unseen"}, make("tr", {}, ...heads.map(text => make("th", {scope: "col"}, text)))),
      make("tbody", {}, ...rows.map(row => make("tr", {class: `${row.kind || ""} ${row.mark ? "marked" : ""}`},
        make("th", {scope: "row", title: row.title}, row.name),
        make("td", {class: "number"}, cycles(row.value)),
        make("td", {class: "track"},
          make("div", {class: "room"},
            make("div", {class: "fill", style: `width:${share(row.value)}`}),
            line ? make("div", {class: "line", style: `left:${share(line)}`}) : "")),
        make("td", {class: "words"}, row.mark ? make("strong", {}, row.mark) : "", row.mark && row.text ? " " : "",
          row.text || "")))));
  },
};
