// A dot a run: what it costs across, how good it is upwards, the interval of the score as a line through it.

/// points: [{ name, color, shape, x, y, low, high }]; low and high may be missing.
function scatter_chart(box, points, options) {
  const ys = points.flatMap((point) => [point.y, point.low, point.high]).filter(is_number);
  const padded = ([low, high], share) => {
    const room = (high - low || Math.abs(high) || 1) * share;
    return [low - room, high + room];
  };
  const x_domain = padded(extent(points.map((point) => point.x)), 0.12);
  const spec = (width) => ({
    height: 280,
    data: [{name: "points", values: points}],
    scales: [
      {
        name: "x",
        type: "linear",
        range: "width",
        zero: false,
        domain: [Math.max(0, x_domain[0]), x_domain[1]]
      },
      {
        name: "y",
        type: "linear",
        range: "height",
        zero: false,
        domain: padded(extent(ys), 0.12),
        reverse: options.lower_is_better
      },
    ],
    axes: [
      {
        orient: "bottom",
        scale: "x",
        title: options.x,
        tickCount: Math.max(3, Math.floor(width / 100)),
        format: "~s",
        labelOverlap: true,
        grid: true
      },
      {orient: "left", scale: "y", title: options.y, tickCount: 6, grid: true, domain: false, ticks: false},
    ],
    marks: [
      {
        type: "rule",
        from: {data: "points"},
        encode: {
          enter: {
            x: {scale: "x", field: "x"},
            stroke: {field: "color"},
            strokeOpacity: {value: 0.55},
            y: {scale: "y", signal: "isNumber(datum.low) ? datum.low : datum.y"},
            y2: {scale: "y", signal: "isNumber(datum.high) ? datum.high : datum.y"}
          }
        }
      },
      {
        type: "symbol",
        name: "dots",
        from: {data: "points"},
        encode: {
          enter: {
            x: {scale: "x", field: "x"},
            y: {scale: "y", field: "y"},
            size: {value: 80},
            shape: {field: "shape"},
            fill: {field: "color"},
            stroke: {value: "var(--paper)"}
          }
        }
      },
      // A name stands on whichever side of its dot there is room.
      {
        type: "text",
        from: {data: "dots"},
        encode: {
          enter: {text: {field: "datum.name"}, fill: {field: "datum.color"}, fontSize: {value: 12}},
        },
        transform: [{
          type: "label",
          size: {signal: "[width, height]"},
          anchor: ["top-right", "right", "top-left", "left", "bottom-right", "bottom-left", "top", "bottom"],
          offset: [3],
          padding: 0,
        }],
      },
    ],
  });
  return chart(box, spec, (view, event, x, y) => {
    if (!event) return;
    const distance = (point) => Math.hypot(view.scale("x")(point.x) - x, view.scale("y")(point.y) - y);
    const point = points.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    if (distance(point) > 40) return hide_tip();
    const interval =
        is_number(point.low) ? ` (${options.y_text(point.low)} to ${options.y_text(point.high)})` : "";
    show_tip(
        event, tip_table([
          [point.color, element("strong", {}, point.name), ""],
          [null, options.y, options.y_text(point.y) + interval], [null, options.x, options.x_text(point.x)]
        ]));
  });
}
