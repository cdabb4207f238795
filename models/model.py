"""A machine model in memory: pipeline parameters, ports, and figures for instruction forms looked up one by one.

Model files are TOML (docs/models.md). Reading TOML takes a hundred times longer than an analysis may, so the tables of
a model are kept in a cache; a form's figures stay packed until the form is looked up.
"""

from __future__ import annotations

import marshal
import zlib

from incc.frontends.records import NamedTuple
from incc.frontends.sealed import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import MappingProxyType
    from typing import Any, Final, Protocol

    from incc.models.llvm_names import Llvm

    class Parts(Protocol):
        """What parts of a file are read from; `get` raises Damaged."""

        def get(self, number: int) -> memoryview | bytes: ...
        def __len__(self) -> int: ...


if not TYPE_CHECKING:
    MappingProxyType = type(type.__dict__)  # without importing `types`


class ModelError(Exception):
    """A model cannot be found, read or understood; the message names the file, and the line or the form where known."""


class Form(NamedTuple):
    """The figures of one instruction form on one core, conditions (traits) resolved.

    `uops`: (port set, count) with the port set as a string of port names joined by "," ("0,1"), unfused domain; empty
    for what the renamer does alone. `retire_slots`: fused-domain µops at issue, un-lamination done. `latency`: (to,
    from, cycles) between operands: "0", "1" … explicit operands in Intel order; a register's root name for implicit
    ones ("rax"); "C" and "SPAZO" flags; "k" the mask; "m" loaded data (figures from "m" exclude the load itself), "M"
    stored data, "a" the address registers (for lea; and "m<a" where a load's latency is not the core's usual one).
    `divider`: cycles that the divider is occupied; `throughput`: measured reciprocal throughput in cycles where ports
    do not explain it, else None. `breaks_dependency`: the result does not depend on the inputs (idiom).
    `fusion`: name of the macro-fusion class of a flag-writing instruction, else "".
    `source`: where the figures come from; `derived`: "" or the rule by which they were derived from another form.
    `attributes`: what else the data say (complex_decoder, simple_decoders, uops_ms, …; docs/models.md).
    """

    key: str
    uops: tuple[tuple[str, int], ...]
    retire_slots: int
    latency: tuple[tuple[str, str, int], ...]
    divider: int
    throughput: float | None
    breaks_dependency: bool
    fusion: str
    source: str
    derived: str
    attributes: dict[str, Any]


class ModelName(NamedTuple):
    """What a model file says about itself, without its figures."""

    name: str
    aliases: tuple[str, ...]
    title: str
    isa: str
    inherits: str
    path: str


