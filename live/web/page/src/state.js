// The state of the page, which is in its address: what is typed, and the panes.

export const MOST_PANES = 4;

export function firstState(source) {
  return {...source, panes: [newPane()], compare: false};
}

export function newPane(like = {}) {
  return {compiler: "", options: "", core: "", port: "", ports: 0, rob: 0, mnemonic: "", latency: 0, data: 0, ...like};
}

// Returns the changes of the core that a pane asks for, as --what-if takes them.
export function changes(pane) {
  return [
    ...(pane.port && pane.ports ? [`port ${pane.port} += ${pane.ports}`] : []),
    ...(pane.rob ? [`rob = ${pane.rob}`] : []),
    ...(pane.mnemonic && pane.latency ? [`latency ${pane.mnemonic} = ${pane.latency}`] : []),
  ];
}

// Sizes of the data: 0 is L1, then 16 KiB and its doubles.
export const MOST_DATA = 16;

export function dataSize(step) {
  const kib = 8 << step;
  return !step ? "" : kib >= 1024 ? `${kib / 1024}M` : `${kib}K`;
}

// More than the longest source, which the server limits; a short address may unpack to far more.
const MOST_BYTES = 4_000_000;

async function through(stream, bytes) {
  let size = 0;
  const limit = new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > MOST_BYTES) controller.error(new RangeError("too much text"));
      else controller.enqueue(chunk);
    },
  });
  const passed = new Blob([bytes]).stream().pipeThrough(stream).pipeThrough(limit);
  return new Uint8Array(await new Response(passed).arrayBuffer());
}

export async function encode(state) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Returns the state that an address has; null for none, or one that is damaged.
export async function decode(text) {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(raw, c => c.charCodeAt(0)));
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}

const LANGUAGES = ["c", "c++", "fortran", "assembly"];

// An address may come from anybody: only values of the right type are taken.
export function checked(value) {
  if (typeof value !== "object" || value === null || typeof value.source !== "string") return null;
  const panes = Array.isArray(value.panes) ? value.panes.slice(0, MOST_PANES) : [];
  const state = {
    source: value.source,
    language: LANGUAGES.includes(value.language) ? value.language : "c",
    panes: panes.map(pane => same(newPane(), typeof pane === "object" && pane ? pane : {})),
    compare: value.compare === true,
  };
  if (!state.panes.length) state.panes.push(newPane());
  return state;
}

function same(usual, given) {
  return Object.fromEntries(Object.entries(usual).map(([name, value]) => {
    const other = given[name];
    const fits = typeof other === typeof value && (typeof other !== "number" || (Number.isInteger(other) && other >= 0));
    return [name, fits ? other : value];
  }));
}
