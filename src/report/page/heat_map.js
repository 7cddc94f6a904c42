// One matrix of weights with its tokens or positions on the axes.

/// Labels where they have room: all tokens, or every n-th position.
function ticks(count, labels, pixels) {
  const every = labels ? Math.ceil((count * 11) / pixels) :
                         Math.max(1, Math.ceil(count / Math.max(2, Math.floor(pixels / 40))));
  return Array.from({length: count}, (_, i) => i).filter((i) => i % every === 0);
}

/// options: color (value to colour), row_labels, column_labels (tokens, or nothing for positions), name.
function heat_map(box, matrix, options) {
  const {rows, columns} = matrix, {row_labels, column_labels} = options;
  const longest =
      Math.min(70, 12 + 6.2 * Math.max(0, ...(row_labels ?? ["00"]).map((label) => label.length)));
  const axis = (orient, scale, count, labels, pixels) => ({
    orient,
    scale,
    values: ticks(count, labels, pixels),
    domain: false,
    ticks: false,
    labelLimit: 66,
    ...(labels &&
        {labelFontSize: 10, encode: {labels: {update: {text: {signal: `${scale}_labels[datum.value]`}}}}}),
    ...(orient === "top" && labels && {labelAngle: -60, labelAlign: "left", labelBaseline: "middle"}),
  });
  const spec = (width) => {
    const cell = Math.min((width - longest - 2 * chart_padding) / columns, 44),
          across = Math.floor(cell * columns), down = Math.floor(cell * rows);
    return {
      autosize: "pad",
      width: across,
      height: down,
      signals: [
        {name: "x_labels", value: column_labels ?? []}, {name: "y_labels", value: row_labels ?? []},
        {name: "at", value: null}
      ],
      data: [{name: "picture", values: [{image: picture(matrix, options.color())}]}],
      scales: [
        {name: "x", type: "band", range: [0, across], domain: Array.from({length: columns}, (_, i) => i)},
        {name: "y", type: "band", range: [0, down], domain: Array.from({length: rows}, (_, i) => i)},
      ],
      axes: [axis("top", "x", columns, column_labels, across), axis("left", "y", rows, row_labels, down)],
      marks: [
        {
          type: "image",
          from: {data: "picture"},
          encode: {
            enter: {
              image: {field: "image"},
              width: {signal: "width"},
              height: {signal: "height"},
              aspect: {value: false},
              smooth: {value: false}
            }
          }
        },
        {
          type: "rect",
          encode: {
            enter: {
              width: {scale: "x", band: 1},
              height: {scale: "y", band: 1},
              stroke: {value: "var(--run-1)"},
              strokeWidth: {value: 1.5}
            },
            update: {
              x: {scale: "x", signal: "at ? at[1] : 0"},
              y: {scale: "y", signal: "at ? at[0] : 0"},
              opacity: {signal: "at ? 1 : 0"}
            }
          }
        },
      ],
    };
  };
  return chart(box, spec, (view, event, x, y) => {
    if (!event) return view.signal("at", null).run();
    const row = Math.min(rows - 1, Math.floor((y / view.signal("height")) * rows));
    const column = Math.min(columns - 1, Math.floor((x / view.signal("width")) * columns));
    view.signal("at", [row, column]).run();
    const place = (labels, i) => (labels ? `${labels[i]} (${i})` : `position ${i}`);
    show_tip(
        event,
        element(
            "strong", {},
            matrix.masked(row, column) ? "masked" : `${options.name} ${short(matrix.at(row, column))}`),
        tip_table([[null, "row", place(row_labels, row)], [null, "column", place(column_labels, column)]]));
  });
}
