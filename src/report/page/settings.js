// In which settings the runs differ, which they share, and the command that makes the report again.

const setting_text = (value) => (value == null ? missing : typeof value === "string" ? value : JSON.stringify(value));

function settings_section() {
  const { shared = {}, differ = {} } = report.settings ?? {}, parts = [];
  if (Object.keys(differ).length) {
    parts.push(element("div", { class: "scroll" }, element("table", { class: "settings" },
      element("thead", {}, element("tr", {}, element("th", {}, "Setting"), runs.map((run) => element("th", {}, named(run))))),
      element("tbody", {}, Object.entries(differ).map(([name, values]) => element("tr", {},
        element("th", { scope: "row" }, element("code", {}, name)), values.map((value) => element("td", {}, setting_text(value)))))))));
  }
  if (Object.keys(shared).length) {
    parts.push(element("details", {}, element("summary", {}, `${Object.keys(shared).length} settings${runs.length > 1 ? " that all runs share" : ""}`),
      element("div", { class: "scroll" }, element("table", { class: "settings" }, element("tbody", {}, Object.entries(shared).map(([name, value]) =>
        element("tr", {}, element("th", { scope: "row" }, element("code", {}, name)), element("td", {}, setting_text(value)))))))));
  }
  return parts.length ? section("settings", "Settings", ...parts) : null;
}

function command_section() {
  return report.command ? section("command", "To get this again", element("pre", { tabindex: 0 }, element("code", {}, report.command))) : null;
}
