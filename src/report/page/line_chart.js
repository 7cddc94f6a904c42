// Lines over one axis: curves of training, histograms, weights over time. The pointer finds the values.

/// The point of a line that is nearest to x, in a list sorted by x.
function nearest(points, x) {
  let low = 0, high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].x < x) low = middle;
    else high = middle;
  }
  return Math.abs(points[low].x - x) <= Math.abs(points[high].x - x) ? points[low] : points[high];
}

/// The bin that x falls into: the last point before it. The very last point only ends the last bin.
function bin_of(points, x) {
  const after = points.findIndex((point, i) => point.x > x || i === points.length - 1);
  return points[Math.max(0, after - 1)];
}

/// Few enough points to draw: every n-th, and always the last.
function thin(points, most = 600) {
  const every = Math.ceil(points.length / most);
  return points.filter((_, i) => i % every === 0 || i === points.length - 1);
}

const powers_of_ten = ([low, high]) =>
    Array.from({length: Math.round(Math.log10(high / low)) + 1}, (_, i) => high / 10 ** i);

/// The least and the greatest, of lists that may be too long to be arguments of a function.
const extent = (values) => values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

/// The points that the height of a chart is for: not a line's first twentieth, where a loss falls so far that
/// nothing could be told apart afterwards.
const settled = (lines) => lines.flatMap(({points}) => points.slice(Math.floor(points.length / 20)));

/// lines: [{ name, color, dash, faint, points: [{ x, y }] }], sorted by x, all finite. options: x, y
/// (titles), height, x_scale, y_scale ("linear", "log"), y_domain, step (for histograms), x_text (a number as
/// text), y_text (a point as text).
function line_chart(box, lines, options) {
  const {height = 260, x_scale = "linear", y_scale = "linear", x_text = short, y_text = ({y}) => short(y)} =
      options;
  const x_domain = extent(lines.flatMap((line) => line.points.map((point) => point.x)));
  const told = lines.filter((line) => !line.faint);
  const spec = (width) => ({
    height,
    signals: [{name: "at", value: null}],
    data: [
      {name: "lines", values: lines.map((line, number) => ({...line, number, points: thin(line.points)}))},
      {name: "near", values: []},
    ],
    scales: [
      {name: "x", type: x_scale, range: "width", nice: false, zero: false, domain: x_domain},
      {
        name: "y",
        type: y_scale,
        range: "height",
        nice: true,
        zero: false,
        domain: options.y_domain ?? extent(settled(lines).map((point) => point.y))
      },
    ],
    axes: [
      {
        orient: "bottom",
        scale: "x",
        title: options.x,
        tickCount: Math.max(3, Math.floor(width / 90)),
        labelOverlap: true,
        labelFlush: true
      },
      {
        orient: "left",
        scale: "y",
        title: options.y,
        grid: true,
        ...(y_scale === "log" ? {values: powers_of_ten(options.y_domain)} :
                                {tickCount: height > 180 ? 6 : 4}),
        domain: false,
        ticks: false,
        labelOverlap: true
      },
    ],
    marks: [
      {
        type: "group",
        from: {facet: {name: "line", data: "lines", field: "points"}},
        clip: true,
        encode: {enter: {width: {signal: "width"}, height: {signal: "height"}}},
        marks: [{
          type: "line",
          from: {data: "line"},
          encode: {
            enter: {
              x: {scale: "x", field: "x"},
              y: {scale: "y", field: "y"},
              interpolate: {value: options.step ? "step-after" : "linear"},
              strokeJoin: {value: "round"},
              stroke: {field: {parent: "color"}},
              strokeDash: {field: {parent: "dash"}},
              strokeWidth: {signal: "parent.faint ? 1 : 1.75"},
              strokeOpacity: {signal: "parent.faint ? 0.45 : 1"}
            }
          }
        }]
      },
      {
        type: "rule",
        encode: {
          enter: {stroke: {value: "var(--quiet)"}, y: {value: 0}, y2: {signal: "height"}},
          update:
              {x: {signal: "at === null ? 0 : scale('x', at)"}, opacity: {signal: "at === null ? 0 : 0.5"}}
        }
      },
      {
        type: "symbol",
        from: {data: "near"},
        encode: {
          enter: {
            x: {scale: "x", field: "x"},
            y: {scale: "y", field: "y"},
            size: {value: 36},
            fill: {field: "color"},
            stroke: {value: "var(--paper)"}
          }
        }
      },
    ],
  });
  return chart(box, spec, (view, event, x) => {
    if (!event) return view.signal("at", null).data("near", []).run();
    const wanted = view.scale("x").invert(x);
    const near = told.map((line) => ({line, point: (options.step ? bin_of : nearest)(line.points, wanted)}));
    const at = near.map(({point}) => point.x)
                   .reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a));
    view.signal("at", at).data("near", near.map(({line, point}) => ({...point, color: line.color}))).run();
    const text = (point) => y_text(point) + (point.x === at ? "" : ` (${x_text(point.x)})`);
    const rows = near.map((each) => [each.line.color, each.line.name, text(each.point)]);
    show_tip(event, element("strong", {}, `${options.x} ${x_text(at)}`), tip_table(rows));
  });
}
