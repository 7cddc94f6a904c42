// One chart in one box: drawn by Vega as SVG at the width the box has, and drawn again when that changes.

const chart_config = {
  background: null,
  axis: {
    domainColor: "var(--line)", tickColor: "var(--line)", gridColor: "var(--line)", gridOpacity: 0.55, tickSize: 4,
    labelColor: "var(--quiet)", titleColor: "var(--quiet)", labelFontSize: 11, titleFontSize: 11.5,
    titleFontWeight: 400, labelFont: "sans-serif", titleFont: "sans-serif", titlePadding: 6, labelPadding: 4,
  },
};

/// Draws spec(width) in the box. `on_move(view, event, x, y)` hears of the pointer, x and y in the plot's own pixels,
/// and of its leaving, without them. Gives a function that draws anew.
function chart(box, spec, on_move) {
  let view, drawn_width = 0;
  function draw() {
    const width = Math.floor(box.clientWidth);
    if (!width) return;
    drawn_width = width;
    view?.finalize();
    const full = { padding: 0, autosize: { type: "fit", contains: "padding" }, width, ...spec(width) };
    view = new vega.View(vega.parse(full, chart_config), { renderer: "svg", container: box, hover: false, logLevel: vega.Warn });
    view.run();
  }
  new ResizeObserver(() => Math.floor(box.clientWidth) !== drawn_width && draw()).observe(box);
  if (on_move) {
    const moved = (event) => {
      const corner = box.querySelector("svg")?.getBoundingClientRect();
      if (!corner) return;
      const [left, top] = view.origin(), x = event.clientX - corner.left - left, y = event.clientY - corner.top - top;
      const inside = x >= 0 && y >= 0 && x <= view.signal("width") && y <= view.signal("height");
      if (!inside) return left_plot();
      on_move(view, event, x, y);
    };
    const left_plot = () => {
      hide_tip();
      if (view) on_move(view);
    };
    box.addEventListener("pointermove", moved);
    box.addEventListener("pointerdown", moved);
    box.addEventListener("pointerleave", left_plot);
  }
  return draw;
}

/// A figure with a heading and an empty box for a chart, and the box.
function figure(title, label) {
  const box = element("div", { class: "chart", role: "img", "aria-label": label ?? title });
  return { box, whole: element("figure", {}, title && element("h3", {}, title), box) };
}
