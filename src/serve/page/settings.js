// What can be set for each use of a model, and what of it goes into a request.

const use_names = {
  translate: "Text to text",
  generate: "Continue a text",
  classify: "Classify"
};

const input_names = {
  translate: "Text, one line",
  generate: "Prompt",
  classify: "Text"
};

function number_field(name, label, value, attributes) {
  const input = element("input", {type: "number", name, value, ...attributes});
  const whole = element("label", {}, label, input);
  return {whole, value: () => input.value === "" ? undefined : Number(input.value)};
}

/// What is done with a text that is longer than a model takes.
function truncation() {
  const box = element("input", {type: "checkbox", name: "truncate"});
  return {
    whole: element("label", {class: "check"}, box, "Cut a text that is too long"),
    values: () => box.checked ? {too_long: "truncate"} : {}
  };
}

/// The fields of a use: their elements, and `values()` for the request.
function settings_of(use) {
  const truncated = truncation();
  if (use === "translate") {
    const beam = choice(
        "Beam", [["", "model's own"], ["1", "1, streamed"], ["2", "2"], ["4", "4"], ["8", "8"]], () => {});
    return {
      whole: [beam.whole, truncated.whole],
      values: () => ({...(beam.value() && {beam: Number(beam.value())}), ...truncated.values()})
    };
  }
  if (use === "generate") {
    const fields = {
      tokens: number_field("tokens", "Tokens", Math.min(200, limits.tokens), {min: 1, max: limits.tokens}),
      temperature: number_field("temperature", "Temperature", 0.8, {min: 0, max: 10, step: 0.1}),
      top_k: number_field("top_k", "Top k", "", {min: 0, placeholder: "all"}),
      seed: number_field("seed", "Seed", 1, {min: 0})
    };
    return {
      whole: Object.values(fields).map((field) => field.whole),
      values: () => Object.fromEntries(Object.entries(fields)
                                           .map(([name, field]) => [name, field.value()])
                                           .filter(([, v]) => v !== undefined))
    };
  }
  return {whole: [truncated.whole], values: truncated.values};
}
