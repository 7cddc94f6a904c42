Object.assign(
    parts["vega-dataflow"].transforms, parts["vega-transforms"], parts["vega-view-transforms"],
    parts["vega-encode"], parts["vega-label"]);
window.vega = {
  View: parts["vega-view"].View,
  Warn: parts["vega-util"].Warn,
  interpolateColors: parts["vega-scale"].interpolateColors,
  parse: parts["vega-parser"].parse,
};
