// Requests to the server.

async function request(path, options) {
  const response = await fetch(path, options).catch(error => {
    throw error.name === "AbortError" ? error : new Error("incc-web does not answer; is it still running?");
  });
  if (response.ok) return response;
  throw new Error((await response.text()).trim() || `the server answers ${response.status}`);
}

export async function choices() {
  return (await request("/choices")).json();
}

// Returns the answer to an exploration. `waits(place)` is called with the place in the queue whenever it changes.
export async function explore(asked, waits, signal) {
  const response = await request("/explore", {method: "POST", body: JSON.stringify(asked), signal});
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
  return (await request("/compare", {method: "POST", body: JSON.stringify({ids, labels})})).json();
}

export async function show(report) {
  return (await request("/show", {method: "POST", body: report})).json();
}
