"""Port sets of instruction forms, inferred from times alone, on a core with a known number of ports.

A µop that can use few ports competes with others for them, so throughputs reveal sets of ports: of forms alone (one µop
on k ports: 1/k cycles), in pairs and triples (how many ports two or three sets have together), and with *blockers*,
copies of a form with one µop in such a number that they keep all of its k ports busy: m µops that can use no other
ports then cost m/k cycles. The result is the smallest mapping that explains all figures; where a related core's mapping
explains them, it is preferred. docs/ports.md describes the method and its limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, permutations
from math import ceil, floor
from operator import or_
from typing import Literal

import msgspec
from msgspec.structs import replace

from incc.measuring.ports import sets as port_sets
from incc.measuring.ports.experiments import Experiments, Noise, Oracle
from incc.measuring.ports.sets import Usage, cells, confined, cycles, total, usage_of
from incc.models.model import MachineModel
from incc.models.notation import split_key

Uops = tuple[tuple[str, int], ...]
"""(ports joined by ",", how many), as models.model.Form has them."""

How = Literal["measured", "relative", "smallest", "contradiction", "unmeasured"]


class FormPorts(msgspec.Struct, frozen=True, kw_only=True):
    """A form's inferred µops and ports."""

    form: str
    uops: Uops
    """µops by set of ports, with the names of the relative's corresponding ports.

    Empty for a form whose ports are none or unknown. µops that keep their port for two cycles count twice.
    """
    slots: int | None
    """Issue slots; None where they could not be measured."""
    throughput: float | None
    """Cycles alone."""
    unit: str = ""
    """The unit besides the ports that the form keeps for `throughput` cycles, named after the first form that keeps it.

    "" without any.
    """
    how: How
    """The certainty.

    "measured": no other explanation has as few µops; "relative": the relative's µops explain the figures, and so do
    `others`; "smallest": the relative's µops do not, and `others` are as small; "contradiction": no µops explain them
    (see `notes`); "unmeasured".
    """
    others: tuple[Uops, ...] = ()
    """Other µops that explain the figures as well."""
    notes: tuple[str, ...] = ()
    """Remarks, as sentences."""


class PortSet(msgspec.Struct, frozen=True):
    """A set of ports that one µop of some forms can use; the first of the forms is the blocker."""

    ports: tuple[str, ...]
    forms: tuple[str, ...]


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a port study."""

    mappings: list[FormPorts]
    sets: tuple[PortSet, ...]
    """The sets that blockers have."""
    alike: tuple[tuple[str, ...], ...]
    """Ports that no set tells apart, whose names could be exchanged."""
    systems: int
    """The number of systems of sets, up to renaming, that explain the blockers' figures, the chosen one among them."""
    systems_complete: bool
    """True if there are no more."""
    contradictions: tuple[str, ...]
    """Contradictions, as sentences."""
    experiments: int
    """The number of throughputs that were requested."""


class Relative(msgspec.Struct, frozen=True, kw_only=True):
    """A related core's ports and forms, which may be wrong for this one."""

    ports: tuple[str, ...]
    """The names of its ports."""
    usages: Mapping[str, Usage]
    """The µops of its forms."""
    slow: frozenset[str]
    """Its forms that keep a unit that is not pipelined."""
    vocabulary: tuple[Usage, ...]
    """All different usages of its forms, the most frequent first."""

    @classmethod
    def of(cls, model: MachineModel, forms: Iterable[str]) -> Relative:
        """Return the data of a model, with the forms of these keys. Raises ModelError and ValueError."""
        bit = {name: 1 << n for n, name in enumerate(model.ports)}
        usage_by_form: dict[str, Usage] = {}
        slow = set()
        seen: Counter[Usage] = Counter()
        for key in dict.fromkeys([*model.forms(), *forms]):
            name, conditions = split_key(key)
            form = model.lookup(name, frozenset(conditions))
            if form is None:
                continue
            hold = form.attributes.get("hold", 1)
            usage = usage_of((sum(bit[p] for p in ports.split(",")), n * hold) for ports, n in form.uops)
            usage_by_form[key] = usage
            seen[usage] += 1
            if form.divider:
                slow.add(key)
        wanted = set(forms)
        common = [u for u, _ in sorted(seen.items(), key=lambda item: (-item[1], item[0]))]
        return cls(
            ports=model.ports,
            usages={key: usage for key, usage in usage_by_form.items() if key in wanted},
            slow=frozenset(slow & wanted),
            vocabulary=tuple(common),
        )


def study(
    forms: Sequence[str],
    oracle: Oracle,
    relative: Relative,
    *,
    ports: int,
    issue_width: int,
    fused: int = 2,
    noise: Noise = Noise(),  # noqa: B008 -- it cannot be changed
    path: str = "",
) -> Findings:
    """Infer the ports of a core's forms from throughputs.

    Args:
        forms: keys that the oracle knows, the better blockers first.
        oracle: the function that measures a mixture.
        relative: a related core, whose mappings are tried first.
        ports: the number of ports of the core.
        issue_width: fused µops that it issues in a cycle.
        fused: the most port cycles for which one of these stands: two for a load or store and what goes with it, more
            where µops keep their port for two cycles.
        noise: the uncertainty of measurements.
        path: a file that keeps measurements, which are then not repeated (`Experiments`).

    Raises:
        ValueError: for numbers that no core has, besides the exceptions of `Experiments` and the oracle.
    """
    if ports < 1 or issue_width < 1:
        raise ValueError(f"a core with {ports} ports that issues {issue_width} µops a cycle")
    forms = list(dict.fromkeys(forms))
    return _Study(forms, Experiments(oracle, path), relative, ports, issue_width, fused, noise).run()


