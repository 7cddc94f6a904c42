// Which attention is looked at: run, stack, sentence, layer, head, and what of it; each choice offers what
// the ones before it leave.

const stack_names = {
  encoder: "encoder",
  decoder: "decoder",
  cross: "cross-attention"
};

/// In the order in which a text passes them.
const in_order = (stacks) => Object.keys(stack_names).filter((stack) => stacks.includes(stack));

const distinct = (values) => [...new Set(values)];

/// The pictures a head can have: its weights, and the table they are made from, each at the end and at the
/// start.
const head_pictures = [["weights", "weights", "start"], ["table", "learned table", "table_start"]];

/// Selects over all runs' attentions. `on_change({ run, entry, number, head, kind })` is called with what is
/// chosen.
function attention_choices(on_change) {
  const seen = runs.filter((run) => run.attention?.length);
  const names = ["Run", "Stack", "Sentence", "Layer", "Head", "Picture"];
  const chosen = Object.fromEntries(names.map((name) => [name, choice(name, [], update)]));
  function update() {
    const run = seen[chosen.Run.set(seen.map((run, i) => [i, run.name]), chosen.Run.value())];
    let entries = in_order(run.attention.map((entry) => entry.stack))
                      .flatMap((stack) => run.attention.filter((entry) => entry.stack === stack));
    const narrow = (name, of, text) => {
      const value = chosen[name].set(
          distinct(entries.map(of)).map((value) => [value, text(value)]), chosen[name].value());
      entries = entries.filter((entry) => String(of(entry)) === value);
    };
    narrow("Stack", (entry) => entry.stack, (stack) => stack_names[stack]);
    narrow("Sentence", (entry) => entry.text ?? "", (text) => text || "positions");
    narrow("Layer", (entry) => entry.layer, (layer) => `${layer + 1}`);
    const entry = entries[0];
    const number = Number(chosen.Head.set(entry.heads.map((_, i) => [i, `${i + 1}`]), chosen.Head.value()));
    const head = entry.heads[number];
    const kind = chosen.Picture.set(
        head_pictures.filter(([key]) => head[key]).map(([key, name]) => [key, name]), chosen.Picture.value());
    on_change({run, entry, number, head, kind});
  }
  return {
    whole: names.map((name) => chosen[name].whole),
    update,
    choose_head: (number) => chosen.Head.put(number)
  };
}
