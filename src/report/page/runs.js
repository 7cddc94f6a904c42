// The report's data, and what every section needs of a run: its name, its colour, the scores that are shown.

const report = JSON.parse(document.getElementById("data").textContent);
const rate_unit = report.unit ?? "tokens";
const runs = report.runs ?? [];
const scores = report.scores ?? [];

const palette = 8, dashes = [[], [6, 3], [2, 3]],
      shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"];

/// A run looks the same wherever it appears. With more runs than colours the line's dashes tell them apart.
runs.forEach((run, number) => {
  run.number = number;
  run.color = `var(--run-${number % palette})`;
  run.dash = dashes[Math.floor(number / palette) % dashes.length];
  run.shape = shapes[number % shapes.length];
});

const score_of = (run, key) => run.scores?.[key]?.value;

/// The best of the values by a score's direction; undefined where fewer than two are numbers.
function best(values, higher_is_better) {
  const known = values.filter(is_number);
  if (known.length < 2) return undefined;
  return higher_is_better ? Math.max(...known) : Math.min(...known);
}

/// A list of whose colour is whose: [{ name, color, dash }].
function key_of(lines) {
  return element(
      "ul", {class: "key"},
      lines.map(
          ({name, color, dash}) => element(
              "li", {},
              element(
                  "span",
                  {class: "dash", style: {"--own": color, "--style": dash?.length ? "dashed" : "solid"}}),
              name)));
}

/// A run's name with its colour before it.
function named(run) {
  return [element("span", {class: "swatch", style: {"--own": run.color}}), run.name];
}
