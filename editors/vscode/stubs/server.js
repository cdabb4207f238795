#!/usr/bin/env node
// A language server with the commands of incc-lsp. Each returns its arguments; "seen" returns the process and the
// settings so far, "ask" asks like `incc.alsoShow`, and "end" ends the server.

const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');

const NAMES = ['report', 'try', 'alsoShow', 'cores', 'compiler', 'flags', 'where', 'reset'];
const COMMANDS = [...NAMES.map((name) => `incc.${name}`), 'seen', 'ask', 'end'];
const connection = createProtocolConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
const settings = [];
const pushed = [];

async function pull() {
  settings.push(...(await connection.sendRequest('workspace/configuration', { items: [{ section: 'incc' }] })));
}

const DO = {
  seen: () => ({ process: process.pid, settings, pushed }),
  ask: ([message, ...titles]) =>
    connection.sendRequest('window/showMessageRequest', { type: 3, message, actions: titles.map((title) => ({ title })) }),
  end: () => process.exit(1),
};

connection.onRequest('initialize', () => ({ capabilities: { executeCommandProvider: { commands: COMMANDS } } }));
connection.onRequest('shutdown', () => null);
connection.onNotification('exit', () => process.exit(0));
connection.onNotification('initialized', async () => {
  const registrations = [{ id: 'settings', method: 'workspace/didChangeConfiguration', registerOptions: { section: 'incc' } }];
  await connection.sendRequest('client/registerCapability', { registrations });
});
connection.onNotification('workspace/didChangeConfiguration', (params) => {
  pushed.push(params.settings);
  return pull();
});
connection.onRequest('workspace/executeCommand', ({ command, arguments: args }) => (DO[command] ?? ((all) => all))(args));
connection.listen();
