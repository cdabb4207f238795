// A pane: a compiler, options, a core and changes of it; and the report on what they make of the source.
import {explore} from "./api.js";
import {make, options} from "./dom.js";
import {MOST_DATA, changes, dataSize} from "./state.js";

const PAUSE = 400;

let count = 0;

export class Pane {
  // `page` has the source, the choices, and what is called: changed(), explored(pane), pointed(lines), chosen(line), remove(pane).
  constructor(page, state) {
    this.page = page;
    this.state = state;
    this.answer = null;
    this.busy = false;
    this.place = "";
    this.number = ++count;
    this.make();
    this.fill();
  }

  make() {
    const id = name => `${name}-${this.number}`;
    const changed = (name, read = value => value) => event => {
      this.state[name] = read(event.target.value);
      this.describe();
      this.page.changed();
      this.run(PAUSE);
    };
    const range = (name, label, most) => {
      const input = make("input", {id: id(name), type: "range", min: 0, max: most, value: 0, oninput: changed(name, Number)});
      const output = make("output", {for: id(name)});
      this[name] = {input, output};
      return make("div", {class: "field"}, make("label", {for: id(name)}, label), input, output);
    };
    const select = (name, label) => {
      this[name] = make("select", {id: id(name), onchange: changed(name)});
      return make("div", {class: "field"}, make("label", {for: id(name)}, label), this[name]);
    };
    this.options = make("input", {id: id("options"), type: "text", list: "option-names", spellcheck: "false",
      autocomplete: "off", oninput: changed("options")});
    this.status = make("p", {class: "status", role: "status"});
    this.messages = make("pre", {class: "messages", hidden: true, tabindex: 0, "aria-label": "Messages of the compiler"});
    this.results = make("ul", {class: "results"});
    this.frame = make("iframe", {title: "Report", hidden: true, sandbox: "allow-scripts"});
    this.element = make("section", {class: "pane", "aria-label": `Pane ${this.number}`},
      make("div", {class: "controls"},
        select("compiler", "Compiler"),
        make("div", {class: "field wide"}, make("label", {for: id("options")}, "Options"), this.options),
        select("core", "Core"),
        this.remove = make("button", {type: "button", onclick: () => this.page.remove(this)}, "Remove")),
      make("details", {class: "what-if"},
        make("summary", {}, "What if …"),
        make("div", {class: "controls"},
          select("port", "More ports like"), range("ports", "how many", 4), range("rob", "Reorder buffer", 64),
          select("mnemonic", "Latency of"), range("latency", "in cycles", 40), range("data", "Size of the data", MOST_DATA)),
        this.results),
      this.status, this.messages, this.frame);
  }

  // Sets all controls to the state and to what there is to choose.
  fill() {
    const {compilers, cores} = this.page.choices;
    const language = this.page.state.language;
    const fitting = compilers.filter(compiler => compiler.languages.includes(language));
    const known = fitting.find(compiler => compiler.name === this.state.compiler);
    if (!known && language !== "assembly") {
      this.state.compiler = fitting[0]?.name ?? "";
      if (!this.state.options) this.state.options = fitting[0]?.default_options ?? "";
    }
    this.compiler.replaceChildren(...options(fitting.map(({name, title}) => [name, `${name}: ${title}`]), this.state.compiler));
    this.compiler.disabled = this.options.disabled = language === "assembly";
    this.options.value = this.state.options;
    this.core.replaceChildren(...options([["", "as compiled for"], ...cores.map(({name, title}) => [name, `${name}: ${title}`])],
      this.state.core));
    this.core.value = this.state.core;
    for (const name of ["ports", "latency", "data"]) this[name].input.value = this.state[name];
    this.fillChanges();
    this.remove.hidden = this.page.panes.length < 2;
  }

  fillChanges() {
    const core = this.modelled();
    this.port.replaceChildren(...options([["", "none"], ...(core?.ports ?? []).map(name => [name, name])], this.state.port));
    const mnemonics = new Set((this.answer?.kernels ?? []).flatMap(kernel => kernel.mnemonics));
    if (this.state.mnemonic) mnemonics.add(this.state.mnemonic);
    this.mnemonic.replaceChildren(...options([["", "none"], ...[...mnemonics].sort().map(name => [name, name])],
      this.state.mnemonic));
    const usual = core?.rob ?? 0;
    this.rob.input.disabled = !usual;
    this.rob.input.max = 4 * usual;
    this.rob.input.step = Math.max(1, Math.round(usual / 16));
    this.rob.input.value = this.state.rob || usual;
    this.describe();
  }

