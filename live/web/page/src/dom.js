// Functions that make elements. All text is set as text, so nothing that was typed is read as markup.

export function byId(id) {
  return document.getElementById(id);
}

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== ""));
  return made;
}

export function options(values, chosen) {
  return values.map(([value, text]) => make("option", {value, selected: value === chosen}, text));
}