_REPRESENTATIVES = 2
"""The number of forms, alike in the relative and equally fast alone, whose pairs are measured."""
_MOST_SETS = 28
"""Sets among which all pairs are measured."""
_SYSTEMS = 24
"""Systems of sets that are distinguished at a time."""
_STEPS = 20_000
_OTHERS = 8
"""Other explanations of a form that are returned."""
_COMPARED = 40
"""Explanations of a form that are distinguished at a time."""
_LONGEST = 40.0
"""The cycles from which on a form's free slots cannot be distinguished from noise."""


class _Class(msgspec.Struct):
    """A set of ports that forms with one µop share."""

    forms: list[str]
    """The forms, the blocker first."""
    size: int
    """The number of ports."""
    mask: int = 0
    """The ports as bits, once the system of sets is known."""

    @property
    def blocker(self) -> str:
        return self.forms[0]


_Copies = tuple[tuple[int, int], ...]
"""Copies of blockers: (index of the class, how many)."""
_Shared = Mapping[tuple[int, int], tuple[int, int]]
"""The fewest and the most ports that two classes have in common, by their indices."""


class _Test(msgspec.Struct, frozen=True):
    """A measurement of a form: the blockers, the number of its copies, and the cycles."""

    blockers: _Copies
    copies: int
    cycles: float


