// The editor: highlighting by language, the colour of each line that has instructions, and cycles behind loops.
import {defaultKeymap, history, historyKeymap} from "@codemirror/commands";
import {cpp} from "@codemirror/lang-cpp";
import {HighlightStyle, StreamLanguage, bracketMatching, indentOnInput, syntaxHighlighting} from "@codemirror/language";
import {fortran} from "@codemirror/legacy-modes/mode/fortran";
import {gas} from "@codemirror/legacy-modes/mode/gas";
import {highlightSelectionMatches, searchKeymap} from "@codemirror/search";
import {Compartment, EditorState, StateEffect, StateField} from "@codemirror/state";
import {Decoration, EditorView, WidgetType, drawSelection, highlightActiveLine, keymap, lineNumbers} from "@codemirror/view";
import {tags} from "@lezer/highlight";

const LANGUAGES = {
  c: cpp,
  "c++": cpp,
  fortran: () => StreamLanguage.define(fortran),
  assembly: () => StreamLanguage.define(gas),
};

const style = HighlightStyle.define([
  {tag: [tags.keyword, tags.modifier, tags.operatorKeyword], class: "tok-keyword"},
  {tag: [tags.typeName, tags.standard(tags.name)], class: "tok-type"},
  {tag: [tags.string, tags.character], class: "tok-string"},
  {tag: [tags.number, tags.bool], class: "tok-number"},
  {tag: tags.comment, class: "tok-comment"},
  {tag: [tags.processingInstruction, tags.meta], class: "tok-meta"},
]);

// The colour of a line, the same in the editor and in the report (views/html/embed.js).
export function hue(line) {
  return Math.round((line * 137.5) % 360);
}

class Cycles extends WidgetType {
  constructor(text) {
    super();
    this.text = text;
  }

  eq(other) {
    return other.text === this.text;
  }

  toDOM() {
    const made = document.createElement("span");
    made.className = "cycles";
    made.textContent = this.text;
    return made;
  }
}

const setMarks = StateEffect.define();
const setHit = StateEffect.define();

function decorations(doc, {coloured, texts, hit}) {
  const made = [];
  for (const line of new Set([...coloured, ...texts.keys(), ...hit])) {
    if (line < 1 || line > doc.lines) continue;
    const {from, to} = doc.line(line);
    const classes = [...(coloured.has(line) ? ["coloured"] : []), ...(hit.includes(line) ? ["hit"] : [])];
    if (classes.length) {
      made.push(Decoration.line({class: classes.join(" "), attributes: {style: `--hue: ${hue(line)}`}}).range(from));
    }
    if (texts.has(line)) made.push(Decoration.widget({widget: new Cycles(texts.get(line)), side: 1}).range(to));
  }
  return Decoration.set(made, true);
}

const NOTHING = {coloured: new Set(), texts: new Map(), hit: []};

// Marks are those of a compiled text. After an edit they move with their lines until there are new ones.
const marks = StateField.define({
  create: () => ({...NOTHING, shown: Decoration.none}),
  update(value, transaction) {
    let next = value;
    if (transaction.docChanged) next = {...next, shown: next.shown.map(transaction.changes)};
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) next = {...next, ...effect.value};
      else if (effect.is(setHit)) next = {...next, hit: effect.value};
      else continue;
      next = {...next, shown: decorations(transaction.state.doc, next)};
    }
    return next;
  },
  provide: field => EditorView.decorations.from(field, value => value.shown),
});

// `changed(text)` is called after edits, `pointed(line)` when the mouse is over another line (null: none), `chosen(line)` after a
// click or a move of the cursor to another line.
export function makeEditor(parent, {changed, pointed, chosen}) {
  const language = new Compartment();
  let over = null, at = 0;
  const point = line => {
    if (line !== over) pointed(over = line);
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: "",
      extensions: [
        lineNumbers(), history(), drawSelection(), bracketMatching(), indentOnInput(), highlightActiveLine(),
        highlightSelectionMatches(), syntaxHighlighting(style), language.of(cpp()), marks,
        // Tab leaves the editor, as a keyboard needs it.
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
        EditorView.contentAttributes.of({"aria-label": "Source", tabindex: "0"}),
        EditorView.updateListener.of(update => {
          if (update.docChanged) changed(update.state.doc.toString());
          const line = update.state.doc.lineAt(update.state.selection.main.head).number;
          if (update.selectionSet && line !== at) chosen(line);
          at = line;
        }),
        EditorView.domEventHandlers({
          mousemove(event, editor) {
            const position = editor.posAtCoords({x: event.clientX, y: event.clientY});
            point(position === null ? null : editor.state.doc.lineAt(position).number);
          },
          mouseleave: () => point(null),
        }),
      ],
    }),
  });
  return {
    set(text) {
      view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
    },
    setLanguage(name) {
      view.dispatch({effects: language.reconfigure(LANGUAGES[name]())});
    },
    // Colours lines, and puts texts behind lines.
    mark(coloured, texts) {
      view.dispatch({effects: setMarks.of({coloured, texts})});
    },
    hit(lines, scroll = false) {
      const effects = [setHit.of(lines)];
      if (scroll && lines.length && lines[0] <= view.state.doc.lines) {
        effects.push(EditorView.scrollIntoView(view.state.doc.line(lines[0]).from, {y: "center"}));
      }
      view.dispatch({effects});
    },
    focus: () => view.focus(),
  };
}
