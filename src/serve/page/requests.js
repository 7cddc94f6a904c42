// Requests to the server that the page came from.

const broken_off = "the answer was broken off";

/// Sends JSON; the answer's JSON. Throws Error with the server's message; `status` is the HTTP status.
async function ask(path, body, signal) {
  const response = await send(path, body, signal);
  return or_fail_with(broken_off, response.json(), signal);
}

/// The token that was typed in; empty where the server needs none.
const token = () => by_id("token").value.trim();

/// The same request on the command line. The token stays secret.
function curl(path, body) {
  const header = token() && " -H \"Authorization: Bearer TOKEN\"";
  const data = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl ${new URL(path, location.href)}${header} -d '${data}'`;
}

/// Where the connection fails, browsers throw what only they understand: the message instead. Stays as it is
/// where the request was stopped.
async function or_fail_with(message, pending, signal) {
  try {
    return await pending;
  } catch (error) {
    throw signal?.aborted ? error : new Error(message);
  }
}

async function send(path, body, signal) {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token()) headers["Authorization"] = `Bearer ${token()}`;
  const options = {method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body)};
  const response = await or_fail_with("the server does not answer", fetch(path, options), signal);
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  const error = new Error(answer?.error?.message ?? `the server answered with status ${response.status}`);
  error.status = response.status;
  throw error;
}

/// Sends JSON and calls on_event with each of the server-sent events that come back, but for [DONE].
async function stream(path, body, signal, on_event) {
  const response = await send(path, {...body, stream: true}, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {done, value} = await or_fail_with(broken_off, reader.read(), signal);
    if (done) throw new Error(broken_off);
    rest += value;
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const one of events) {
      const data = one.replace(/^data: /, "");
      if (data === "[DONE]") return;
      const parsed = JSON.parse(data);
      if (parsed.error) throw new Error(parsed.error.message);
      on_event(parsed);
    }
  }
}