  describe() {
    const usual = this.modelled()?.rob ?? 0;
    if (this.state.rob === usual) this.state.rob = 0;
    this.ports.output.value = this.state.ports || "none";
    this.latency.output.value = this.state.latency || "as it is";
    this.rob.output.value = this.state.rob ? `${this.state.rob} entries` : usual ? `${usual} entries, as it is` : "not in this core";
    this.data.output.value = dataSize(this.state.data) || "in L1";
  }

  modelled() {
    const name = this.answer?.kernels[0]?.core ?? this.state.core;
    return this.page.choices.cores.find(core => core.name === name);
  }

  get label() {
    const {compiler, options: text, core} = this.state;
    return [compiler, text, core].filter(Boolean).join(" ") || "assembly";
  }

  // Analyses after a pause, in place of what is running.
  run(pause = 0) {
    this.stop();
    this.busy = true;
    this.timer = setTimeout(() => this.explore(), pause);
  }

  stop() {
    clearTimeout(this.timer);
    this.running?.abort();
  }

  async explore() {
    const running = this.running = new AbortController();
    const {source, language} = this.page.state;
    const {compiler, options: words, core, data} = this.state;
    const assembly = language === "assembly";
    this.element.setAttribute("aria-busy", "true");
    let answer;
    try {
      answer = await explore({source, language, compiler: assembly ? "" : compiler, options: assembly ? "" : words, core,
        changes: changes(this.state), data: dataSize(data)},
      place => this.say(place ? `waits: number ${place} in the queue` : "compiles and analyses …"), running.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.say(error.message, true);
    }
    this.busy = false;
    this.element.removeAttribute("aria-busy");
    if (answer) this.take(answer);
  }

  say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong);
  }

  take(answer) {
    this.answer = answer;
    const mains = answer.kernels.filter(kernel => !["remainder", "prologue", "fallback", "partial"].includes(kernel.role));
    const slowest = mains.reduce((most, kernel) => kernel.cycles > (most?.cycles ?? 0) ? kernel : most, null);
    const loops = `${answer.kernels.length} ${answer.kernels.length === 1 ? "loop" : "loops"}`;
    if (answer.problem) this.say(answer.problem, true);
    else if (!slowest) this.say("there is no loop to analyse");
    else {
      this.say(`${loops} on ${slowest.core}; ${slowest.function || slowest.name}, line ${slowest.line}: ` +
        `${slowest.cycles.toFixed(2)} cycles, bound by ${slowest.limit || "the pipeline"}`);
    }
    this.messages.textContent = answer.messages;
    this.messages.hidden = !answer.messages;
    this.results.replaceChildren(...answer.kernels.filter(kernel => kernel.changes.length || kernel.levels.length > 1)
      .map(kernel => make("li", {}, `${kernel.function || kernel.name}, line ${kernel.line}: ${kernel.cycles.toFixed(2)} cycles`,
        ...kernel.changes.map(change => `; ${change.text} ${change.cycles.toFixed(2)}`),
        ...kernel.levels.slice(1).map(level => `; from ${level.name} ${level.cycles.toFixed(2)}`))));
    // The last report stays while the source does not compile.
    this.element.classList.toggle("old", Boolean(answer.problem));
    if (answer.result) {
      this.frame.src = `/report/${answer.result}${this.place}`;
      this.frame.hidden = false;
    } else if (!answer.problem) this.frame.hidden = true;
    this.fillChanges();
    this.page.explored(this);
  }

  // A message of the report inside.
  hear({over, choose, place}) {
    if (place !== undefined) this.place = place;
    if (over !== undefined) this.page.pointed(over);
    if (choose !== undefined) this.page.chosen(choose, this);
  }

  tell(message) {
    this.frame.contentWindow?.postMessage({incc: message}, "*");
  }
}
