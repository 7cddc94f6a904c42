// What each run made of the same inputs.

/// A label is right or wrong; a sentence is not.
function is_wrong(output, reference) {
  return report.task === "classification" && reference != null && output.trim() !== reference.trim();
}

function sample({source, reference}, number) {
  const line =
      (name, text, wrong) => [element("dt", {}, name), element("dd", {class: wrong ? "wrong" : null}, text)];
  const outputs = runs.filter((run) => run.outputs?.[number] != null).map((run) => {
    const output = run.outputs[number];
    return line(element("span", {}, named(run)), output, is_wrong(output, reference));
  });
  const input = report.task === "language-model" ? "Prompt" : "Source";
  return element(
      "div", {class: "sample"},
      element(
          "dl", {}, source != null && line(input, source), reference != null && line("Reference", reference),
          outputs));
}

function samples_section() {
  const samples = report.samples ?? [];
  if (!samples.some((_, i) => runs.some((run) => run.outputs?.[i] != null))) return null;
  return section("samples", "Sample outputs", ...samples.map(sample));
}
