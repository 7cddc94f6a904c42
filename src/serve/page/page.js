// The form: which models, which text, which settings; then the answers.

let settings, running;

const chosen_use = () => document.querySelector("#uses select")?.value ?? models[0]?.use;
const of_use = () => models.filter((model) => model.use === chosen_use());
const chosen_models = () => of_use().filter((model) => by_id(`model-${model.id}`)?.checked);

function describe(model) {
  return [model.attention, `${millions(model.parameters)} parameters`, model.precision === "int8" && "int8"]
      .filter(Boolean)
      .join(", ");
}

function show_use() {
  const use = chosen_use(), list = of_use();
  by_id("models").replaceChildren(
      element("legend", {}, list.length > 1 ? "Models" : "Model"),
      ...list.map(
          (model) => element(
              "label", {class: "model"},
              element(
                  "input",
                  {type: "checkbox", id: `model-${model.id}`, checked: true, onchange: show_command}),
              element("span", {}, model.id, " ", element("small", {}, describe(model))))));
  by_id("input-label").textContent = input_names[use];
  settings = settings_of(use);
  by_id("settings").replaceChildren(...settings.whole);
  by_id("answers").replaceChildren();
  by_id("maps").replaceChildren();
  show_command();
}

function show_command() {
  const use = chosen_use(), model = chosen_models()[0] ?? of_use()[0];
  if (!model) return;
  const field = use === "generate" ? "prompt" : "text";
  const body = {model: model.id, [field]: by_id("input").value || "…", ...settings.values()};
  by_id("command").textContent =
      `curl ${location.origin}/v1/${use} -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;
}

async function run(event) {
  event?.preventDefault();
  const list = chosen_models(), use = chosen_use();
  let input = by_id("input").value;
  if (use !== "generate") input = input.replace(/\s*\n\s*/g, " ").trim();
  if (!list.length) return (by_id("status").textContent = "Choose a model.");
  if (!input && use !== "generate") return (by_id("status").textContent = "Write a text first.");
  running?.abort();
  const own = running = new AbortController();
  by_id("stop").hidden = false;
  by_id("status").textContent = "";
  const cards = list.map((model) => answer_card(model, use === "generate" ? input : ""));
  by_id("answers").replaceChildren(...cards.map((card) => card.whole));
  by_id("maps").replaceChildren();
  const looks = [];
  await Promise.all(list.map(async (model, n) => {
    try {
      const look = await answer_with[use](model, input, settings.values(), cards[n], own.signal);
      if (look.text) looks[n] = {model, look};
    } catch (error) {
      cards[n].fail(own.signal.aborted ? "stopped" : error.message);
      if (error.status === 401) by_id("token-label").hidden = false;
    }
  }));
  if (own === running && !own.signal.aborted) await show_maps(looks.filter(Boolean), own.signal);
  if (own === running) by_id("stop").hidden = true;
}

async function start() {
  try {
    models = (await ask("v1/models")).data;
  } catch (error) {
    by_id("facts").textContent = error.message;
    by_id("token-label").hidden = error.status !== 401;
    return;
  }
  by_id("token-label").hidden = true;
  by_id("facts").textContent =
      `${models.length} ${models.length === 1 ? "model" : "models"} on ${location.host}`;
  const uses = distinct(models.map((model) => model.use));
  by_id("uses").replaceChildren(choice("Use", uses.map((use) => [use, use_names[use]]), show_use).whole);
  show_use();
}

start_theme();
by_id("form").addEventListener("submit", run);
by_id("form").addEventListener("input", () => settings && show_command());
by_id("stop").addEventListener("click", () => running?.abort());
by_id("token").addEventListener("change", start);
by_id("input").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
start();
