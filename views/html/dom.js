// Making elements. All text comes through textContent: nothing of a report is ever read as markup.
const Dom = (() => {
  // The name of SVG is an address: taken from the browser, so that no address stands in the page.
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
    // A number with two decimals; of whole ones as many.
    cycles: value => value === null ? "" : value.toFixed(2),
    // What is in view, without moving more than is needed, and without motion.
    reveal: element => element.scrollIntoView({block: "nearest", inline: "nearest"}),
  };
})();