class MachineModel:
    """One microarchitecture; it does not change, so that what was made from it stays good, in any thread.

    `name` (LLVM's -mcpu name), `aliases`, `title`, `isa`; `ports`: port names in order; `resources`: exclusive units
    beside the ports ("0DV"); `functions`: port set by function, as strings like Form.uops' ("load", "store_address",
    "store_data", "branch_taken"); `parameters`: all pipeline parameters by name (docs/models.md), with their defaults
    where the files do not say them; lists are tuples, tables cannot be written to: `with_parameters` makes another
    model. `sources`: what the short names of sources stand for. `files`: the files that it was read from, the model's
    own first; `version` changes with their content, and with parameters. `pieces`: what binding keeps
    (models/binding/pieces.py).
    """

    __slots__ = (
        "_cache",
        "_forms",
        "_fusion",
        "_llvm",
        "_source",
        "_stated",
        "aliases",
        "files",
        "functions",
        "isa",
        "name",
        "parameters",
        "pieces",
        "ports",
        "resources",
        "sources",
        "title",
        "version",
    )

    name: str
    aliases: tuple[str, ...]
    title: str
    isa: str
    ports: tuple[str, ...]
    resources: tuple[str, ...]
    functions: Final[Mapping[str, str]]
    parameters: Final[Mapping[str, Any]]
    pieces: dict[Any, Any]
    sources: dict[str, str]
    files: tuple[str, ...]
    version: str

    def __init__(self, header: dict[str, Any], forms: PackedForms, files: tuple[str, ...], version: str) -> None:
        self.name = header["name"]
        self.aliases = header["aliases"]
        self.title = header["title"]
        self.isa = header["isa"]
        self.ports = header["ports"]
        self.resources = header["resources"]
        self.functions = _frozen(header["functions"])
        self.parameters = _frozen(header["parameters"])
        self._stated: tuple[str, ...] = header.get("stated", tuple(header["parameters"]))
        self.sources = header["sources"]
        self.files = files
        self.version = version
        self._source: str = header["source"]
        self._fusion: dict[str, tuple[str, ...]] = header["macro_fusion"]
        self._llvm: tuple[Any, ...] | None = header.get("llvm")
        self._forms = forms
        self.pieces = {}
        self._cache: dict[tuple[str, frozenset[str]], Form | None] = {}

    def lookup(self, form: str, traits: frozenset[str]) -> Form | None:
        """The most specific entry for a form whose conditions all hold, or None.

        An entry with conditions holds what differs from the entries with fewer of them, so all that apply are laid over
        each other, the one with the most conditions last.
        """
        try:
            return self._cache[form, traits]
        except KeyError:
            pass
        packed = self._forms.get(form)
        found = None
        if packed is not None:
            key, fields = form, {}
            for conditions, values in marshal.loads(packed):
                if traits.issuperset(conditions):
                    fields.update(values)
                    key = form_key(form, conditions)
            try:
                found = self._form(key, fields)
            except ValueError as e:
                raise ModelError(f"{self.files[0]}: {key}: {e}") from None
        if len(self._cache) >= _MOST_LOOKED_UP:
            self._cache = {}
        self._cache[form, traits] = found
        return found

    def fuses(self, first: Form, branch: str) -> bool:
        """Whether the flag-writing instruction macro-fuses with the conditional jump of that mnemonic ("jne")."""
        return branch in self._fusion.get(first.fusion, ())

    def entry_keys(self) -> list[str]:
        """The keys of all entries, with their conditions, in the order of the model files."""
        return [form_key(form, c) for form in self._forms.names() for c, _ in self.entries(form)]

    def entries(self, form: str) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        """The entries of a form as they are written: (conditions, fields) with the fewest conditions first."""
        packed = self._forms.get(form)
        return [] if packed is None else marshal.loads(packed)

    def forms(self) -> Iterable[str]:
        """The names of all forms (`ADD_RM64_R64/m`), without conditions."""
        return self._forms.names()

    @property
    def stated_parameters(self) -> dict[str, Any]:
        """The parameters that the model's files say, as they are written."""
        return {name: _thawed(self.parameters[name]) for name in self._stated}

    @property
    def why_not_simulated(self) -> str:
        """Why kernels on this core cannot be simulated, a clause about "its model"; "" if they can."""
        return "" if self.parameters.get("port_binding") else "its model does not say how µops get their ports"

    def with_parameters(self, changes: Mapping[str, Any]) -> MachineModel:
        """The same core with other values of some parameters, as a model file would give them.

        A table takes the whole place of the one before. Raises ModelError for a parameter that does not exist and for a
        value that it cannot have.
        """
        from incc.models.schema import parameters

        wrong = [message for _, message in parameters.problems_of(changes)]
        stated = {**self.stated_parameters, **changes}
        wrong += () if wrong else [message for _, message in parameters.problems_together(stated, self.ports)]
        if wrong:
            raise ModelError(f"{self.name}: {wrong[0]}")
        header = {**self.header(), "stated": tuple(stated), "parameters": {**self.parameters, **changes}}
        mark = zlib.crc32(repr(sorted(stated.items())).encode())
        return MachineModel(header, self._forms, self.files, f"{self.version.partition('+')[0]}+{mark:08x}")

    def with_forms_of(self, other: MachineModel, names: Iterable[str]) -> MachineModel:
        """The same core with the entries that another model, of the same ports, has of some forms."""
        own = {name: other._forms.get(name) for name in names}
        mark = zlib.crc32(repr((other.version, sorted(own))).encode())
        return MachineModel(self.header(), _SomeForms(self._forms, own), self.files, f"{self.version}+{mark:08x}")

    def with_entries(self, packed: Mapping[str, bytes]) -> MachineModel:
        """The same core with other entries of some forms, packed as in `models.compile.pack`."""
        mark = zlib.crc32(repr(sorted(packed.items())).encode())
        own: dict[str, bytes | None] = dict(packed)
        return MachineModel(self.header(), _SomeForms(self._forms, own), self.files, f"{self.version}+{mark:08x}")

    def header(self) -> dict[str, Any]:
        """What the model is but for its forms, as compiled tables have it."""
        header = {name: getattr(self, name) for name in (*ModelName._fields[:4], "ports", "resources", "sources")}
        header.update(source=self._source, macro_fusion=self._fusion, functions=self.functions, stated=self._stated)
        header["llvm"] = self._llvm
        header["parameters"] = self.parameters
        return header

    @property
    def llvm(self) -> Llvm | None:
        """How LLVM's scheduling model of this core names its resources, schedulers and register files; None where its
        resources are not this model's (docs/llvm-mca.md)."""
        if "llvm" not in self.pieces:
            from incc.models.llvm_names import from_header

            self.pieces["llvm"] = from_header(self._llvm)
        found: Llvm | None = self.pieces["llvm"]
        return found

    @property
    def macro_fusion(self) -> dict[str, tuple[str, ...]]:
        """The jumps with which the instructions of each class fuse."""
        return self._fusion

    def _form(self, key: str, fields: dict[str, Any]) -> Form:
        uops = parse_ports(fields.pop("ports", ""), self.ports)
        slots = fields.pop("retire", None)
        throughput = fields.pop("tp", 0)
        return Form(
            key=key,
            uops=uops,
            retire_slots=sum(n for _, n in uops) or 1 if slots is None else slots,
            latency=parse_latency(fields.pop("latency", "")),
            divider=fields.pop("divider", 0),
            throughput=float(throughput) if throughput else None,
            breaks_dependency=fields.pop("breaks", False),
            fusion=fields.pop("fusion", ""),
            source=fields.pop("source", self._source),
            derived=fields.pop("derived", ""),
            attributes=fields,
        )


