// The page from top to bottom: each section comes if the report has data for it.

/// What stands out, in a sentence or two.
function summary() {
  if (report.summary) return report.summary;
  const score = scores[0], parts = [];
  if (!runs.length) return "";
  if (runs.length === 1) {
    const value = score && score_of(runs[0], score.key);
    return is_number(value) ? `${runs[0].name} reaches ${score.name} ${fixed(value, score.decimals ?? 2)}.` :
                              "";
  }
  const top = score && best(runs.map((run) => score_of(run, score.key)), score.higher_is_better);
  const winner = runs.find((run) => score && score_of(run, score.key) === top && is_number(top));
  if (winner) parts.push(`${winner.name} has the best ${score.name}, ${fixed(top, score.decimals ?? 2)}`);
  const speed = best(runs.map((run) => run.train_tokens_per_second), true),
        fastest = runs.find((run) => run.train_tokens_per_second === speed);
  if (is_number(speed))
    parts.push(`${fastest.name} trains fastest, at ${whole(speed)} ${rate_unit} a second`);
  return parts.length ? `${parts.join("; ")}.` : "";
}

document.getElementById("summary").textContent = summary();
document.getElementById("facts").textContent = [report.data, report.created].filter(Boolean).join(" · ");
start_theme();

const sections =
    [
      table_section, curves_section, trade_offs_section, attention_section, histograms_section,
      mixtures_section, moved_section, samples_section, settings_section, command_section
    ].map((make) => make())
        .filter(Boolean);
document.getElementById("sections").append(...sections);
document.getElementById("contents")
    .append(
        ...sections.map((part) => element("a", {href: `#${part.id}`}, part.querySelector("h2").textContent)));
document.getElementById("footer").textContent = ["Synthesizer", report.version].filter(Boolean).join(" ");
