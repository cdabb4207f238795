// The page: the source on the left, panes on the right, and a comparison of these.
import {choices, compare, show} from "./api.js";
import {byId, make, options} from "./dom.js";
import {makeEditor} from "./editor.js";
import {GALLERY} from "./gallery.js";
import {Pane} from "./pane.js";
import {MOST_PANES, decode, encode, firstState, newPane} from "./state.js";

const PAUSE = 400;

class Page {
  constructor() {
    this.panes = [];
    this.choices = {compilers: [], cores: [], options: [], host: ""};
    this.editor = makeEditor(byId("source"), {
      changed: text => this.edited(text),
      pointed: line => this.tell({line}),
      chosen: line => this.tell({line, open: true}),
    });
    byId("gallery").append(...options([["", "Gallery …"], ...GALLERY.map(({name}, n) => [String(n), name])], ""));
    byId("gallery").addEventListener("change", event => this.take(GALLERY[Number(event.target.value)]));
    byId("language").addEventListener("change", event => this.setLanguage(event.target.value));
    byId("add").addEventListener("click", () => this.add());
    byId("compare").addEventListener("change", event => {
      this.state.compare = event.target.checked;
      this.changed();
      this.compare();
    });
    byId("share").addEventListener("click", () => this.share());
    byId("open").addEventListener("change", event => this.open(event.target.files[0]));
    document.addEventListener("dragover", event => event.preventDefault());
    document.addEventListener("drop", event => {
      event.preventDefault();
      this.open(event.dataTransfer.files[0]);
    });
    byId("opened").addEventListener("close", () => byId("opened-report").removeAttribute("src"));
    addEventListener("message", event => this.hear(event));
    addEventListener("hashchange", async () => {
      if (location.hash.slice(1) !== this.address) this.start(await decode(location.hash.slice(1)));
    });
  }

  async load() {
    const [found, state] = await Promise.all([choices(), decode(location.hash.slice(1))]);
    this.choices = found;
    byId("option-names").replaceChildren(...found.options.map(value => make("option", {value})));
    this.start(state);
  }

  start(state) {
    this.state = state ?? firstState(GALLERY[0]);
    byId("language").value = this.state.language;
    byId("compare").checked = this.state.compare;
    this.editor.setLanguage(this.state.language);
    this.quiet = true;
    this.editor.set(this.state.source);
    this.quiet = false;
    for (const pane of this.panes) pane.stop();
    byId("panes").replaceChildren();
    this.panes = [];
    for (const pane of this.state.panes) this.panes.push(new Pane(this, pane));
    byId("panes").append(...this.panes.map(pane => pane.element));
    this.refill();
    this.changed();
    for (const pane of this.panes) pane.run();
  }

  refill() {
    for (const pane of this.panes) pane.fill();
    byId("panes").dataset.count = this.panes.length;
    byId("add").disabled = this.panes.length >= MOST_PANES;
    byId("compare").disabled = this.panes.length < 2;
  }

  take(example) {
    byId("gallery").value = "";
    if (!example) return;
    const panes = this.state.language === example.language ? this.state.panes : [newPane()];
    this.start({...this.state, source: example.source, language: example.language, panes});
  }

  setLanguage(language) {
    this.state.language = language;
    for (const pane of this.state.panes) pane.compiler = "";
    this.editor.setLanguage(language);
    this.refill();
    this.changed();
    for (const pane of this.panes) pane.run();
  }

  edited(text) {
    if (this.quiet) return;
    this.state.source = text;
    this.changed();
    for (const pane of this.panes) pane.run(PAUSE);
  }

  // Puts the state into the address.
  async changed() {
    const turn = this.changing = {};
    const address = await encode(this.state);
    if (turn !== this.changing) return; // there is a later change
    this.address = address;
    history.replaceState(null, "", `#${this.address}`);
  }

  add() {
    const state = newPane(this.state.panes.at(-1));
    this.state.panes.push(state);
    const pane = new Pane(this, state);
    this.panes.push(pane);
    byId("panes").append(pane.element);
    this.refill();
    this.changed();
    pane.run();
    pane.compiler.focus();
  }

  remove(pane) {
    const at = this.panes.indexOf(pane);
    pane.stop();
    pane.element.remove();
    this.panes.splice(at, 1);
    this.state.panes.splice(at, 1);
    this.refill();
    this.changed();
    this.explored();
    byId("add").focus();
  }

  explored() {
    const coloured = new Set(), texts = new Map();
    for (const [n, pane] of this.panes.entries()) {
      for (const kernel of pane.answer?.kernels ?? []) {
        for (const line of kernel.lines) coloured.add(line);
        if (["remainder", "prologue", "fallback", "partial"].includes(kernel.role)) continue;
        const element = kernel.per_element === null ? "" : ` (${Number(kernel.per_element.toPrecision(3))} per element)`;
        const text = `${this.panes.length > 1 ? `${n + 1}: ` : ""}${kernel.cycles.toFixed(2)} cycles${element}`;
        texts.set(kernel.line, texts.has(kernel.line) ? `${texts.get(kernel.line)}, ${text}` : text);
      }
    }
    this.editor.mark(coloured, texts);
    this.compare();
  }

  async compare() {
    const found = this.panes.filter(pane => pane.answer?.result);
    const wanted = this.state.compare && this.panes.length > 1 && found.length === this.panes.length;
    byId("comparison").hidden = !wanted;
    if (!wanted || this.panes.some(pane => pane.busy)) return;
    const turn = this.comparing = {};
    const {result, problem} = await compare(found.map(pane => pane.answer.result), found.map(pane => pane.label))
      .catch(error => ({result: "", problem: error.message}));
    if (turn !== this.comparing) return; // there are later answers
    byId("comparison-problem").textContent = problem;
    if (result) byId("comparison-report").src = `/report/${result}`;
  }

  async share() {
    await this.changed();
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is copied. Whoever opens it needs the token of their own incc-web.");
    } catch {
      this.say("Copy the address of this page: it has everything that is on it.");
    }
  }

  async open(file) {
    if (!file) return;
    byId("open").value = "";
    const {result, problem} = await show(await file.text()).catch(error => ({result: "", problem: error.message}));
    if (problem) {
      this.say(`${file.name}: ${problem}`);
      return;
    }
    byId("opened-title").textContent = file.name;
    byId("opened-report").src = `/report/${result}`;
    byId("opened").showModal();
  }

  say(text) {
    byId("said").textContent = text;
  }

  tell(message) {
    for (const pane of this.panes) pane.tell(message);
    this.editor.hit(message.line ? [message.line] : []);
  }

  pointed(lines) {
    this.editor.hit(lines);
    for (const pane of this.panes) pane.tell({line: lines[0] ?? null});
  }

  chosen(line, from) {
    this.editor.hit([line], true);
    for (const pane of this.panes) if (pane !== from) pane.tell({line, open: true});
  }

  hear(event) {
    const pane = this.panes.find(one => one.frame.contentWindow === event.source);
    if (pane && typeof event.data?.incc === "object" && event.data.incc) pane.hear(event.data.incc);
  }
}

const page = new Page();
page.load().catch(error => page.say(error.message));
