// One card per model, filled as its answer arrives.

/// A card; `show(text)`, `facts(list)`, `fail(message)`, `labels(probabilities)` fill it.
function answer_card(model, prompt) {
  const text = element("p", {class: "text"}), facts = element("p", {class: "quiet"});
  const whole = element(
      "article", {class: "answer busy", "data-model": model.id}, element("h2", {}, model.id), text, facts);
  const settled = () => whole.classList.remove("busy");
  return {
    whole,
    show: (written) => text.replaceChildren(
        ...[prompt && element("span", {class: "prompt"}, prompt), written].filter(Boolean)),
    facts: (list) => {
      settled();
      facts.textContent = list.filter(Boolean).join(" · ");
    },
    fail: (message) => {
      settled();
      text.append(element("span", {class: "failed"}, message));
    },
    labels: (probabilities) => {
      const rows = Object.entries(probabilities).sort(([, a], [, b]) => b - a).slice(0, 8);
      whole.insertBefore(
          element(
              "table", {},
              element(
                  "tbody", {},
                  rows.map(
                      ([label, share]) => element(
                          "tr", {}, element("td", {}, label), element("td", {}, `${fixed(100 * share, 1)}%`),
                          element(
                              "td", {},
                              element("span", {class: "bar", style: {width: `${100 * share}%`}})))))),
          facts);
    }
  };
}

const seconds_since = (begin) => `${fixed((performance.now() - begin) / 1000, 2)} s`;

/// Each asks one model and resolves to the example whose attention is shown: {text, target}.
const answer_with = {
  async translate(model, input, settings, card, signal) {
    const begin = performance.now(), body = {model: model.id, text: input, ...settings};
    let text = "", score;
    if ((settings.beam ?? model.beam) === 1) {
      await stream("v1/translate", body, signal, (event) => {
        if (event.text) card.show(text += event.text);
        score = event.score ?? score;
      });
    } else {
      const [result] = (await ask("v1/translate", body, signal)).results;
      ({text, score} = result);
    }
    card.show(text);
    card.facts([seconds_since(begin), is_number(score) && `score ${fixed(score, 3)}`]);
    return {text: input, target: text};
  },

  async generate(model, input, settings, card, signal) {
    const begin = performance.now();
    let text = "", count;
    await stream("v1/generate", {model: model.id, prompt: input, ...settings}, signal, (event) => {
      if (event.text) card.show(text += event.text);
      count = event.tokens ?? count;
    });
    const seconds = (performance.now() - begin) / 1000;
    card.show(text);
    card.facts([
      seconds_since(begin), is_number(count) && `${whole(count)} tokens`,
      is_number(count) && seconds > 0 && `${whole(count / seconds)} tokens/s`
    ]);
    return {text: Array.from(input + text).slice(0, Math.min(64, model.max_length - 1)).join("")};
  },

  async classify(model, input, settings, card, signal) {
    const begin = performance.now();
    const [result] = (await ask("v1/classify", {model: model.id, text: input, ...settings}, signal)).results;
    card.show(result.label);
    card.labels(result.probabilities);
    card.facts([seconds_since(begin)]);
    return {text: input};
  }
};
