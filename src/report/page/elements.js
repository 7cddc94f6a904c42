// Elements without markup in strings: text from runs is never read as HTML.

/// element("p", { class: "quiet" }, "text", another): attributes, then children; false, null and undefined
/// are left out.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === false || value == null) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style")
      for (const [name, text] of Object.entries(value)) made.style.setProperty(name, text);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== false && child != null));
  return made;
}

/// A part of the page with its heading; the list of contents finds it by its id.
function section(id, title, ...children) {
  return element(
      "section", {id, "aria-labelledby": `${id}-title`}, element("h2", {id: `${id}-title`}, title),
      ...children);
}
