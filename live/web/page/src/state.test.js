import assert from "node:assert/strict";
import {test} from "node:test";
import {deflateRawSync} from "node:zlib";

import {MOST_PANES, changes, checked, dataSize, decode, encode, firstState, newPane} from "./state.js";

test("a state survives its address", async () => {
  const state = firstState({source: "double f(void);\n// µ, 𝛼\n", language: "c++"});
  state.panes.push(newPane({compiler: "clang-19", options: "-O3 -march=native", rob: 512, data: 5}));
  const text = await encode(state);
  assert.match(text, /^[\w-]+$/);
  assert.deepEqual(await decode(text), state);
});

test("damaged addresses have no state", async () => {
  for (const text of ["", "x", "AAAA", "%%%", btoa("{}")]) assert.equal(await decode(text), null);
  assert.equal(await decode(await encode({language: "c"})), null);
});

test("a short address that unpacks to much text has no state", async () => {
  const text = await encode(firstState({source: " ".repeat(3_000_000), language: "c"}));
  assert.equal((await decode(text)).source.length, 3_000_000);
  const raw = deflateRawSync(JSON.stringify({source: " ".repeat(5_000_000), language: "c"}));
  assert.equal(await decode(raw.toString("base64url")), null);
});

test("values of the wrong type are replaced", () => {
  const pane = {compiler: 3, options: null, rob: -1, data: 1.5, ports: "2", core: "znver4", other: "x"};
  const state = checked({source: "", language: "perl", panes: [pane, ...Array(9).fill(null)], compare: "yes"});
  assert.equal(state.language, "c");
  assert.equal(state.compare, false);
  assert.equal(state.panes.length, MOST_PANES);
  assert.deepEqual(state.panes[0], newPane({core: "znver4"}));
});

test("changes are those of --what-if", () => {
  assert.deepEqual(changes(newPane()), []);
  assert.deepEqual(changes(newPane({port: "5", ports: 1, rob: 512, mnemonic: "vaddpd", latency: 3})),
    ["port 5 += 1", "rob = 512", "latency vaddpd = 3"]);
  assert.deepEqual(changes(newPane({port: "5", mnemonic: "vaddpd"})), []);
});

test("sizes of data", () => {
  assert.deepEqual([0, 1, 2, 7, 8, 16].map(dataSize), ["", "16K", "32K", "1M", "2M", "512M"]);
});
