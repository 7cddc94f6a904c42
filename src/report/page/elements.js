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

/// A table that scrolls inside itself where the page is narrower, and says so while there is more of it.
function scroller(label, table) {
  const scroll = element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, table);
  const hint = element("p", {class: "hint"}, "Scroll sideways for more columns \u2192");
  const whole = element("div", {class: "scroller"}, scroll, hint);
  function update() {
    const hidden = scroll.scrollWidth - scroll.clientWidth;
    whole.classList.toggle("wide", hidden > 1);
    whole.classList.toggle("more", hidden - scroll.scrollLeft > 1);
  }
  scroll.addEventListener("scroll", update);
  const observer = new ResizeObserver(update);
  observer.observe(scroll);
  observer.observe(table);
  return whole;
}
