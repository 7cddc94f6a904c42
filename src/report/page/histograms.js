// How attention weights are distributed, layer by layer, for all runs: the paper's figure.

function histogram_points({ edges, counts }) {
  const total = counts.reduce((a, b) => a + b, 0);
  const points = counts.map((count, i) => ({ x: edges[i], y: count / total })).filter((point) => point.y > 0);
  return points.length ? [...points, { x: edges[counts.length], y: points[points.length - 1].y }] : [];
}

function histograms_section() {
  const entries = runs.flatMap((run) => (run.attention ?? []).filter((entry) => entry.histogram).map((entry) => ({ run, ...entry })));
  if (!entries.length) return null;
  const parts = distinct(entries.map((entry) => entry.stack)).map((stack) => {
    const layers = entries.filter((entry) => entry.stack === stack), row = element("div", { class: "small" });
    for (const layer of distinct(layers.map((entry) => entry.layer)).sort((a, b) => a - b)) {
      const of_layer = layers.filter((entry) => entry.layer === layer);
      const once = of_layer.filter((entry, i) => of_layer.findIndex((other) => other.run === entry.run) === i);
      const lines = once.map(({ run, histogram }) => ({ ...run, points: histogram_points(histogram) })).filter((line) => line.points.length);
      if (!lines.length) continue;
      const { box, whole } = figure(`Layer ${layer + 1}`, `Attention weights, ${stack}, layer ${layer + 1}`);
      row.append(whole);
      queueMicrotask(line_chart(box, lines, { x: "weight", y: "share of weights", height: 150, step: true, y_scale: "log",
        x_scale: once[0].histogram.edges[0] > 0 ? "log" : "linear" }));
    }
    return element("div", {}, element("h3", {}, stack_names[stack]?.replace(/^./, (first) => first.toUpperCase()) ?? stack), row);
  });
  return section("histograms", "How weights are distributed",
    element("p", { class: "quiet" }, "The share of attention weights of each size, on a logarithmic scale."), key_of(runs.filter((run) => run.attention?.length)), ...parts);
}
