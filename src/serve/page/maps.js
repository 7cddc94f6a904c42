// Below the answers: the attention of each model for the same text, drawn by the report's own section.

async function show_maps(looks, signal) {
  const answers = await Promise.allSettled(
      looks.map(({model, look}) => ask("v1/attention", {model: model.id, all: true, ...look}, signal)));
  runs.length = 0;
  answers.forEach((answer, n) => {
    if (answer.status !== "fulfilled" || !answer.value.layers.length) return;
    runs.push({name: looks[n].model.id, attention: answer.value.layers});
  });
  theme_listeners.length = 0;  // of the section that is replaced
  const section = attention_section();
  by_id("maps").replaceChildren(...(section ? [section] : []));
}
