// Matrices of weights as pictures, a pixel a weight. They come as base64 bytes between a lowest and a highest
// value.

/// { rows, columns, low, high, data } with its values at hand: at(row, column).
function matrix(packed) {
  const text = atob(packed.data);
  const {rows, columns, low = 0, high} = packed;
  return {
    rows,
    columns,
    low,
    high,
    at: (row, column) => low + (text.charCodeAt(row * columns + column) / 255) * (high - low)
  };
}

/// From nothing to much: from the colour of the paper to the strongest contrast with it. Values of both signs
/// have zero in the middle.
const ramps = {
  light: {
    one: ["#f7f9fb", "#9fc8e4", "#2f7fbc", "#08306b"],
    two: ["#8c3a00", "#f0a35e", "#f7f9fb", "#6fa8d6", "#08306b"]
  },
  dark: {
    one: ["#1c2026", "#22547f", "#4aa0da", "#e9f5ff"],
    two: ["#ffc285", "#b8601c", "#1c2026", "#2f79b3", "#a9dcff"]
  },
};

/// A function from a value to [red, green, blue]. `bend` below 1 tells small weights apart.
function colors(low, high, bend) {
  const signed = low < 0, most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const mix = vega.interpolateColors(ramps[is_dark() ? "dark" : "light"][signed ? "two" : "one"], "rgb");
  const table = Array.from({length: 256}, (_, i) => mix(i / 255).match(/\d+/g).map(Number));
  const share = (value) => Math.sign(value) * Math.pow(Math.min(1, Math.abs(value) / most), bend);
  return (value) => table[Math.round((signed ? (share(value) + 1) / 2 : share(value)) * 255)];
}

function picture(matrix, color) {
  const canvas = element("canvas", {width: matrix.columns, height: matrix.rows});
  const context = canvas.getContext("2d"), image = context.createImageData(matrix.columns, matrix.rows);
  for (let row = 0, place = 0; row < matrix.rows; ++row) {
    for (let column = 0; column < matrix.columns; ++column, place += 4) {
      image.data.set(color(matrix.at(row, column)), place);
      image.data[place + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/// The bar that says which colour is which value.
function ramp(low, high, bend) {
  const steps = 128, from = Math.min(0, low),
        values = {rows: 1, columns: steps, at: (_, i) => from + ((i + 0.5) / steps) * (high - from)};
  return element("p", {class: "ramp"}, short(from), picture(values, colors(low, high, bend)), short(high));
}
