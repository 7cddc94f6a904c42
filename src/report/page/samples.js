// What each run made of the same inputs.

const same_text = (a, b) => a.trim() === b.trim();

function samples_section() {
  const samples = report.samples ?? [];
  if (!samples.some((_, i) => runs.some((run) => run.outputs?.[i] != null))) return null;
  const line = (name, text, attributes) => [element("dt", {}, name), element("dd", attributes, text)];
  return section("samples", "Sample outputs", ...samples.map(({ source, reference }, i) => element("div", { class: "sample" },
    element("dl", {}, source != null && line(report.task === "language-model" ? "Prompt" : "Source", source),
      reference != null && line("Reference", reference),
      runs.filter((run) => run.outputs?.[i] != null).map((run) => line(element("span", {}, named(run)), run.outputs[i],
        // A label is right or wrong; a sentence is not.
        { class: report.task === "classification" && reference != null && !same_text(run.outputs[i], reference) ? "wrong" : null }))))));
}
