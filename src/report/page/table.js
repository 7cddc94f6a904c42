// The table: a row a run, any column sortable, the best of each in bold.

/// Everything a column needs: its title, a run's value, the value as text, which direction is better (if
/// any).
function table_columns() {
  const columns = [
    {title: "Parameters", value: (run) => run.parameters?.total, text: millions},
    {title: "Synthesis parameters", value: (run) => run.parameters?.synthesis, text: millions},
    ...scores.map((score) => ({
                    title: score.name,
                    score,
                    value: (run) => score_of(run, score.key),
                    higher: score.higher_is_better,
                    text: (value) => fixed(value, score.decimals ?? 2),
                  })),
    {
      title: `Training ${rate_unit}/s`,
      value: (run) => run.train_tokens_per_second,
      text: whole,
      higher: true
    },
    {
      title: `Decoding ${rate_unit}/s`,
      value: (run) => run.decode_tokens_per_second,
      text: whole,
      higher: true
    },
    {title: "Peak memory", value: (run) => run.peak_memory_bytes, text: bytes, higher: false},
    {title: "Time", value: (run) => run.seconds, text: duration, higher: false},
    {title: "Steps", value: (run) => run.steps, text: whole},
  ];
  return columns.filter((column) => runs.some((run) => is_number(column.value(run))));
}

/// What stands beside a score: its interval or its spread over seeds, and published figures.
function beside(score, cell) {
  const text = (value) => fixed(value, score.decimals ?? 2), notes = [];
  if (is_number(cell.spread)) notes.push(`± ${text(cell.spread)}`);
  if (is_number(cell.low) && is_number(cell.high)) notes.push(`${text(cell.low)} – ${text(cell.high)}`);
  if (is_number(cell.paper)) notes.push(`paper ${text(cell.paper)}`);
  if (is_number(cell.narang)) notes.push(`2021 ${text(cell.narang)}`);
  return notes.map((note) => element("small", {}, note));
}

/// Against the first run, by the paired test: * below 0.05, ** below 0.01.
function significance(cell) {
  if (!is_number(cell.p) || cell.p >= 0.05) return null;
  return element("sup", {title: `p = ${short(cell.p)} against ${runs[0].name}`}, cell.p < 0.01 ? "**" : "*");
}

function table_cell(column, run) {
  const value = column.value(run), cell = (column.score && run.scores?.[column.score.key]) || {};
  const top = "higher" in column && is_number(value) && value === best(runs.map(column.value), column.higher);
  return element(
      "td",
      {class: top           ? "best" :
           is_number(value) ? null :
                              "none"},
      column.text(value), significance(cell), ...beside(column.score ?? {}, cell));
}

function table_notes() {
  const all = runs.flatMap((run) => scores.map((score) => run.scores?.[score.key] ?? {})), notes = [];
  if (runs.length > 1) notes.push("Bold: the best of its column.");
  if (all.some((cell) => is_number(cell.low))) notes.push("Beneath a score: its 95% bootstrap interval.");
  if (all.some((cell) => is_number(cell.spread))) notes.push("±: standard deviation over seeds.");
  const tested = runs.length > 1 ? all.filter((cell) => is_number(cell.p)) : [];
  if (tested.some(significance))
    notes.push(`* p < 0.05, ** p < 0.01 in a paired test against ${runs[0].name}.`);
  else if (tested.length)
    notes.push(`No score differs from that of ${runs[0].name} with p < 0.05 in a paired test.`);
  if (all.some((cell) => is_number(cell.paper)))
    notes.push(report.paper ?? "Paper: the figure printed for the same attention.");
  if (all.some((cell) => is_number(cell.narang)))
    notes.push("2021: Narang et al., a later study with the authors' code (arXiv 2102.11972).");
  return notes.length ? element("p", {class: "quiet"}, notes.join(" ")) : null;
}

function table_section() {
  if (!runs.length) return null;
  const columns = table_columns(), body = element("tbody");
  let sorted = null, descending = false;
  const heads = columns.map(
      (column) => element(
          "th", {scope: "col"},
          element("button", {type: "button", onclick: () => sort(column)}, column.title)));
  function sort(column) {
    descending = column === sorted ? !descending : column.higher !== false;
    sorted = column;
    fill();
  }
  function fill() {
    const order = [...runs];
    if (sorted) {
      const worth = (run) =>
          (is_number(sorted.value(run)) ? sorted.value(run) * (descending ? -1 : 1) : Infinity);
      order.sort((a, b) => worth(a) - worth(b));
    }
    columns.forEach(
        (column, i) =>
            (column === sorted ? heads[i].setAttribute("aria-sort", descending ? "descending" : "ascending") :
                                 heads[i].removeAttribute("aria-sort")));
    body.replaceChildren(...order.map(
        (run) => element(
            "tr", {}, element("th", {scope: "row"}, named(run)),
            columns.map((column) => table_cell(column, run)))));
  }
  fill();
  return section(
      "table", runs.length > 1 ? "Side by side" : "Result",
      scroller(
          "Table of runs",
          element(
              "table", {class: "numbers"},
              element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "Attention"), heads)),
              body)),
      table_notes());
}
