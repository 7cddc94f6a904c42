// Below the answers: the attention of each model for the same text, drawn by the report's own section.

/// Asks the models one after another: their requests must not fill the queue of the server.
async function attention_of(examples, signal) {
  const found = [], failed = [];
  for (const {model, example} of examples) {
    try {
      const {layers} = await ask("v1/attention", {model: model.id, all: true, ...example}, signal);
      found.push({model, example, layers});
    } catch (error) {
      if (signal.aborted) break;
      failed.push(`No attention weights of ${model.id}: ${error.message}`);
    }
  }
  return {found, failed};
}

/// The request for the weights that the section shows. The section counts layers and heads from 1, but the
/// values of its selects are those of the API.
function map_command(section, found) {
  const value = (name) => section.querySelector(`select[name="${name}"]`).value;
  const {model, example} = found[value("run")];
  return curl("v1/attention", {
    model: model.id,
    ...example,
    side: value("stack"),
    layer: Number(value("layer")),
    head: Number(value("head"))
  });
}

/// The report's section for `runs`, which are models here, and the request for what it shows.
function map_section(found) {
  const section = attention_section(), command = element("pre", {id: "map-command"});
  section.querySelector("select[name=\"run\"]").parentElement.firstChild.textContent = "Model";
  section.append(
      element("p", {class: "quiet"}, "The same on the command line, where layers and heads count from 0:"),
      command);
  const update = () => (command.textContent = map_command(section, found));
  for (const event of ["change", "click"]) section.addEventListener(event, update);
  queueMicrotask(update);  // after the section's own
  return section;
}

async function show_maps(examples, signal) {
  const {found, failed} = await attention_of(examples, signal);
  if (signal.aborted) return;
  runs.splice(0, runs.length, ...found.map(({model, layers}) => ({name: model.id, attention: layers})));
  theme_listeners.length = 0;  // of the section that is replaced
  by_id("maps").replaceChildren(
      ...failed.map((message) => element("p", {class: "failed"}, message)),
      ...(found.length ? [map_section(found)] : []));
}
