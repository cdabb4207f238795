// The extension with the real client library, a language server in a process, and a stub of VS Code.

const assert = require('node:assert');
const Module = require('node:module');
const path = require('node:path');
const { afterEach, beforeEach, test } = require('node:test');
const { vscode, settings, seen, answers, registered, set } = require('./stubs/vscode.js');

const load = Module._load;
Module._load = (name, ...others) => (name === 'vscode' ? vscode : load(name, ...others));
const { activate, deactivate } = require('./extension.js');
const { contributes } = require('./package.json');

const SERVER = path.join(__dirname, 'stubs', 'server.js');
const FILE = '/project/loop.c';
let context;

const run = (name, ...args) => vscode.commands.executeCommand(name, ...args);

async function until(condition) {
  for (let n = 0; n < 500 && !(await condition()); n++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(await condition());
}

beforeEach(async () => {
  const kept = new Map();
  const workspaceState = { get: (key) => kept.get(key), update: async (key, value) => void kept.set(key, value) };
  context = { subscriptions: [], workspaceState };
  for (const list of [answers, ...Object.values(seen)]) list.length = 0;
  vscode.window.activeTextEditor = { document: { uri: vscode.Uri.file(FILE) } };
  set('path', SERVER);
  await activate(context);
});

afterEach(async () => {
  for (const each of context.subscriptions) each.dispose();
  await deactivate();
  assert.deepStrictEqual([...registered.keys()], []);
});

test('the server gets all settings but its own path, at the start and after a change', async () => {
  const { path: _, ...others } = settings;
  await until(async () => (await run('seen')).settings.length === 1);
  set('cores', ['znver4', 'skylake']);
  await until(async () => (await run('seen')).settings.length === 2);
  const { settings: pulled, pushed } = await run('seen');
  set('cores', []);
  assert.deepStrictEqual(pulled, [others, { ...others, cores: ['znver4', 'skylake'] }]);
  assert.deepStrictEqual(pushed, [null, null]);
});

test('each command of the palette exists once the extension is active', () => {
  for (const { command } of contributes.commands) assert.ok(registered.has(command), command);
});

test('commands that need the file get the one of the active editor', async () => {
  answers.push(' -O2  -fno-math-errno ');
  assert.deepStrictEqual(await run('incc.report'), [`file://${FILE}`]);
  assert.deepStrictEqual(await run('incc.try'), [`file://${FILE}`, '-O2', '-fno-math-errno']);
  vscode.window.activeTextEditor = undefined;
  assert.strictEqual(await run('incc.report'), undefined);
  assert.strictEqual(await run('incc.try'), undefined);
  assert.strictEqual(seen.prompts.length, 1);
});

test('commands that need a text ask for it, and do nothing without an answer', async () => {
  answers.push('-O2 -g', '', undefined, 'cycles > 2*bound', '', undefined, undefined, '');
  assert.deepStrictEqual(await run('incc.flags'), ['-O2', '-g']);
  assert.deepStrictEqual(await run('incc.flags'), []);
  assert.strictEqual(await run('incc.flags'), undefined);
  assert.deepStrictEqual(await run('incc.where'), ['cycles > 2*bound']);
  assert.deepStrictEqual(await run('incc.where'), ['']);
  assert.strictEqual(await run('incc.where'), undefined);
  assert.strictEqual(await run('incc.try'), undefined);
  assert.strictEqual(await run('incc.try'), undefined);
});

test('given arguments are passed on, also as the list of a key binding', async () => {
  assert.deepStrictEqual(await run('incc.alsoShow', 'clang-19'), ['clang-19']);
  assert.deepStrictEqual(await run('incc.alsoShow', ['clang-19', 'gcc-12 -O2']), ['clang-19', 'gcc-12 -O2']);
  assert.deepStrictEqual(await run('incc.flags', ['-O2']), ['-O2']);
  assert.deepStrictEqual(await run('incc.alsoShow'), []);
  assert.deepStrictEqual(seen.prompts, []);
});

test('a question of the server is a list, which begins with the last choice', async () => {
  answers.push('clang-19', undefined, 'gcc-12');
  const ask = () => run('ask', 'also show', 'gcc-11', 'gcc-12', 'clang-19');
  assert.deepStrictEqual(await ask(), { title: 'clang-19' });
  assert.strictEqual(await ask(), null);
  assert.deepStrictEqual(await ask(), { title: 'gcc-12' });
  await run('ask', 'analyse for', 'gcc-12', 'clang-19');
  assert.deepStrictEqual(
    seen.questions.map((question) => question.titles.join()),
    ['gcc-11,gcc-12,clang-19', 'clang-19,gcc-11,gcc-12', 'clang-19,gcc-11,gcc-12', 'gcc-12,clang-19'],
  );
});

test('the server restarts on request, for another path, and after it has ended', async () => {
  const processes = new Set([(await run('seen')).process]);
  await run('incc.restart');
  processes.add((await run('seen')).process);
  await Promise.all([run('incc.restart'), run('incc.restart')]);
  processes.add((await run('seen')).process);
  run('end').catch(() => {});
  await until(() => !registered.has('end'));
  await until(() => registered.has('seen'));
  processes.add((await run('seen')).process);
  assert.strictEqual(processes.size, 4);
  assert.deepStrictEqual(seen.errors, []);
});

test('a server that cannot be started is reported, and started from another path', async () => {
  set('path', '/nowhere/incc-lsp');
  await until(() => seen.errors.some((message) => message.includes('install incc and pygls')));
  assert.ok(!registered.has('incc.report'));
  set('path', SERVER);
  await until(() => registered.has('incc.report'));
  assert.deepStrictEqual(await run('incc.report'), [`file://${FILE}`]);
});
