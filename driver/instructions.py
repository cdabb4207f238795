"""Instructions of models by the names that users give them: keys, patterns, mnemonics, operands by kind, assembly."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from incc.frontends.isa import DecodeError, TextForm
from incc.frontends.isa import isa as instruction_set
from incc.models.forms.rules import rules_of
from incc.models.model import MachineModel
from incc.models.notation import split_key
from incc.report.instructions import InstructionFigures, figures_of
from incc.support.errors import AnalysisError, nearest


def matching(model: MachineModel, what: str) -> list[str]:
    """Return the keys of the forms that are named by a key, a pattern, a mnemonic, or an instruction with operands.

    A pattern with `*` or `?` matches mnemonics, and instructions with kinds of operands ("vfmadd*pd zmm*"); with "_" or
    "/" it matches keys.
    """
    form = what.partition(" [")[0]
    if model.entries(form):
        return [form]
    keys = sorted(model.forms())
    if matches := [key for key in keys if key.lower() == form.lower()]:
        return matches
    name = " ".join(what.lower().split())
    rules = rules_of(model.isa)
    if any(sign in name for sign in "?*["):
        spelled = {key: key.lower() if "_" in name or "/" in name else rules.spelled(key) for key in keys}
        matches = [
            key for key, text in spelled.items() if fnmatchcase(text, name) or fnmatchcase(text.partition(" ")[0], name)
        ]
        # In an operand these signs are those of an address.
        if matches or " " not in name:
            return matches
    if matches := [key for key in keys if rules.is_called(key, name)]:
        return matches
    if " " not in name:
        return []
    exact = [key for key in keys if rules.spelled(key) == name]
    return exact or [key for key in _with_operands(model.isa, what.strip()) if model.entries(key)]


def named(model: MachineModel, text: str) -> InstructionFigures:
    """Return the figures of one instruction. If several match, it is the assembler's choice. Raises AnalysisError."""
    text = " ".join(text.split())
    form, conditions = _key(model, text)
    if not form:
        raise AnalysisError(f"{text!r} is not an instruction{near([model], text)}")
    if figures := figures_of(model, form, conditions):
        return figures
    raise AnalysisError(f"{model.name} has no figures of {rules_of(model.isa).spelled(form, conditions)}")


def near(models: Sequence[MachineModel], what: str) -> str:
    """Return a suggestion of similar names for a name that no form has, "" if there are none."""
    word, _, operands = what.strip().partition(" ")
    if operands and (forms := {rules_of(m.isa).spelled(key): None for m in models for key in matching(m, word)}):
        return f"; there {'is' if len(forms) == 1 else 'are'} {'; '.join(list(forms)[:6])}{' …' * (len(forms) > 6)}"
    names: dict[str, str] = {}
    for rules in {model.isa: rules_of(model.isa) for model in models}.values():
        names |= {name: name for name in rules.mnemonics()}
    for model in models:
        for form in model.forms():
            names.setdefault(form.lower(), form)
            names.setdefault(form.partition("/")[0].lower(), form.partition("/")[0])
    similar = [names[name] for name in nearest(word.lower(), names, 12)]
    similar = [name for name in similar if any(matching(model, name) for model in models)]
    return f"; did you mean {', '.join(similar[:4])}?" if similar else ""


def _key(model: MachineModel, text: str) -> tuple[str, tuple[str, ...]]:
    """Return the form and conditions that a text names, "" for no form. Raises AnalysisError for wrong operands."""
    from incc.measuring.forms.operands import Unreadable, no_such_operands, order_of, shapes_of

    if "/" in text.partition(" ")[0]:
        try:
            return split_key(text)
        except ValueError as error:
            raise AnalysisError(str(error)) from None
    if not rules_of(model.isa).HAS_SHAPES:
        forms = matching(model, text)
        return forms[0] if len(forms) == 1 else "", ()
    words = text.split(" ")
    prefixes = tuple(words[:1]) if words[0].lower() in instruction_set(model.isa).syntax.prefixes else ()
    text = " ".join(words[len(prefixes) :])
    try:
        shapes = shapes_of(text)
    except Unreadable as error:
        if form := _form_of(model.isa, text):
            return form, ()
        raise AnalysisError(str(error)) from None
    if not shapes.fitting:
        if form := _form_of(model.isa, text):
            return form, prefixes
        raise AnalysisError(str(no_such_operands(shapes, shapes.called)))
    likeliest = min(shapes.fitting, key=lambda shape: (not model.entries(shape.key), *order_of(text, shapes, shape)))
    return likeliest.key, (*prefixes, *sorted(shapes.conditions))


def _with_operands(isa: str, text: str) -> list[str]:
    """Return the forms of an instruction with operands, by kind or as in assembly."""
    if rules_of(isa).HAS_SHAPES:
        from incc.measuring.forms.operands import Unreadable, shapes_of

        try:
            if fitting := shapes_of(text).fitting:
                return [shape.key for shape in fitting]
        except Unreadable:
            pass
    return [_form_of(isa, text)]


@cache
def _form_of(isa: str, statement: str) -> str:
    """Return the form of an instruction in assembly text, "" if it is not one."""
    if "\n" in statement or ";" in statement:
        return ""
    intel = "%" not in statement and "$" not in statement
    dialects = {dialect: word for word, dialect in instruction_set(isa).syntax.dialects.items()}
    first = f"{dialects['intel']} noprefix" if intel and "intel" in dialects else ""
    try:
        forms = list(instruction_set(isa).text_forms(f"{first}\n{statement}\n", [(2, statement)], "<text>"))
    except (DecodeError, OSError):
        return ""
    return forms[0].form if forms and isinstance(forms[0], TextForm) else ""
