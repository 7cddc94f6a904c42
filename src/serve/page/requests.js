// Requests to the server that the page came from.

/// Sends JSON; the answer's JSON. Throws Error with the server's message; `status` is the HTTP status.
async function ask(path, body, signal) {
  const response = await send(path, body, signal);
  return response.json();
}

async function send(path, body, signal) {
  const headers = {}, token = by_id("token").value.trim();
  if (body) headers["Content-Type"] = "application/json";
  if (token) headers["Authorization"] = `Bearer ${token}`;
  const response =
      await fetch(path, {method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body)});
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
    const {done, value} = await reader.read();
    if (done) return;
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
