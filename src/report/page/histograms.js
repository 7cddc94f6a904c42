// How attention weights are distributed, layer by layer, for all runs, after training and before it: the
// paper's figure.

const before_training = [1, 3];

/// The share of each bin; on a logarithmic scale an empty bin lies on the floor.
function histogram_points({edges, counts}, floor) {
  const total = counts.reduce((a, b) => a + b, 0);
  const points =
      counts.map((count, i) => ({x: edges[i], y: Math.max(floor, count / total), share: count / total}));
  return total ? [...points, {...points[points.length - 1], x: edges[counts.length]}] : [];
}

/// The power of ten beneath every bin that is not empty.
function histogram_floor(entries) {
  const shares = entries.flatMap(({histogram: {counts, start = []}}) => [counts, start].flatMap((each) => {
    const total = each.reduce((a, b) => a + b, 0);
    return each.filter((count) => count > 0).map((count) => count / total);
  }));
  return 10 ** (Math.ceil(Math.log10(Math.min(0.1, ...shares))) - 1);
}

/// One layer of one stack: a line per run, and a dotted one for the weights that its training began with.
function layer_histogram(entries, label, floor) {
  const once = entries.filter((entry, i) => entries.findIndex((other) => other.run === entry.run) === i);
  const lines =
      once.flatMap(({run, histogram}) => [{...run, points: histogram_points(histogram, floor)}, {
                     ...run,
                     name: `${run.name} before training`,
                     dash: before_training,
                     points: histogram.start ?
                         histogram_points({edges: histogram.edges, counts: histogram.start}, floor) :
                         []
                   }])
          .filter((line) => line.points.length);
  if (!lines.length) return null;
  const edges = once[0].histogram.edges;
  const {box, whole} = figure(`Layer ${entries[0].layer + 1}`, label);
  queueMicrotask(line_chart(box, lines, {
    x: "weight",
    x_text: (edge) => `${short(edge)} to ${short(edges[edges.indexOf(edge) + 1])}`,
    y: "share of weights",
    height: 150,
    step: true,
    y_scale: "log",
    y_domain: [floor, 1],
    y_text: ({share}) => `${short(100 * share)}%`,
    x_scale: edges[0] > 0 ? "log" : "linear"
  }));
  return whole;
}

function histograms_section() {
  const entries = runs.flatMap(
      (run) => (run.attention ?? []).filter((entry) => entry.histogram).map((entry) => ({run, ...entry})));
  if (!entries.length) return null;
  const floor = histogram_floor(entries);
  const parts = in_order(entries.map((entry) => entry.stack)).map((stack) => {
    const of_stack = entries.filter((entry) => entry.stack === stack);
    const layers = distinct(of_stack.map((entry) => entry.layer)).sort((a, b) => a - b);
    return element(
        "div", {}, element("h3", {}, capital(stack_names[stack])),
        element(
            "div", {class: "small"},
            layers.map(
                (layer) => layer_histogram(
                    of_stack.filter((entry) => entry.layer === layer),
                    `Attention weights, ${stack}, layer ${layer + 1}`, floor))));
  });
  return section(
      "histograms", "How weights are distributed",
      element(
          "p", {class: "quiet"},
          "The share of attention weights of each size, on a logarithmic scale." +
              (entries.some((entry) => entry.histogram.start) ?
                   " Dotted: with the weights that training began with." :
                   "")),
      runs.length > 1 && key_of(runs.filter((run) => run.attention?.some((entry) => entry.histogram))),
      ...parts);
}
