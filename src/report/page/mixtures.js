// The weights with which a mixture joins its members, in every layer, over training.

/// Weights of a record as one list a head; a mixture that all heads share is a list of one.
const by_head = (record) => (Array.isArray(record.weights[0]) ? record.weights : [record.weights]);

/// Each member's line is the mean of its heads; the heads themselves are faint.
function mixture_lines(records, members) {
  const heads = Math.max(...records.map((record) => by_head(record).length));
  return members.flatMap((name, m) => {
    const color = `var(--run-${m % palette})`, points = (value) => records.map((record) => ({ x: record.step, y: value(by_head(record)) }));
    const mean = (lists) => lists.reduce((sum, list) => sum + list[m], 0) / lists.length;
    const each = heads < 2 ? [] : Array.from({ length: heads }, (_, h) => ({ name, color, dash: [], faint: true, points: points((lists) => lists[h][m]) }));
    return [...each, { name, color, dash: dashes[m % dashes.length], points: points(mean) }];
  });
}

function mixtures_section() {
  const mixed = runs.filter((run) => run.mixture?.length);
  if (!mixed.length) return null;
  const pictures = element("div"), whose = element("div");
  function draw() {
    const run = mixed[Number(which.value())], records = [...run.mixture].sort((a, b) => a.step - b.step);
    const members = records[0].members;
    whose.replaceChildren(key_of(members.map((name, m) => ({ name, color: `var(--run-${m % palette})`, dash: dashes[m % dashes.length] }))));
    pictures.replaceChildren();
    for (const stack of distinct(records.map((record) => record.stack ?? ""))) {
      const row = element("div", { class: "small" });
      pictures.append(element("div", {}, stack && element("h3", {}, stack_names[stack] ?? stack), row));
      const of_stack = records.filter((record) => (record.stack ?? "") === stack);
      for (const layer of distinct(of_stack.map((record) => record.layer)).sort((a, b) => a - b)) {
        const { box, whole } = figure(`Layer ${layer + 1}`, `Mixture weights of ${run.name}, layer ${layer + 1}`);
        row.append(whole);
        line_chart(box, mixture_lines(of_stack.filter((record) => record.layer === layer), members),
          { x: "step", x_text: (step) => fixed(step, 0), y: "weight", height: 130, y_domain: [0, 1] })();
      }
    }
  }
  const which = choice("Run", mixed.map((run, i) => [i, run.name]), draw);
  queueMicrotask(draw);
  return section("mixtures", "What the mixtures learned to trust", element("p", { class: "quiet" },
    "The weight of each member in every layer, from the first step to the last. Faint lines are single heads."),
    element("div", { class: "controls" }, which.whole), whose, pictures);
}