class PackedForms:
    """The entries of forms by name, in parts (frontends/sealed.py) of which a run reads few; the last has the names.

    Where a part is damaged, `again` gives all anew.
    """

    __slots__ = ("_again", "_known", "_parts")

    def __init__(self, parts: Parts, again: Callable[[], Parts]) -> None:
        self._parts = parts
        self._again = again
        self._known: dict[int, dict[str, bytes]] = {}

    def get(self, form: str) -> bytes | None:
        """The marshalled entries of a form, None without any."""
        number = zlib.crc32(form.encode()) % (len(self._parts) - 1)
        part = self._known.get(number)
        if part is None:
            part = self._known[number] = self._read(number)
        return part.get(form)

    def names(self) -> list[str]:
        """All forms, in the order of the model files."""
        found: list[str] = self._read(len(self._parts) - 1)
        return found

    def _read(self, number: int) -> Any:
        try:
            return marshal.loads(self._parts.get(number))
        except Damaged:
            self._parts = self._again()
            return marshal.loads(self._parts.get(number))


class _SomeForms(PackedForms):
    """The entries of forms, some of which are others' or none."""

    __slots__ = ("_others", "_own")

    def __init__(self, others: PackedForms, own: dict[str, bytes | None]) -> None:
        self._others = others
        self._own = own

    def get(self, form: str) -> bytes | None:
        return self._own[form] if form in self._own else self._others.get(form)

    def names(self) -> list[str]:
        names = [name for name in self._others.names() if self._own.get(name, b"") is not None]
        return names + [name for name, entries in self._own.items() if entries is not None and name not in names]


_PARTS = 512
"""Parts of a model's forms, of which each is read when one of its forms is looked up: some 12 forms."""