class _Study:
    def __init__(
        self,
        forms: Sequence[str],
        experiments: Experiments,
        relative: Relative,
        ports: int,
        width: int,
        fused: int,
        noise: Noise,
    ) -> None:
        self.forms = forms
        self.experiments = experiments
        self.relative = relative
        self.ports = ports
        self.width = width
        self.noise = noise
        self.bits = max(ports, len(relative.ports))
        self.fused = fused
        self.known_sets = {mask for usage in relative.vocabulary for mask, _ in usage}
        self.moved: dict[int, int] = {}
        self.alone_there = {usage[0][0] for usage in relative.vocabulary if total(usage) == 1}
        self.names = [*relative.ports, *(f"new{n}" for n in range(self.bits - len(relative.ports)))]
        self.alone: dict[str, float] = {}
        self.slots: dict[str, tuple[int, int]] = {}
        self.filler = ""
        self.classes: list[_Class] = []
        self.rejected: dict[str, str] = {}
        self.mixed: list[tuple[tuple[tuple[str, int], ...], float]] = []
        self.other_systems: list[list[int]] = []
        self.systems_complete = True

    def run(self) -> Findings:
        for form in self.forms:
            alone = self.experiments.cycles({form: 1})
            if alone is not None and alone > 0:
                self.alone[form] = alone
        self.filler = self._choose_filler()
        candidates = self._candidates()
        tried: set[str] = set()
        mappings: dict[str, FormPorts] = {}
        for _ in range(4):
            tried.update(candidates)
            for form in candidates:
                self._classify(form)
            self._settle()
            mappings = {form: self._form(form) for form in self.forms}
            candidates = self._promoted(mappings, tried)
            if not candidates:
                break
        units = self._units(mappings)
        indistinct = cells([c.mask for c in self.classes], self.bits)
        return Findings(
            mappings=[replace(mappings[form], unit=units.get(form, "")) for form in self.forms],
            sets=tuple(PortSet(self._names_of(c.mask), tuple(c.forms)) for c in self.classes),
            alike=tuple(self._names_of(cell) for cell in indistinct if cell.bit_count() > 1),
            systems=1 + len(self.other_systems),
            systems_complete=self.systems_complete,
            contradictions=tuple(dict.fromkeys(self.rejected.values())),
            experiments=self.experiments.used,
        )

    # --- alone -------------------------------------------------------------------------------------------------------

    def _same(self, a: float, b: float) -> bool:
        return abs(a - b) <= self.noise.of(min(a, b))

    def _choose_filler(self) -> str:
        """Choose a form that runs at the full issue width, preferably one without ports."""

        def rank(form: str) -> tuple[int, int, str]:
            usage = self.relative.usages.get(form)
            kind_of_form = 0 if usage == () else 1 if usage is not None and total(usage) == 1 else 2
            return kind_of_form, -max((m.bit_count() for m, _ in usage or ()), default=0), form

        return min((f for f, alone in self.alone.items() if self._same(alone, 1 / self.width)), key=rank, default="")

    def _slots(self, form: str) -> tuple[int, int]:
        """Return the fewest and the most issue slots of a form, from the slots that it leaves for the filler."""
        if form not in self.slots:
            alone = self.alone[form]
            least, most = 1, max(1, floor(self.width * (alone + self.noise.of(alone))))
            if form == self.filler:
                most = 1
            for more in (2, 5, 9) if self.filler else ():
                if least >= most or alone > 8:
                    break
                n = ceil(self.width * alone) + more
                beside = self.experiments.cycles({self.filler: n, form: 1})
                if beside is not None:
                    margin = self.noise.of(beside)
                    low = ceil((beside - margin) * self.width - n - 1e-6)
                    high = floor((beside + margin) * self.width - n + 1e-6)
                    if max(least, low) <= min(most, high):
                        least, most = max(least, low), min(most, high)
            self.slots[form] = (least, most)
        return self.slots[form]

    # --- the sets of blockers ----------------------------------------------------------------------------------------

    def _size(self, form: str) -> int:
        """Return on how many ports a form goes if it is one µop, 0 if that cannot be or not be seen.

        As many ports as are issued to in a cycle are never kept busy by the front end.
        """
        alone = self.alone.get(form)
        if alone is None:
            return 0
        size = round(1 / alone)
        return size if 1 <= size < self.width and size <= self.ports and self._same(alone, 1 / size) else 0

    def _candidates(self) -> list[str]:
        """Return candidates for blockers: a few of each group that is alike in the relative and equally fast."""
        groups: dict[tuple[Usage | None, int], list[str]] = {}
        for form in self.forms:
            usage = self.relative.usages.get(form)
            # Forms that the relative lacks may have several µops, so they come after the known sets.
            single = not self.relative.usages if usage is None else total(usage) == 1
            single = single or (self._stands_in(usage) and self._slots(form) == (1, 1))
            size = self._size(form)
            if size and single and form not in self.relative.slow:
                groups.setdefault((usage, size), []).append(form)
        chosen = []
        for (usage, _), members in groups.items():
            of_one = [form for form in members if self._slots(form)[0] == 1]
            chosen += of_one[: _REPRESENTATIVES if usage is not None else _MOST_SETS]
        # The smallest sets tell most about the others.
        return sorted(chosen, key=lambda f: (self._size(f), self.forms.index(f)))

    def _stands_in(self, usage: Usage | None) -> bool:
        """Return True if µops are two that no form has without the other, as a store's: one set limits both."""
        return usage is not None and total(usage) == 2 and not any(mask in self.alone_there for mask, _ in usage)

    def _union(self, f: str, g: str) -> tuple[int, int] | None:
        """Return the fewest and the most ports of two sets together; None if they cannot both be single sets."""
        a, b = self._size(f), self._size(g)
        if f == g:
            return a, a
        measured = self.experiments.cycles({f: 2 * a, g: 2 * b})
        least, most = max(a, b), min(a + b, self.ports)
        if measured is None:
            return least, most
        expected = {ports: (a + b) / min(ports, self.width) for ports in range(least, most + 1)}
        distance = {ports: abs(measured / 2 - cycles) for ports, cycles in expected.items()}
        close = [ports for ports in expected if distance[ports] <= self.noise.of(expected[ports])]
        nearest = min(distance, key=lambda ports: distance[ports])
        # Or between two: ports are not always shared out as well as is possible.
        if not close and measured / 2 <= expected[nearest] * (1 + 4 * self.noise.above):
            close = [ports for ports in expected if distance[ports] <= distance[nearest] + 1e-9]
        return (close[0], close[-1]) if close else None

    def _classify(self, form: str) -> None:
        """Put a form with others of its set, or into a class of its own."""
        size = self._size(form)
        if not size or form in self.rejected or any(form in c.forms for c in self.classes):
            return
        together = [self._union(form, c.blocker) for c in self.classes]
        alike = [n for n, c in enumerate(self.classes) if c.size == size and together[n] == (size, size)]
        if None in together:
            other = self.classes[together.index(None)].blocker
            if self._stands_in(self.relative.usages.get(other)):
                del self.classes[together.index(None)]
                self.rejected[other] = f"{other} has more than one set that others want: see {form}"
                self._classify(form)
                return
            self.rejected[form] = f"{form} is slower with {other} than a single µop can be"
            return
        for n in alike:
            less, more = [], []
            for k, other_class in enumerate(self.classes):
                mine, its = together[k], self._union(self.classes[n].blocker, other_class.blocker)
                if mine is None or its is None or k == n:
                    continue
                less += [k] * (mine[1] < its[0])
                more += [k] * (mine[0] > its[1])
            if less:
                # It conflicts with more sets than a single µop of its size would, so it has more than one.
                other = self.classes[less[0]].blocker
                self.rejected[form] = f"{form} is more than one µop, since it also blocks {other}"
                return
            if more:
                old = self.classes.pop(n)
                other = old.blocker
                self.rejected[other] = f"{other} is more than one µop, since it blocks more than {form} does"
                self._classify(form)
                return
        if alike:
            self.classes[alike[0]].forms.append(form)
        elif len(self.classes) < _MOST_SETS:
            self.classes.append(_Class([form], size))

    def _settle(self) -> None:
        """Find the system of sets, and name its ports."""
        self.classes.sort(key=lambda c: (c.size, self.forms.index(c.blocker)))
        while self.classes:
            solutions, complete = self._consistent(self.classes)
            if solutions:
                break
            self._drop_one(complete)
        else:
            return
        self.systems_complete = complete
        others = [self._relatives(c) for c in self.classes]

        def differences(masks: Sequence[int]) -> int:
            return sum((a ^ b).bit_count() for a, b in zip(masks, others, strict=True) if b is not None)

        named = []
        for masks in solutions:
            names = port_sets.aligned(masks, others, self.ports, len(self.relative.ports))
            named.append([port_sets.renamed(m, names) for m in masks])

        def new_conflicts(masks: Sequence[int]) -> int:
            pairs = combinations(zip(masks, others, strict=True), 2)
            return sum((a & b).bit_count() for (a, c), (b, d) in pairs if c and d and not c & d)

        named.sort(key=lambda masks: (differences(masks), new_conflicts(masks), masks))
        for c, mask in zip(self.classes, named[0], strict=True):
            c.mask = mask
        self.other_systems = named[1:]
        moved: dict[int, Counter[int]] = {}
        for c in self.classes:
            for there in self._sets_there(c):
                moved.setdefault(there, Counter())[c.mask] += 1
        self.moved = {there: max(here, key=lambda m: (here[m], m == there, -m)) for there, here in moved.items()}

    def _sets_there(self, c: _Class) -> Iterator[int]:
        """Yield the relative's set of each form of a class that is one µop there, or limited by one set."""
        for form in c.forms:
            usage = self.relative.usages.get(form, ())
            if total(usage) == 1 or self._stands_in(usage):
                yield min((mask for mask, _ in usage), key=lambda m: (m.bit_count(), m))

    def _relatives(self, c: _Class) -> int | None:
        """Return the set that most forms of a class have in the relative."""
        seen = Counter(self._sets_there(c))
        return max(seen, key=lambda m: (seen[m], -m)) if seen else None

    def _drop_one(self, complete: bool) -> None:
        """Leave out the class without which there is a solution, of several the one with the fewest forms."""
        order = sorted(
            range(len(self.classes)),
            key=lambda n: (len(self.classes[n].forms), (self._relatives(self.classes[n]) or 0).bit_count(), -n),
        )
        for n in order:
            rest = [c for k, c in enumerate(self.classes) if k != n]
            if not rest or self._consistent(rest, ask=False)[0]:
                break
        else:
            n = order[0]
        left_out = self.classes.pop(n)
        why = "contradict each other" if complete else "have too many explanations"
        for form in left_out.forms:
            self.rejected[form] = f"{form} is left out as a blocker: the figures with it {why}"

    def _consistent(self, classes: Sequence[_Class], ask: bool = True) -> tuple[list[tuple[int, ...]], bool]:
        """Return the systems of sets that explain the figures of blockers, and True if they are all.

        While several do, the mixture of two or three blockers is measured that tells most of them apart.
        """
        shared = self._shared(classes)
        if shared is None:
            return [], True
        at = {c.blocker: n for n, c in enumerate(classes)}
        while True:
            mixed: dict[_Copies, float] = {
                tuple((at[f], n) for f, n in copies): measured
                for copies, measured in self.mixed
                if all(f in at for f, _ in copies)
            }
            several, complete = self._systems(classes, shared, mixed)
            copies = self._telling(several, classes, mixed) if ask and len(several) > 1 else None
            if copies is None:
                return several, complete
            mixture = tuple((classes[n].blocker, k) for n, k in copies)
            measured = self.experiments.cycles(dict(mixture))
            self.mixed.append((mixture, self._mixture(several[0], copies) if measured is None else measured))
            if measured is None:
                return several, False

    def _shared(self, classes: Sequence[_Class]) -> _Shared | None:
        """Return how many ports each two classes share; None if two cannot both be single sets."""
        shared = {}
        for (i, a), (j, b) in combinations(enumerate(classes), 2):
            union = self._union(a.blocker, b.blocker)
            if union is None:
                return None
            shared[i, j] = (max(0, a.size + b.size - union[1]), a.size + b.size - union[0])
        return shared

    def _systems(
        self, classes: Sequence[_Class], shared: _Shared, mixed: Mapping[_Copies, float]
    ) -> tuple[list[tuple[int, ...]], bool]:
        """Return the systems that explain pairs and mixtures, the relative's first, and True if they are all."""

        def agrees(masks: Sequence[int], settled: frozenset[int]) -> bool:
            return all(
                self.noise.allows(self._mixture(masks, copies), measured, 1.5)
                for copies, measured in mixed.items()
                if all(n in settled for n, _ in copies)
            )

        by_kind: dict[tuple[int, ...], tuple[int, ...]] = {}
        relatives = self._relatives_system(classes, shared)
        if relatives is not None and agrees(relatives, frozenset(range(len(classes)))):
            by_kind[port_sets.kind(relatives, self.ports)] = relatives
        try:
            for masks in port_sets.systems([c.size for c in classes], shared, self.ports, agrees, _STEPS):
                by_kind.setdefault(port_sets.kind(masks, self.ports), masks)
                if len(by_kind) > _SYSTEMS:
                    return list(by_kind.values()), False
        except port_sets.TooMany:
            return list(by_kind.values()), False
        return list(by_kind.values()), True

    def _relatives_system(self, classes: Sequence[_Class], shared: _Shared) -> tuple[int, ...] | None:
        """Return the relative's sets of the classes, with ports numbered without gaps, if they fit sizes and pairs."""
        masks = [mask for c in classes if (mask := self._relatives(c)) and mask.bit_count() == c.size]
        if len(masks) < len(classes):
            return None
        if not all(least <= (masks[i] & masks[j]).bit_count() <= most for (i, j), (least, most) in shared.items()):
            return None
        used = [p for p in range(self.bits) if any(mask >> p & 1 for mask in masks)]
        if len(used) > self.ports:
            return None
        return tuple(sum((mask >> p & 1) << n for n, p in enumerate(used)) for mask in masks)

    def _mixture(self, masks: Sequence[int], copies: _Copies) -> float:
        return max(cycles([(masks[n], k) for n, k in copies], self.bits), sum(k for _, k in copies) / self.width)

    def _telling(
        self, several: Sequence[Sequence[int]], classes: Sequence[_Class], measured: Container[_Copies]
    ) -> _Copies | None:
        """Return the mixture of three blockers that tells most of some systems apart, None if none does."""
        levels: dict[_Copies, int] = {
            copies: self._levels(self._mixture(masks, copies) for masks in several)
            for copies in combinations([(n, c.size) for n, c in enumerate(classes)], 3)
            if copies not in measured
        }
        return _best(levels)

    def _levels(self, expected: Iterable[float]) -> int:
        """Return the number of distinguishable values."""
        count, last = 0, -1.0
        for value in sorted(expected):
            if value > last + 3 * self.noise.of(value) or last < 0:
                count += 1
                last = value
        return count

    # --- forms with blockers -----------------------------------------------------------------------------------------

    def _form(self, form: str) -> FormPorts:
        if form not in self.alone:
            return FormPorts(form=form, uops=(), slots=None, throughput=None, how="unmeasured")
        usage = self.relative.usages.get(form, ())
        for n, c in enumerate(self.classes):
            if c.blocker == form and not self._stands_in(usage):
                others = {masks[n] for masks in self.other_systems} - {c.mask}
                how: How = "measured"
                if others or not self.systems_complete:
                    how = "relative" if self._relatives(c) == c.mask else "smallest"
                return self._mapping(form, ((c.mask, 1),), how, [((m, 1),) for m in sorted(others)])
        if self.alone[form] > _LONGEST:
            return self._mapping(form, usage, "relative", notes=["takes too long to tell its ports"])
        return _Beside(self, form).mapping()

    def _mapping(
        self, form: str, usage: Usage, how: How, others: Iterable[Usage] = (), notes: Iterable[str] = ()
    ) -> FormPorts:
        least, most = self._slots(form)
        return FormPorts(
            form=form,
            uops=self._uops(usage),
            slots=least if least == most else None,
            throughput=self.alone[form],
            how=how,
            others=tuple(self._uops(u) for u in others),
            notes=tuple(notes),
        )

    def _names_of(self, mask: int) -> tuple[str, ...]:
        return tuple(self.names[p] for p in range(self.bits) if mask >> p & 1)

    def _uops(self, usage: Usage) -> Uops:
        return tuple((",".join(self._names_of(mask)), n) for mask, n in usage)

    def _mask(self, ports: str) -> int:
        return sum(1 << self.names.index(name) for name in ports.split(","))

    def _promoted(self, mappings: Mapping[str, FormPorts], tried: set[str]) -> list[str]:
        """Return the first form of each new set, to be used as blockers."""
        masks = {c.mask for c in self.classes}
        first_forms: dict[object, str] = {}
        for form, m in mappings.items():
            size = self._size(form)
            if form in tried or not size or self._slots(form)[0] != 1 or m.how == "contradiction":
                continue
            if sum(n for _, n in m.uops) == 1 and self._mask(m.uops[0][0]) not in masks:
                first_forms.setdefault(m.uops, form)
            elif not m.uops:
                first_forms.setdefault(("", size), form)
        return list(first_forms.values())[:6]

    def _units(self, mappings: Mapping[str, FormPorts]) -> dict[str, str]:
        """Return the first form that keeps the same unit, by form: two such forms wait for each other."""
        first: list[str] = []
        units = {}
        for form, m in mappings.items():
            if m.how in ("unmeasured", "contradiction") or m.throughput is None:
                continue
            bound = cycles([(self._mask(p), n) for p, n in m.uops], self.bits)
            front_end = self._slots(form)[1] / self.width
            if m.throughput <= max(bound, front_end) + 2 * self.noise.of(m.throughput):
                continue
            for other in first:
                copies = max(1, round(m.throughput / self.alone[other]))
                beside = self.experiments.cycles({form: 1, other: copies})
                others = copies * self.alone[other]
                separate, together = max(m.throughput, others), m.throughput + others
                if beside is not None and abs(beside - together) < abs(beside - separate):
                    units[form] = other
                    break
            else:
                first.append(form)
                units[form] = form
        return units


