// In which settings the runs differ, which they share, and the command that makes the report again.

function setting_text(value) {
  if (value == null) return missing;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/// A row a setting: its name and its values.
function settings_table(heads, settings) {
  const row = ([name, ...values]) => element(
      "tr", {}, element("th", {scope: "row"}, element("code", {}, name)),
      values.map((value) => element("td", {}, setting_text(value))));
  const head = heads && element("thead", {}, element("tr", {}, heads.map((name) => element("th", {}, name))));
  const table = element("table", {class: "settings"}, head, element("tbody", {}, settings.map(row)));
  return scroller("Settings", table);
}

function settings_section() {
  const shared = Object.entries(report.settings?.shared ?? {}), parts = [];
  const differ = Object.entries(report.settings?.differ ?? {}).map(([name, values]) => [name, ...values]);
  if (differ.length) parts.push(settings_table(["Setting", ...runs.map(named)], differ));
  if (shared.length) {
    const title = `${shared.length} settings${runs.length > 1 ? " that all runs share" : ""}`;
    parts.push(element("details", {}, element("summary", {}, title), settings_table(null, shared)));
  }
  return parts.length ? section("settings", "Settings", ...parts) : null;
}

function command_section() {
  if (!report.command) return null;
  return section(
      "command", "To get this again", element("pre", {tabindex: 0}, element("code", {}, report.command)));
}