def pack_forms(forms: dict[str, bytes]) -> list[bytes]:
    """The parts that `PackedForms` reads: of the forms, and last their names, each marshalled."""
    parts: list[dict[str, bytes]] = [{} for _ in range(_PARTS)]
    for form, entries in forms.items():
        parts[zlib.crc32(form.encode()) % _PARTS][form] = entries
    return [*map(marshal.dumps, parts), marshal.dumps(list(forms))]


_MOST_LOOKED_UP = 32768
"""Forms with traits that are kept unpacked; some 10,000 exist."""


def _frozen(value: Any) -> Any:
    if isinstance(value, dict | MappingProxyType):
        return MappingProxyType({k: _frozen(v) for k, v in value.items()})
    return tuple(value) if isinstance(value, list) else value


def _thawed(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return {k: _thawed(v) for k, v in value.items()}
    return list(value) if isinstance(value, tuple) else value


# --- notation --------------------------------------------------------------------------------------------------------


def form_key(form: str, conditions: Sequence[str]) -> str:
    """`ADD_RM64_R64/m [indexed]` from the form and its conditions."""
    return f"{form} [{', '.join(conditions)}]" if conditions else form


def split_key(key: str) -> tuple[str, tuple[str, ...]]:
    """The form and the sorted conditions of a key. Raises ValueError if it is malformed."""
    form, bracket, rest = key.partition(" [")
    if not bracket:
        conditions: tuple[str, ...] = ()
    elif rest.endswith("]") and all(rest[:-1].split(", ")):
        conditions = tuple(sorted(rest[:-1].split(", ")))
    else:
        raise ValueError(f"malformed key {key!r}: conditions are written FORM [ONE, OTHER]")
    if not form.partition("/")[0] or "/" not in form or " " in form:
        raise ValueError(f"malformed key {key!r}: a form is written NAME/OPERANDS, without blanks")
    return form, conditions


def parse_port_set(text: str, ports: Sequence[str]) -> str:
    """The ports named by a set, joined by ",": "p23" is "2,3", "FP01" is "FP0,FP1", "p(V0|V1)" is "V0,V1".

    A set is a prefix of letters and one character for each port; the prefix `p` alone is left out of the ports' names.
    Raises ValueError for a port that the model does not have.
    """
    if text in ports:
        return text
    if text.startswith("p(") and text.endswith(")"):
        names = text[2:-1].split("|")
    else:
        prefix = text.rstrip("0123456789ABCDEF")
        if not prefix:
            raise ValueError(f"malformed port set {text!r}")
        names = [("" if prefix == "p" else prefix) + c for c in text[len(prefix) :]]
    for name in names or [text]:
        if name not in ports:
            raise ValueError(f"unknown port {name!r} in {text!r} (ports: {', '.join(ports)})")
    return ",".join(sorted(set(names), key=list(ports).index))


def parse_ports(text: str, ports: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """(port set, µops) from port usage in uops.info's notation: "1*p01+2*p23". Raises ValueError if malformed."""
    if not text:
        return ()
    usage = []
    for term in text.split("+"):
        count, star, names = term.partition("*")
        if not star or not count.isdigit() or count == "0":
            raise ValueError(f"malformed port usage {term!r} in {text!r}: it is written 1*p01+2*p23")
        usage.append((parse_port_set(names, ports), int(count)))
    return tuple(usage)


def parse_latency(text: str) -> tuple[tuple[str, str, int], ...]:
    """(to, from, cycles) from "0,C<0,1:2 0<m:1": every operand before "<" from every one after it.

    Raises ValueError if malformed.
    """
    pairs = []
    for term in text.split():
        operands, colon, cycles = term.rpartition(":")
        targets, less, sources = operands.partition("<")
        if not colon or not less or not cycles.isdigit() or not all(targets.split(",") + sources.split(",")):
            raise ValueError(f"malformed latency {term!r}: it is written TO<FROM:CYCLES")
        pairs += [(to, source, int(cycles)) for to in targets.split(",") for source in sources.split(",")]
    return tuple(pairs)


def checksum(data: bytes) -> tuple[int, int, int]:
    """Tells the contents of two model files apart."""
    return len(data), zlib.crc32(data), zlib.adler32(data)