def _best(levels: Mapping[_Copies, int]) -> _Copies | None:
    """Return the mixture that tells most apart, of several the shortest, None if none tells anything."""
    chosen = max(levels, key=lambda blockers: (levels[blockers], -sum(copies for _, copies in blockers)), default=None)
    return chosen if chosen is not None and levels[chosen] > 1 else None


_Source = Literal["relative", "seen", "other forms", "any"]
"""The µops among which an explanation is looked for; see `_Beside._candidates`."""
_ATTEMPTS: tuple[tuple[_Source, bool], ...] = (
    ("relative", False),
    ("seen", False),
    ("relative", True),
    ("other forms", False),
    ("seen", True),
    ("any", False),
    ("any", True),
)
"""The order in which explanations are searched.

With True, a unit other than the ports may make the form slow alone.
"""


class _Beside:
    """A form that is measured with blockers.

    It has the number of µops that are confined to each set, and the usages that explain these counts.
    """

    def __init__(self, study: _Study, form: str) -> None:
        self.study = study
        self.form = form
        self.alone = study.alone[form]
        self.slots = study._slots(form)
        self.there = study.relative.usages.get(form)
        # Each of the relative's sets becomes the set that its forms of one µop have here.
        self.expected = self.there and usage_of((study.moved.get(mask, mask), n) for mask, n in self.there)
        self.masks = [c.mask for c in study.classes]
        self.largest_first = sorted(range(len(self.masks)), key=lambda n: -self.masks[n].bit_count())
        slack = study.noise.of(self.alone)
        self.least = [0] * len(self.masks)
        uops = study.fused * self.slots[1]
        self.most = [min(uops, floor(m.bit_count() * (self.alone + slack) + 1e-6)) for m in self.masks]
        self.settled = [False] * len(self.masks)
        self.tests: list[_Test] = []
        self.notes: list[str] = []

    def mapping(self) -> FormPorts:
        study = self.study
        self._imply()
        if self.expected is not None:
            for n in sorted(self.largest_first, key=lambda n: self.masks[n].bit_count()):
                if confined(self.expected, self.masks[n]):
                    self._count(n)
            self._screen()
        for n in self.largest_first:
            self._count(n)
        if any(least > most for least, most in zip(self.least, self.most, strict=True)):
            return self._contradiction("counts of its µops on sets of ports contradict each other")
        for _ in range(6):
            usage, how, others = self._fit()
            if usage is None:
                return self._contradiction("no µops on the known ports take these times")
            chosen = usage
            if not others or not self._tell([chosen, *others[:_COMPARED]]):
                break
        if others:
            self.notes.append(self._what_would_tell([chosen, *others[:_COMPARED]]))
        if total(chosen) < self.slots[0] and how == "measured" and chosen:
            how = "relative" if chosen == self.expected else "smallest"
            self.notes.append(f"{total(chosen)} of {self.slots[0]} µops were seen on ports")
        return study._mapping(self.form, chosen, how, others[:_OTHERS], self.notes)

    def _contradiction(self, why: str) -> FormPorts:
        seen = [
            f"{self.least[n]} to {self.most[n]} on {','.join(self.study._names_of(mask))}"
            for n, mask in enumerate(self.masks)
            if self.least[n] > 0
        ]
        notes = [*self.notes, why, *(["seen: " + "; ".join(seen)] if seen else [])]
        return self.study._mapping(self.form, (), "contradiction", notes=notes)

    # --- counting ----------------------------------------------------------------------------------------------------

    def _imply(self) -> None:
        """Propagate bounds between counts: a part has no more than the whole, and two parts not together."""
        masks, least, most = self.masks, self.least, self.most
        changed = True
        while changed:
            changed = False
            for i, a in enumerate(masks):
                for j, b in enumerate(masks):
                    if i == j or a & ~b:
                        continue
                    if most[i] > most[j]:
                        most[i], changed = most[j], True
                    if least[j] < least[i]:
                        least[j], changed = least[i], True
                    for k, c in enumerate(masks):
                        if c & ~b or a & c:
                            continue
                        rest = max(-1, most[j] - least[k])
                        if most[i] > rest:
                            most[i], changed = rest, True
                        if least[j] < least[i] + least[k]:
                            least[j], changed = least[i] + least[k], True
                if least[i] > most[i]:
                    return

    def _beside(self, blockers: tuple[tuple[int, int], ...], copies: int) -> float | None:
        """Measure copies of the form with blockers."""
        together = Counter({self.study.classes[n].blocker: k for n, k in blockers})
        together[self.form] += copies
        measured = self.study.experiments.cycles(together)
        if measured is not None:
            self.tests.append(_Test(blockers, copies, measured))
        return measured

    def _scale(self, ports: int, copies: int) -> int:
        """Return for how many cycles a set has to be kept busy, so that nothing but it limits the loop.

        Neither the form alone, nor the front end, nor a larger set with the form's other µops may limit it.
        """
        slots = self.slots[1]
        uops = max(self.study.fused * slots, total(self.expected or ()))
        front_end = slots / (self.study.width - ports) if ports < self.study.width else 0
        return copies * max(1, ceil(max(self.alone, front_end, min((ports + 1) * self.alone, uops)) - 0.05))

    def _count(self, n: int) -> None:
        """Measure how many µops can use no other ports than a blocker's, unless that is known."""
        if self.least[n] >= self.most[n] or self.settled[n]:
            return
        self.settled[n] = True
        mask, study = self.masks[n], self.study
        size = mask.bit_count()
        for copies, more in ((2, 1), (2, 1.5), (4, 1)):
            busy = ceil(more * self._scale(size, copies))
            measured = self._beside(((n, size * busy),), copies)
            if measured is None:
                return
            margin = study.noise.of(measured)
            low = (size * (measured - margin) - size * busy) / copies
            high = (size * (measured + margin) - size * busy) / copies
            fewest, most = ceil(low - 1e-6), floor(high + 1e-6)
            if fewest > most:
                # Between two numbers: ports are not shared out as well as is possible, never better.
                fewest = most = max(0, floor((low + high) / 2 + 0.25))
            fewest, most = max(self.least[n], fewest), min(self.most[n], most)
            if fewest > most and size >= study.width - 1:
                # So many ports are hardly kept busy, and ports not shared out well are slower than anything else: on
                # Golden Cove 22 µops for five ports take 5.4 cycles if two of them can only use one.
                return
            self.least[n], self.most[n] = fewest, most
            if fewest > most:
                return
            if fewest == most:
                break
        self._imply()

    def _screen(self) -> None:
        """Test several disjoint sets at once on which the relative has nothing."""
        study = self.study
        assert self.expected is not None
        rest = [
            n
            for n in self.largest_first
            if self.least[n] < self.most[n] and not confined(self.expected, self.masks[n]) and not self.settled[n]
        ]
        while rest:
            group: list[int] = []
            union = 0
            for n in rest:
                mask = self.masks[n]
                both = union | mask
                if not mask & union and both.bit_count() <= study.width - 2 and not confined(self.expected, both):
                    group.append(n)
                    union = both
            if len(group) < 2:
                return
            rest = [n for n in rest if n not in group and self.masks[n] & ~union]
            size = union.bit_count()
            busy = self._scale(size, 2)
            measured = self._beside(tuple((n, self.masks[n].bit_count() * busy) for n in group), 2)
            if measured is None:
                continue
            margin = study.noise.of(measured)
            if measured - margin <= busy and measured + margin < busy + 2 / size:
                for n, mask in enumerate(self.masks):
                    if not mask & ~union:
                        self.most[n] = 0
                self._imply()

    # --- explaining --------------------------------------------------------------------------------------------------

    def _time(self, usage: Usage, test: _Test) -> float:
        """Return the cycles that a test takes with these µops."""
        uops = [(self.masks[n], k) for n, k in test.blockers] + [(mask, n * test.copies) for mask, n in usage]
        slots = sum(k for _, k in test.blockers) + test.copies * self.slots[0]
        return max(cycles(uops, self.study.bits), slots / self.study.width, test.copies * self._own(usage))

    def _own(self, usage: Usage) -> float:
        """Return the cycles of the form alone."""
        return max(cycles(usage, self.study.bits), self.slots[0] / self.study.width)

    def _mixtures_agree(self, usage: Usage) -> bool:
        return all(
            self.study.noise.allows(max(self._time(usage, test), test.copies * self.alone), test.cycles, 2)
            for test in self.tests
            if len(test.blockers) > 1
        )

    def _agrees(self, usage: Usage, slower: bool) -> bool:
        """Return True if µops explain everything; with `slower`, another unit may limit the form alone."""
        if not all(
            least <= confined(usage, mask) <= most
            for mask, least, most in zip(self.masks, self.least, self.most, strict=True)
        ):
            return False
        own, noise = self._own(usage), self.study.noise
        if own > self.alone + 1.5 * noise.of(self.alone) or total(usage) > self.study.fused * self.slots[1]:
            return False
        return (slower or own >= self.alone - 1.5 * noise.of(self.alone)) and self._mixtures_agree(usage)

    def _fit(self) -> tuple[Usage | None, How, list[Usage]]:
        """Return the µops that explain the figures, the certainty, and alternatives with as few µops.

        These come from the first of `_ATTEMPTS` that has any. The relative's µops with another unit than the ports come
        first for a form that keeps a unit there.
        """
        attempts = list(_ATTEMPTS)
        if self.form in self.study.relative.slow:
            attempts.insert(0, attempts.pop(2))
        for source, slower in attempts:
            relatives = self._relatives(slower) if source == "relative" else []
            if source == "relative" and not relatives:
                continue
            most = min(8, max([self.study.fused * self.slots[1], *self.least]))
            smallest = self._search(total(relatives[0]) if relatives else most, slower)
            candidates = relatives or self._candidates(source, smallest, slower)
            if not candidates:
                continue
            chosen = min(candidates, key=lambda u: (self._splits(u), total(u), self._strange(u), self._distance(u), u))
            others = sorted((u for u in smallest if u != chosen), key=lambda u: (self._strange(u), u))
            alone = all(total(u) == total(chosen) and self._strange(u) > 0 for u in others)
            if alone and self._is_seen(chosen) and not slower:
                return chosen, "measured", others
            return chosen, "relative" if relatives else "smallest", others
        return None, "contradiction", []

    def _relatives(self, slower: bool) -> list[Usage]:
        """Return the relative's µops, on the ports that correspond or else as they are, if they explain the figures."""
        usages_there = [u for u in (self.expected, self.there) if u is not None]
        return [u for u in usages_there if self._agrees(u, slower)][:1]

    def _candidates(self, source: _Source, smallest: Sequence[Usage], slower: bool) -> list[Usage]:
        """Return usages that explain the figures: the smallest, and those that other forms of the relative have.

        "seen" are only those whose sets blockers measured, and the relative's only if there are no others;
        "other forms" the relative's with some set that blockers measured; "any" all.
        """
        if source == "seen" and (seen := [u for u in smallest if self._is_seen(u)]):
            return seen
        other_forms = [u for u in self.study.relative.vocabulary if self._agrees(u, slower)]
        if source == "seen":
            return [u for u in other_forms if self._is_seen(u)]
        if source == "other forms":
            return [u for u in other_forms if not self._splits(u) and self._unseen(u) < len(u)]
        return [*smallest, *other_forms]

    def _is_seen(self, usage: Usage) -> bool:
        return not self._splits(usage) and not self._unseen(usage)

    def _unseen(self, usage: Usage) -> int:
        """Count the sets that share no port with a blocker."""
        return sum(not any(mask & m for m in self.masks) for mask, _ in usage)

    def _strange(self, usage: Usage) -> int:
        """Count the sets that neither a blocker nor the relative has."""
        return sum(mask not in self.masks and mask not in self.study.known_sets for mask, _ in usage)

    def _splits(self, usage: Usage) -> int:
        """Count the sets that are a part of a blocker's and that no blocker has.

        Only this form tells ports apart there, and µops on sets of blockers may explain it as well.
        """
        return sum(mask not in self.masks and any(not mask & ~m for m in self.masks) for mask, _ in usage)

    def _distance(self, usage: Usage) -> tuple[int, int]:
        """Return how many of the sets no blocker has, and their distance from the relative's."""
        there = self.expected or ()
        near = sum(n * min(((m ^ mask).bit_count() for m, _ in there), default=0) for mask, n in usage)
        return sum(mask not in self.masks for mask, _ in usage), near

    def _search(self, most: int, slower: bool) -> list[Usage]:
        noise = self.study.noise
        limits = list(zip(self.masks, self.least, self.most, strict=True))
        longest = self.alone + 1.5 * noise.of(self.alone)

        def agrees(usage: Usage) -> bool:
            return self._agrees(usage, slower)

        def can_be_part(usage: Usage) -> bool:
            return cycles(usage, self.study.bits) <= longest

        try:
            return port_sets.usages(self._pool(), limits, most, agrees, can_be_part, 4000)
        except port_sets.TooMany:
            return []

    def _pool(self) -> list[int]:
        """Return the sets that µops may have.

        Blockers', unions of two, the relative's, and parts that nothing tells apart.
        """
        study = self.study
        masks = dict.fromkeys(self.masks)
        masks.update(dict.fromkeys(m for u in study.relative.vocabulary for m, _ in u))
        if study.bits <= 6:
            masks.update(dict.fromkeys(range(1, 1 << study.bits)))
        else:
            masks.update(dict.fromkeys(a | b for a, b in combinations(self.masks, 2)))
            for cell in cells(self.masks, study.bits):
                masks.update(dict.fromkeys(port_sets.lowest(cell, n + 1) for n in range(cell.bit_count())))
        # One of several equally large sets with the same counts is enough: the relative's if there is one.
        pool: dict[tuple[object, ...], int] = {}
        for mask in masks:
            within = tuple(n for n, m in enumerate(self.masks) if not mask & ~m)
            if any(self.most[n] <= 0 for n in within):
                continue
            key = (within, tuple((mask & m).bit_count() for m in self.masks), mask.bit_count())
            pool.setdefault(key, mask)
        return list(pool.values())

    def _tell(self, several: Sequence[Usage]) -> bool:
        """Measure with the blockers that distinguish the explanations; return False if there are none."""
        measured = {test.blockers for test in self.tests}
        for count in (1, 2, 3):
            levels = {
                # Two copies take not less than alone.
                blockers: self.study._levels(
                    max(self._time(usage, _Test(blockers, 2, 0.0)), 2 * self.alone) for usage in several
                )
                for blockers in self._mixtures(count)
                if blockers not in measured and all(copies >= 1 for _, copies in blockers)
            }
            chosen = _best(levels)
            if chosen is not None:
                return self._beside(chosen, 2) is not None
        return False

    def _mixtures(self, count: int) -> Iterator[_Copies]:
        """Yield copies of `count` different blockers that keep all their ports busy, for two copies of the form."""
        for group in combinations(range(len(self.masks)), count):
            union = reduce(or_, (self.masks[n] for n in group))
            contained = any(not self.masks[n] & ~self.masks[k] for n, k in permutations(group, 2))
            if union.bit_count() >= self.study.width or contained:
                continue
            plain = self._saturating(group, self._scale(union.bit_count(), 2))
            yield plain
            # With fewer copies where the form itself keeps ports busy, its other work shows.
            if any(self.least[n] for n in group):
                yield tuple((n, copies - 2 * self.least[n]) for n, copies in plain)

    def _saturating(self, group: Sequence[int], busy: int) -> _Copies:
        """Return copies of blockers that keep all ports of their union busy for some cycles.

        Each port's work is shared by the sets that it is in.
        """
        shares = dict.fromkeys(group, 0.0)
        for p in range(self.study.bits):
            having = [n for n in group if self.masks[n] >> p & 1]
            for n in having:
                shares[n] += busy / len(having)
        if len(group) == 2:
            # Whole copies, however the ports are shared.
            a, b = group
            shares[a] = self.masks[a].bit_count() * busy
            shares[b] = (self.masks[b] & ~self.masks[a]).bit_count() * busy
        return tuple((n, max(1, round(k))) for n, k in shares.items())

    def _what_would_tell(self, several: Sequence[Usage]) -> str:
        """Name the set whose blocker would distinguish the explanations."""
        study = self.study
        masks = {mask for u in several for mask, _ in u}
        for mask in sorted(masks, key=lambda m: (m.bit_count(), m)):
            if mask.bit_count() < study.width and len({confined(u, mask) for u in several}) > 1:
                ports = ",".join(study._names_of(mask))
                return f"a form with one µop that can use {ports} alone would tell"
        return f"no mixture tells: more ports than the {study.width} µops that are issued in a cycle"
