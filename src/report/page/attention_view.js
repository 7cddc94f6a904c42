// Attention weights: one head large, all heads of its layer small.

/// Facts of a head in a line: entropy in nats, mean distance of a row from what it looks at.
function head_facts(head) {
  const facts = [];
  if (is_number(head.entropy)) facts.push(`entropy ${fixed(head.entropy, 2)}`);
  if (is_number(head.distance)) facts.push(`distance ${fixed(head.distance, 1)}`);
  return facts;
}

/// A decoder reads from left to right: what comes after a token is masked, which is not a weight of zero.
const is_causal = (entry) => entry.stack === "decoder";

function attention_section() {
  if (!runs.some((run) => run.attention?.length)) return null;
  const maps = element("div", {class: "maps"}), heads = element("div", {class: "heads"}),
        about = element("p", {class: "quiet"});
  const scale = element("div"), title = element("h3"),
        body = element("div", {class: "look"}, maps, element("div", {}, title, heads));
  let shown, bend = 1;

  function draw_maps() {
    const {entry, head, kind} = shown, early = head_pictures.find(([key]) => key === kind)[2];
    const pictures = [["at the start", head[early]], [head[early] ? "at the end" : "", head[kind]]]
                         .filter(([, packed]) => packed)
                         .map(([when, packed]) => [when, matrix(packed, is_causal(entry))]);
    // One scale for both, so that what grew looks as if it grew.
    const range = reach(pictures.map(([, values]) => values));
    body.classList.toggle("alone", pictures.length < 2);
    maps.replaceChildren();
    for (const [when, values] of pictures) {
      const {box, whole} = figure(when, `${shown.run.name}: ${kind} ${when}`);
      maps.append(whole);
      heat_map(box, values, {
        color: () => colors(range, bend),
        name: kind === "table" ? "logit" : "weight",
        row_labels: entry.rows?.length ? entry.rows : null,
        column_labels: entry.columns?.length ? entry.columns : null
      })();
    }
    scale.replaceChildren(ramp(range, bend, is_causal(entry)));
  }

  function draw_heads() {
    const {entry, number, kind} = shown;
    title.textContent = entry.heads.length > 1 ? `All heads of layer ${entry.layer + 1}` : "";
    heads.hidden = entry.heads.length < 2;
    heads.replaceChildren(...(heads.hidden ? [] : entry.heads).map((head, i) => {
      const values = matrix(head[kind] ?? head.weights, is_causal(entry));
      return element(
          "button",
          {type: "button", "aria-pressed": String(i === number), onclick: () => choices.choose_head(i)},
          picture(values, colors(reach([values]), bend)),
          element(
              "span", {}, [`head ${i + 1}`, ...head_facts(head)].map((fact) => element("div", {}, fact))));
    }));
  }

  function draw() {
    const {run, entry, number, head} = shown;
    const where = entry.global ? "The same for every text." :
                                 "Each row is a token, with the weights of the tokens it attends to.";
    about.textContent = [
      `${run.name}, ${stack_names[entry.stack]}, layer ${entry.layer + 1}, head ${number + 1}.`, where,
      is_number(head.entropy) && `Entropy ${fixed(head.entropy, 2)} nats.`,
      is_number(head.distance) && `Mean distance ${fixed(head.distance, 1)} tokens.`
    ].filter(Boolean).join(" ");
    draw_maps();
    draw_heads();
  }
  const choices = attention_choices((next) => {
    shown = next;
    draw();
  });
  const contrast = choice("Colours", [["1", "in proportion"], ["0.5", "small weights stronger"]], (value) => {
    bend = Number(value);
    draw();
  });
  queueMicrotask(choices.update);
  on_theme(() => shown && draw());
  return section(
      "attention", "Attention weights", element("div", {class: "controls"}, choices.whole, contrast.whole),
      about, scale, body);
}
