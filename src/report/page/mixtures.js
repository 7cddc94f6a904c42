// The weights with which a mixture joins its members, in every layer, over training.

/// Weights of a record as one list a head; a mixture that all heads share is a list of one.
const by_head = (record) => (Array.isArray(record.weights[0]) ? record.weights : [record.weights]);

/// How the members of a run's mixtures are drawn. One that is also a run of its own has that run's colour,
/// others have colours that no run has.
function member_styles(records) {
  return distinct(records.flatMap((record) => record.members))
      .map((name, m) => ({
             name,
             color:
                 runs.find((run) => run.name === name)?.color ?? `var(--run-${(runs.length + m) % palette})`,
             dash: dashes[m % dashes.length],
           }));
}

/// The lines of one layer. Each member's is the mean of its heads; the heads themselves are faint.
function mixture_lines(records, styles) {
  const heads = by_head(records[0]).length;
  return records[0].members.flatMap((name, m) => {
    const style = styles.find((each) => each.name === name);
    const points = (value) => records.map((record) => ({x: record.step, y: value(by_head(record))}));
    const mean = points((lists) => lists.reduce((sum, list) => sum + list[m], 0) / lists.length);
    const of_head = (h) => ({...style, dash: [], faint: true, points: points((lists) => lists[h][m])});
    const each = heads > 1 ? Array.from({length: heads}, (_, h) => of_head(h)) : [];
    return [...each, {...style, points: mean}];
  });
}

/// A chart a layer, in a row a stack.
function mixture_charts(run, styles) {
  const records = [...run.mixture].sort((a, b) => a.step - b.step);
  return distinct(records.map((record) => record.stack ?? "")).map((stack) => {
    const of_stack = records.filter((record) => (record.stack ?? "") === stack);
    const row = element("div", {class: "small"});
    for (const layer of distinct(of_stack.map((record) => record.layer)).sort((a, b) => a - b)) {
      const {box, whole: made} =
          figure(`Layer ${layer + 1}`, `Mixture weights of ${run.name}, layer ${layer + 1}`);
      const lines = mixture_lines(of_stack.filter((record) => record.layer === layer), styles);
      row.append(made);
      queueMicrotask(
          line_chart(box, lines, {x: "step", x_text: whole, y: "weight", height: 130, y_domain: [0, 1]}));
    }
    return element("div", {}, stack && element("h3", {}, capital(stack_names[stack] ?? stack)), row);
  });
}

function mixtures_section() {
  const mixed = runs.filter((run) => run.mixture?.length);
  if (!mixed.length) return null;
  const pictures = element("div");
  function draw() {
    const run = mixed[Number(which.value())], styles = member_styles(run.mixture);
    pictures.replaceChildren(key_of(styles), ...mixture_charts(run, styles));
  }
  const which = choice("Run", mixed.map((run, i) => [i, run.name + logit_rate(run)]), draw);
  const by_heads = mixed.some((run) => run.mixture.some((record) => by_head(record).length > 1));
  const about =
      "The weight of each member in every layer, from the first step to the last. They are in the " +
      "parameter group logits, whose learning rate train.logit_learning_rate multiplies." +
      (by_heads ? " Faint lines are single heads." : "");
  queueMicrotask(draw);
  return section(
      "mixtures", "What the mixtures learned to trust", element("p", {class: "quiet"}, about),
      element("div", {class: "controls"}, which.whole), pictures);
}
