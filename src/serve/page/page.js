// The form: which models, which text, which settings; then the answers.

let settings, running;

const chosen_use = () => document.querySelector("#uses select")?.value ?? models[0]?.use;
const of_use = () => models.filter((model) => model.use === chosen_use());
const chosen_models = () => of_use().filter((model) => by_id(`model-${model.id}`)?.checked);

function describe(model) {
  return [model.attention, `${whole(model.parameters)} parameters`, model.precision === "int8" && "int8"]
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

/// The text as it is sent: all but language models read one line.
function input_text(use) {
  const text = by_id("input").value;
  return use === "generate" ? text : text.replace(/\s*\n\s*/g, " ").trim();
}

/// One request for each model that is asked.
function show_command() {
  const use = chosen_use(), field = use === "generate" ? "prompt" : "text";
  const request = (model) =>
      curl(`v1/${use}`, {model: model.id, [field]: input_text(use) || "…", ...settings.values()});
  by_id("command").textContent = chosen_models().map(request).join("\n");
}

/// Shows the form for the token ("access"), the page itself ("main"), or neither.
function show_part(part) {
  by_id("access").hidden = part !== "access";
  for (const name of ["main", "footer"]) document.querySelector(name).hidden = part !== "main";
}

function ask_for_token() {
  by_id("access-status").textContent = token() ? "The token is not accepted." : "This server needs a token.";
  show_part("access");
  by_id("token").focus();
}

async function run(event) {
  event?.preventDefault();
  const list = chosen_models(), use = chosen_use(), input = input_text(use);
  if (!list.length) return (by_id("status").textContent = "Choose a model.");
  if (!input && use !== "generate") return (by_id("status").textContent = "Write a text first.");
  running?.abort();
  const own = running = new AbortController();
  by_id("stop").hidden = false;
  by_id("status").textContent = "";
  const cards = list.map((model) => answer_card(model, use === "generate" ? input : ""));
  by_id("answers").replaceChildren(...cards.map((card) => card.whole));
  by_id("maps").replaceChildren();
  const examples = [];
  await Promise.all(list.map(async (model, n) => {
    try {
      const example = await answer_with[use](model, input, settings.values(), cards[n], own.signal);
      if (example.text) examples[n] = {model, example};
    } catch (error) {
      cards[n].fail(own.signal.aborted ? "stopped" : error.message);
      if (error.status === 401) ask_for_token();
    }
  }));
  if (own === running && !own.signal.aborted) await show_maps(examples.filter(Boolean), own.signal);
  if (own === running) by_id("stop").hidden = true;
}

async function start(event) {
  event?.preventDefault();
  try {
    ({data: models, limits} = await ask("v1/models"));
  } catch (error) {
    if (error.status === 401) return ask_for_token();
    by_id("facts").textContent = error.message;
    return show_part("none");
  }
  show_part("main");
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
by_id("access").addEventListener("submit", start);
by_id("input").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
start();
