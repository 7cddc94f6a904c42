// The small box beside the pointer that says what lies under it.

const tip = document.getElementById("tip");

function show_tip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const gap = 14, {width, height} = tip.getBoundingClientRect();
  const right = event.clientX + gap + width <= innerWidth - 4,
        below = event.clientY + gap + height <= innerHeight - 4;
  const left = right ? event.clientX + gap : Math.max(4, event.clientX - gap - width);
  const top = below ? event.clientY + gap : Math.max(4, event.clientY - gap - height);
  tip.style.transform = `translate(${left}px, ${top}px)`;
}

const hide_tip = () => (tip.hidden = true);

/// Rows of a tip: [colour or nothing, name, value].
function tip_table(rows) {
  return element(
      "table", {},
      element(
          "tbody", {},
          rows.map(
              ([color, name, value]) => element(
                  "tr", {},
                  element(
                      "td", {}, color && element("span", {class: "swatch", style: {"--own": color}}), name),
                  element("td", {}, value)))));
}
