// Numbers as people read them. A value that is not there is a dash.

const missing = "–";
const is_number = (value) => typeof value === "number" && Number.isFinite(value);

function fixed(value, decimals = 2) {
  return is_number(value) ?
      value.toLocaleString("en", {minimumFractionDigits: decimals, maximumFractionDigits: decimals}) :
      missing;
}

const capital = (text) => text.replace(/^./, (first) => first.toUpperCase());

const whole = (value) => fixed(value, 0);

/// Four digits that count, whatever the size: 0.0123, 5.102, 178.1, 12,345.
function short(value) {
  if (!is_number(value)) return missing;
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-4) return value.toExponential(1);
  return value.toLocaleString(
      "en", size >= 1000 ? {maximumFractionDigits: 0} : {maximumSignificantDigits: 4});
}

/// 7358720 as 7.36 M.
function millions(value) {
  if (!is_number(value)) return missing;
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size) return `${(value / size).toPrecision(3)} ${unit}`;
  }
  return whole(value);
}

function bytes(value) {
  if (!is_number(value)) return missing;
  const unit = value >= 2 ** 30 ? ["GiB", 2 ** 30] : ["MiB", 2 ** 20];
  return `${fixed(value / unit[1], value >= 100 * unit[1] ? 0 : 1)} ${unit[0]}`;
}

/// Seconds as 0:42, 12:07 or 1:02:07.
function duration(value) {
  if (!is_number(value)) return missing;
  const seconds = Math.round(value), two = (part) => String(part).padStart(2, "0");
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/// The unit in which a whole axis of seconds reads best.
function time_unit(seconds) {
  if (seconds >= 2 * 3600) return {name: "hours", size: 3600};
  return seconds >= 120 ? {name: "minutes", size: 60} : {name: "seconds", size: 1};
}
