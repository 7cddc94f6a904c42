// What the report's scripts read: the runs whose attention is shown. It is filled when answers are there.

const runs = [];

/// The models that the server has, and the most that it takes ("tokens", "lines", "body"), from /v1/models.
let models = [], limits = {};

const by_id = (id) => document.getElementById(id);
