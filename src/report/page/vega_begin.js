// The chart library comes in parts that name each other as AMD modules do. This is all they need to find one
// another.
const parts = {};
function define(needs, make) {
  const exported = (parts[define.part] = {});
  make(...needs.map((name) => (name === "exports" ? exported : parts[name])));
}
define.amd = true;
