// How far tables moved in training, layer by layer. An entry of a table is a logit: a change of 1 multiplies
// an attention weight by 2.7 against the others.

const mean_of = (numbers) => {
  const known = (numbers ?? []).filter(is_number);
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
};

/// "learning rate × 30", where tables and mixture weights have one of their own.
const logit_rate = (run) =>
    (is_number(run.logit_learning_rate) && run.logit_learning_rate !== 1 ?
         ` (learning rate \u00d7 ${short(run.logit_learning_rate)})` :
         "");

function moved_row(run, table) {
  const change = mean_of(table.change), moved = mean_of(table.moved);
  return element(
      "tr", {}, element("th", {scope: "row"}, named(run), logit_rate(run)), element("td", {}, table.member),
      element("td", {}, `${stack_names[table.stack] ?? table.stack} ${table.layer + 1}`),
      element("td", {class: is_number(change) ? null : "none"}, fixed(change, 3)),
      element("td", {class: is_number(moved) ? null : "none"}, fixed(moved, 3)));
}

function moved_section() {
  const rows = runs.flatMap((run) => (run.tables ?? []).map((table) => moved_row(run, table)));
  if (!rows.length) return null;
  const heads = ["Run", "Table", "Layer", "Change of an entry", "Of its start"];
  return section(
      "moved", "How far tables moved",
      element(
          "p", {class: "quiet"},
          "Root mean square of what training changed in an entry (a logit), and the same as a share of the " +
              "table's start; means over heads. Tables and mixture weights are in the parameter group logits, " +
              "whose learning rate train.logit_learning_rate multiplies."),
      scroller(
          "How far tables moved",
          element(
              "table", {class: "numbers"},
              element(
                  "thead", {}, element("tr", {}, heads.map((text) => element("th", {scope: "col"}, text)))),
              element("tbody", {}, rows))));
}
