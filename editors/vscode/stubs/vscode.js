// The parts of VS Code's interface that the extension and its client library need, with what happened in `seen`.

const { EventEmitter } = require('node:events');
const { contributes } = require('../package.json');

const events = new EventEmitter().setMaxListeners(0);
const on = (name) => (listener) => {
  events.on(name, listener);
  return { dispose: () => events.off(name, listener) };
};

const seen = { errors: [], questions: [], prompts: [] };
const properties = Object.entries(contributes.configuration.properties);
const settings = Object.fromEntries(properties.map(([name, property]) => [name.replace('incc.', ''), property.default]));
const answers = [];
const registered = new Map();

class Uri {
  constructor(path) {
    Object.assign(this, { scheme: 'file', path, fsPath: path });
  }
  static file(path) {
    return new Uri(path);
  }
  static parse(text) {
    return new Uri(text.replace('file://', ''));
  }
  toString() {
    return `file://${this.path}`;
  }
}

/** Stands for everything else: a class without members, whose unknown members are the same. */
function anything() {
  return new Proxy(class {}, {
    get: (target, name) => (name in target || typeof name === 'symbol' ? target[name] : anything()),
    apply: () => ({ dispose() {} }),
  });
}

function rest(members) {
  return new Proxy(members, { get: (target, name) => (name in target ? target[name] : anything()) });
}

const channel = new Proxy({}, { get: () => () => ({ dispose() {} }) });

const vscode = {
  Uri,
  EventEmitter: class {
    emitter = new EventEmitter();
    event = (listener) => {
      this.emitter.on('event', listener);
      return { dispose: () => this.emitter.off('event', listener) };
    };
    fire(value) {
      this.emitter.emit('event', value);
    }
    dispose() {}
  },
  Disposable: { from: (...all) => ({ dispose: () => all.forEach((each) => each.dispose()) }) },
  CancellationError: class extends Error {},
  version: '1.91.0',
  env: rest({ appName: 'test', language: 'en' }),
  commands: {
    registerCommand(name, action) {
      if (registered.has(name)) throw new Error(`command '${name}' already exists`);
      registered.set(name, action);
      return { dispose: () => registered.delete(name) };
    },
    executeCommand: (name, ...args) => registered.get(name)(...args),
  },
  window: rest({
    activeTextEditor: undefined,
    visibleTextEditors: [],
    tabGroups: rest({ all: [], onDidChangeTabs: on('tabs') }),
    createOutputChannel: () => channel,
    onDidChangeActiveTextEditor: on('editor'),
    onDidChangeVisibleTextEditors: on('editors'),
    showErrorMessage: async (message) => void seen.errors.push(message),
    showQuickPick: async (titles, options) => {
      seen.questions.push({ titles, ...options });
      return answers.shift();
    },
    showInputBox: async (options) => {
      seen.prompts.push(options.prompt);
      return answers.shift();
    },
  }),
  workspace: rest({
    textDocuments: [],
    workspaceFolders: undefined,
    onDidChangeConfiguration: on('configuration'),
    onDidChangeWorkspaceFolders: on('folders'),
    onDidOpenTextDocument: on('open'),
    onDidCloseTextDocument: on('close'),
    onDidChangeTextDocument: on('change'),
    onDidSaveTextDocument: on('save'),
    getConfiguration: () => ({ get: (name) => (name === 'incc' ? settings : settings[name.replace('incc.', '')]) }),
  }),
};

/** Changes a setting, as a user does. */
function set(name, value) {
  settings[name] = value;
  const changed = `incc.${name}`;
  events.emit('configuration', { affectsConfiguration: (of) => changed === of || changed.startsWith(`${of}.`) });
}

module.exports = { vscode: rest(vscode), settings, seen, answers, registered, set };
