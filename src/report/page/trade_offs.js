// Quality against speed and against parameters.

function trade_offs_section() {
  const costs = {
    speed: [
      ["decode_tokens_per_second", `decoding ${rate_unit}/s`],
      ["train_tokens_per_second", `training ${rate_unit}/s`]
    ],
    size: [["total", "parameters"], ["synthesis", "parameters of the synthesis"]],
  };
  const cost_of = (run, key) => run[key] ?? run.parameters?.[key];
  const known = (key) => runs.filter((run) => is_number(cost_of(run, key))).length > 1;
  const scored =
      scores.filter((score) => runs.filter((run) => is_number(score_of(run, score.key))).length > 1);
  if (!scored.length || ![...costs.speed, ...costs.size].some(([key]) => known(key))) return null;
  const pictures = element("div", {class: "pair"});
  const has_intervals = scored.some((score) => runs.some((run) => is_number(run.scores?.[score.key]?.low)));

  function draw() {
    const score = scored.find((score) => score.key === quality.value()),
          text = (value) => fixed(value, score.decimals ?? 2);
    pictures.replaceChildren();
    for (const cost of [speed, size]) {
      const key = cost.value(), title = [...costs.speed, ...costs.size].find(([known]) => known === key)?.[1];
      const points = runs.filter((run) => is_number(cost_of(run, key)) && is_number(score_of(run, score.key)))
                         .map((run) => {
                           const {value, low, high} = run.scores[score.key];
                           return {
                             name: run.name,
                             color: run.color,
                             shape: run.shape,
                             x: cost_of(run, key),
                             y: value,
                             low,
                             high
                           };
                         });
      if (points.length < 2) continue;
      const {box, whole} = figure(`${score.name} against ${title}`);
      pictures.append(whole);
      scatter_chart(
          box, points,
          {x: title, y: score.name, x_text: short, y_text: text, lower_is_better: !score.higher_is_better})();
    }
  }
  const offered = (list) => list.filter(([key]) => known(key));
  const quality = choice("Quality", scored.map((score) => [score.key, score.name]), draw);
  const speed = choice("Speed", offered(costs.speed), draw), size = choice("Size", offered(costs.size), draw);
  queueMicrotask(draw);
  return section(
      "trade-offs", "Quality against cost",
      element("p", {class: "quiet"}, "Better is up.", has_intervals && " Lines are the scores' intervals."),
      element("div", {class: "controls"}, quality.whole, speed.whole, size.whole), pictures);
}
