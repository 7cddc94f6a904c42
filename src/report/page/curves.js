// Loss and scores while training, for all runs, over steps or over time.

/// Held-out records may lack the clock: it is read off the training records around them.
function seconds_at(run, record) {
  if (is_number(record.seconds)) return record.seconds;
  const clock = (run.curves?.train ?? []).filter((other) => is_number(other.seconds));
  const after = clock.find((other) => other.step >= record.step), last = after ?? clock[clock.length - 1];
  return last && last.step ? (last.seconds * record.step) / last.step : undefined;
}

/// The points of one curve: [{ x, y }], sorted, only where both are numbers.
function curve_points(run, split, key, over, size) {
  return (run.curves?.[split] ?? [])
      .map((record) => ({x: over === "step" ? record.step : seconds_at(run, record) / size, y: record[key]}))
      .filter((point) => is_number(point.x) && is_number(point.y))
      .sort((a, b) => a.x - b.x);
}

function curves_section() {
  const has = (split, key) =>
      runs.some((run) => run.curves?.[split]?.some((record) => is_number(record[key])));
  const kept = scores.filter((score) => score.key !== "loss" && has("dev", score.key));
  if (!has("train", "loss") && !has("dev", "loss")) return null;
  const unit =
      time_unit(Math.max(...runs.map((run) => run.seconds ?? run.curves?.train?.at(-1)?.seconds ?? 0)));
  const pictures = element("div", {class: "pair"});

  function draw() {
    const over = across.value(), size = unit.size, x = over === "step" ? "step" : unit.name;
    pictures.replaceChildren();
    const add = (title, lines, options) => {
      const shown = lines.filter((line) => line.points.length);
      if (!shown.length) return;
      const made = figure(title);
      pictures.append(made.whole);
      line_chart(made.box, shown, {x, x_text: over === "step" ? whole : short, ...options})();
    };
    add(has("dev", "loss") ? "Loss: held out (strong) and training (faint)" : "Training loss",
        runs.flatMap(
            (run) =>
                [{...run, points: curve_points(run, "train", "loss", over, size), faint: has("dev", "loss")},
                 {...run, points: curve_points(run, "dev", "loss", over, size)}]),
        {y: "loss"});
    const score = kept.find((score) => score.key === what.value());
    if (score) {
      add(`${score.name}, held out`,
          runs.map((run) => ({...run, points: curve_points(run, "dev", score.key, over, size)})),
          {y: score.name, y_text: ({y}) => fixed(y, score.decimals ?? 2)});
    }
  }
  const across = choice("Over", [["step", "steps"], ["seconds", "time"]], draw);
  const what = choice("Score", kept.map((score) => [score.key, score.name]), draw);
  queueMicrotask(draw);
  return section(
      "curves", "While training", element("div", {class: "controls"}, across.whole, what.whole),
      runs.length > 1 && key_of(runs), pictures);
}
