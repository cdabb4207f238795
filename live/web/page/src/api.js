// Requests to the server.

async function text(response) {
  if (response.ok) return response;
  throw new Error((await response.text()).trim() || `the server answers ${response.status}`);
}

export async function choices() {
  return (await text(await fetch("/choices"))).json();
}

// Returns the answer to an exploration. `waits(place)` is called with the place in the queue whenever it changes.
export async function explore(request, waits, signal) {
  const response = await text(await fetch("/explore", {method: "POST", body: JSON.stringify(request), signal}));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const {value, done} = await reader.read();
    left += value ?? "";
    const lines = left.split("\n");
    left = lines.pop();
    for (const line of lines) {
      const answer = JSON.parse(line);
      if (!("waiting" in answer)) return answer;
      waits(answer.waiting);
    }
    if (done) throw new Error("the server has ended the connection");
  }
}

export async function compare(ids, labels) {
  return (await text(await fetch("/compare", {method: "POST", body: JSON.stringify({ids, labels})}))).json();
}

export async function show(report) {
  return (await text(await fetch("/show", {method: "POST", body: report}))).json();
}
