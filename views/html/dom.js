// Functions that make elements. All text is set by textContent, so no part of a report is read as markup.
const Dom = (() => {
  // SVG's namespace is an address. It is taken from the browser, so that the page contains no address.
  const template = document.createElement("template");
  template.innerHTML = "<svg></svg>";
  const SVG = template.content.firstChild.namespaceURI;

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === false || value === null || value === undefined) continue;
      made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter(child => child !== null && child !== ""));
    return made;
  }

  return {
    byId: id => document.getElementById(id),
    make: (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children),
    svg: (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children),
    // Formats a number with two decimals, whole numbers as well.
    cycles: value => value === null ? "" : value.toFixed(2),
    // Scrolls an element into view, no further than necessary and without animation.
    reveal: element => element.scrollIntoView({block: "nearest", inline: "nearest"}),
  };
})();
