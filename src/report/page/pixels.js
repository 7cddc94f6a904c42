// Matrices of weights as pictures, a pixel a weight. They come as bytes in base64 (packed_matrix.h).

/// The matrix with its values at hand: at(row, column), masked(row, column), and all() that are not masked,
/// in no order. `causal`: no row sees the columns after it.
function matrix({rows, columns, low = 0, high, power = 1, data}, causal = false) {
  const text = atob(data);
  const levels = Array.from({length: 256}, (_, byte) => low + (high - low) * (byte / 255) ** power);
  const at = (row, column) => levels[text.charCodeAt(row * columns + column)];
  const masked = (row, column) => causal && column > row;
  const all = () => Array.from(text, (byte) => levels[byte.charCodeAt(0)])
                        .filter((_, i) => !masked(Math.floor(i / columns), i % columns));
  return {rows, columns, at, masked, all};
}

/// What the colours go up to, and whether there is anything below zero. Few large weights would leave all
/// others pale: the largest hundredth shares the strongest colour.
function reach(matrices) {
  const values = matrices.flatMap((each) => each.all());
  const sizes = values.map(Math.abs).filter((size) => size > 0).sort((a, b) => a - b);
  if (!sizes.length) return {most: 1, signed: false, cut: false};
  const most = sizes[Math.min(sizes.length - 1, Math.floor(0.99 * sizes.length))];
  return {most, signed: values.some((value) => value < 0), cut: most < sizes[sizes.length - 1]};
}

/// From nothing to much: from the colour of the paper to the strongest contrast with it. Values of both signs
/// have zero in the middle.
const ramps = {
  light: {
    one: ["#f7f9fb", "#9fc8e4", "#2f7fbc", "#08306b"],
    two: ["#8c3a00", "#f0a35e", "#f7f9fb", "#6fa8d6", "#08306b"],
    masked: "#c9cbce"
  },
  dark: {
    one: ["#1c2026", "#22547f", "#4aa0da", "#e9f5ff"],
    two: ["#ffc285", "#b8601c", "#1c2026", "#2f79b3", "#a9dcff"],
    masked: "#4d5157"
  },
};

/// A function from a value to [red, green, blue]. `bend` below 1 tells small weights apart.
function colors({most, signed}, bend) {
  const mix = vega.interpolateColors(ramps[is_dark() ? "dark" : "light"][signed ? "two" : "one"], "rgb");
  const table = Array.from({length: 256}, (_, i) => mix(i / 255).match(/\d+/g).map(Number));
  const share = (value) => Math.sign(value) * Math.pow(Math.min(1, Math.abs(value) / most), bend);
  return (value) => table[Math.round((signed ? (share(value) + 1) / 2 : share(value)) * 255)];
}

/// What cannot have a weight has a colour that no weight has.
function masked_color() {
  return ramps[is_dark() ? "dark" : "light"].masked;
}

function picture(matrix, color) {
  const masked = masked_color().match(/[0-9a-f]{2}/g).map((digits) => parseInt(digits, 16));
  const canvas = element("canvas", {width: matrix.columns, height: matrix.rows});
  const context = canvas.getContext("2d"), image = context.createImageData(matrix.columns, matrix.rows);
  for (let row = 0, place = 0; row < matrix.rows; ++row) {
    for (let column = 0; column < matrix.columns; ++column, place += 4) {
      image.data.set(matrix.masked?.(row, column) ? masked : color(matrix.at(row, column)), place);
      image.data[place + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/// The bar that says which colour is which value; `masked`: and which is none.
function ramp({most, signed, cut}, bend, masked) {
  const steps = 128, from = signed ? -most : 0;
  const values = {rows: 1, columns: steps, at: (_, i) => from + ((i + 0.5) / steps) * (most - from)};
  const bar = picture(values, colors({most, signed}, bend));
  const text = (value, word) => short(value) + (cut ? ` and ${word}` : "");
  const none = masked &&
      element("span", {class: "masked"}, element("i", {style: {background: masked_color()}}), "masked");
  return element("p", {class: "ramp"}, signed ? text(from, "less") : "0", bar, text(most, "more"), none);
}
