// Light or dark: as the system says, until the reader chooses. Charts take their colours from the style sheet
// by themselves; only what is made of pixels asks to be told, through on_theme.

const theme_listeners = [];
const on_theme = (listener) => theme_listeners.push(listener);
const is_dark = () => document.documentElement.dataset.theme === "dark";

function set_theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "Light" : "Dark";
  document.getElementById("theme").setAttribute("aria-label", `Switch to ${dark ? "light" : "dark"} colours`);
  theme_listeners.forEach((listener) => listener());
}

function start_theme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = false, before_print;
  set_theme(system.matches);
  system.addEventListener("change", () => chosen || set_theme(system.matches));
  document.getElementById("theme").addEventListener("click", () => {
    chosen = true;
    set_theme(!is_dark());
  });
  // Paper is white, and nobody can unfold a page of it.
  addEventListener("beforeprint", () => {
    before_print = is_dark();
    if (before_print) set_theme(false);
    document.querySelectorAll("details").forEach((part) => (part.open = true));
  });
  addEventListener("afterprint", () => before_print && set_theme(true));
}
