// One chart in one box: drawn by Vega as SVG at the width the box has, and drawn again when that changes.

/// Room around a chart for letters and dots that stand out.
const chart_padding = 3;

const chart_config = {
  background: null,
  axis: {
    domainColor: "var(--line)",
    tickColor: "var(--line)",
    gridColor: "var(--line)",
    gridOpacity: 0.55,
    tickSize: 4,
    labelColor: "var(--quiet)",
    titleColor: "var(--quiet)",
    labelFontSize: 11,
    titleFontSize: 11.5,
    titleFontWeight: 400,
    labelFont: "sans-serif",
    titleFont: "sans-serif",
    titlePadding: 6,
    labelPadding: 4,
  },
};

/// Draws spec(width) in the box, and again when the box has another width. `on_move(view, event, x, y)` hears
/// of the pointer, x and y in the plot's own pixels, and with the view alone of its leaving. Gives a function
/// that draws.
function chart(box, spec, on_move) {
  let view, drawn = 0;
  function draw() {
    drawn = Math.floor(box.clientWidth);
    if (!drawn) return;
    view?.finalize();
    const autosize = {type: "fit", contains: "padding"};
    const full =
        {padding: chart_padding, autosize, width: drawn, description: box.dataset.label, ...spec(drawn)};
    const options = {renderer: "svg", container: box, hover: false, logLevel: vega.Warn};
    view = new vega.View(vega.parse(full, chart_config), options);
    view.run();
  }
  const observer = new ResizeObserver(() => {
    if (box.isConnected && Math.floor(box.clientWidth) !== drawn) draw();
    if (box.isConnected) return;
    observer.disconnect();
    view?.finalize();
  });
  observer.observe(box);
  watch_pointer(box, () => view, on_move);
  return draw;
}

function watch_pointer(box, view_now, on_move) {
  function left() {
    hide_tip();
    if (view_now()) on_move(view_now());
  }
  function moved(event) {
    const view = view_now(), corner = box.querySelector("svg")?.getBoundingClientRect();
    if (!view || !corner) return;
    const origin = view.origin();
    const x = event.clientX - corner.left - origin[0] - chart_padding;
    const y = event.clientY - corner.top - origin[1] - chart_padding;
    const inside = x >= 0 && y >= 0 && x <= view.signal("width") && y <= view.signal("height");
    if (inside) on_move(view, event, x, y);
    else left();
  }
  for (const name of ["pointermove", "pointerdown"]) box.addEventListener(name, moved);
  for (const name of ["pointerleave", "pointercancel"]) box.addEventListener(name, left);
}

/// A figure with a heading and an empty box for a chart, and the box.
function figure(title, label) {
  const box = element("div", {class: "chart", "data-label": label ?? title});
  return {box, whole: element("figure", {}, title && element("h3", {}, title), box)};
}
