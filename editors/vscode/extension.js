// A client of incc-lsp: starts it, passes settings on, and lets users choose and type what commands need.

const { commands, window, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');
const { activationEvents } = require('./package.json');

const PATH = 'incc.path';
const LANGUAGES = activationEvents.map((event) => event.replace('onLanguage:', ''));

let client;

/** Functions that return the arguments of commands which the server cannot ask for; undefined to do nothing. */
const ARGUMENTS = {
  'incc.report': async () => activeFile(),
  'incc.try': async () => {
    const file = activeFile();
    const flags = file && (await askForWords('Flags to try', '-ffast-math'));
    return flags?.length ? [...file, ...flags] : undefined;
  },
  'incc.flags': () => askForWords('Flags to add to the command; nothing for none', '-fno-math-errno'),
  'incc.where': async () => {
    const condition = await window.showInputBox({
      prompt: 'Show only loops that meet a condition; nothing for all',
      placeHolder: 'cycles > 2*bound',
    });
    return condition === undefined ? undefined : [condition];
  },
};

function activeFile() {
  const document = window.activeTextEditor?.document;
  return document && [client.code2ProtocolConverter.asUri(document.uri)];
}

async function askForWords(prompt, placeHolder) {
  const text = await window.showInputBox({ prompt, placeHolder });
  return text?.split(/\s+/).filter(Boolean);
}

/** Completes a command of the server. The client library registers these commands when the server has started. */
async function executeCommand(command, given, next) {
  const args = given.flat(); // a key binding has one argument, which may be a list
  const complete = args.length || !ARGUMENTS[command] ? args : await ARGUMENTS[command]();
  return complete && next(command, complete);
}

/** Returns a handler of the server's questions: a list to choose from in place of buttons, the last choice first. */
function chooser(state) {
  return async ({ message, actions = [] }) => {
    const last = state.get(message);
    const titles = actions.map((action) => action.title).sort((a, b) => (b === last) - (a === last));
    const title = await window.showQuickPick(titles, { placeHolder: message });
    if (title === undefined) return null;
    await state.update(message, title);
    return { title };
  };
}

/** Removes the setting that is the client's own. The server reports settings that it does not know. */
function forServer(settings) {
  const { path: _, ...others } = settings ?? {};
  return others;
}

function makeClient(state, outputChannel) {
  const server = { command: workspace.getConfiguration().get(PATH) };
  const made = new LanguageClient('incc', server, {
    documentSelector: LANGUAGES.map((language) => ({ scheme: 'file', language })),
    outputChannel,
    middleware: {
      executeCommand,
      workspace: {
        configuration: async (params, token, next) => (await next(params, token)).map(forServer),
        didChangeConfiguration: (_, next) => next(undefined), // the server then asks for the settings
      },
    },
  });
  made.onRequest('window/showMessageRequest', chooser(state));
  return made;
}

async function deactivate() {
  if (client?.isRunning()) await client.stop();
}

async function activate(context) {
  const output = window.createOutputChannel('incc', { log: true });
  async function start() {
    await deactivate();
    client = makeClient(context.workspaceState, output);
    try {
      await client.start();
    } catch {
      const path = workspace.getConfiguration().get(PATH);
      window.showErrorMessage(`incc: cannot start ${path}; install incc and pygls, or set ${PATH}`);
    }
  }
  let started = start();
  const restart = () => (started = started.then(start));
  context.subscriptions.push(
    output,
    commands.registerCommand('incc.restart', restart),
    workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(PATH) && restart()),
  );
  await started;
}

module.exports = { activate, deactivate };
