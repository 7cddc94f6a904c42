// Labelled selects that the keyboard reaches, and what is chosen in them.

/// A select with its label. options: [[value, text]]. It is not shown where there is nothing to choose.
function choice(label, options, on_change) {
  const select = element("select", {name: label.toLowerCase(), onchange: () => on_change(select.value)});
  const whole = element("label", {}, label, select);
  function set(options, value) {
    select.replaceChildren(...options.map(([value, text]) => element("option", {value}, text)));
    if (options.some(([known]) => String(known) === String(value))) select.value = value;
    whole.hidden = options.length < 2;
    whole.style.display = whole.hidden ? "none" : "";
    return select.value;
  }
  set(options);
  return {
    whole,
    set,
    value: () => select.value,
    put: (value) => {
      select.value = value;
      on_change(select.value);
    }
  };
}
