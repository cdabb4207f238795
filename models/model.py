"""A machine model in memory: pipeline parameters, ports, and the figures of instruction forms.

Model files are TOML (docs/models.md). Reading TOML takes a hundred times longer than an analysis may, so the tables of
a model are cached (models.loading); a form's figures stay packed until the form is looked up.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypedDict

import msgspec

from incc.models.notation import form_key, parse_latency, parse_ports

if TYPE_CHECKING:
    from incc.models.llvm_names import Llvm
    from incc.models.memory import MemoryHierarchy


class ModelError(Exception):
    """A model cannot be found or read; the message names the file, and the line or the form where known."""


class UnknownModelError(ModelError):
    """There is no model of this name."""

    status = 2
    """The exit status of commands."""


MOST_SLOTS = 1 << 16
"""The most issue slots of an instruction that is analysed.

Instructions with more slots when they were measured (wbinvd: millions) did work that depends on the state of the
machine, so the figure says nothing about other runs.
"""


LACKING = "the core has no such instruction"
"""The end of `Form.derived` where the figures are another core's, because this one does not have the instruction."""


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one instruction form on one core, conditions (traits) resolved."""

    key: str
    """The form with the conditions that apply ("ADD_RM64_R64/m [indexed]")."""
    uops: tuple[tuple[str, int], ...]
    """(port set, count) of unfused µops, with the port set as names joined by "," ("0,1"); empty if the renamer does
    all."""
    retire_slots: int
    """Fused-domain µops at issue, un-lamination done."""
    latency: tuple[tuple[str, str, int], ...]
    """(to, from, cycles) between operands.

    Explicit operands are "0", "1" … in Intel's order; implicit ones go by their root name ("rax"); "C" and "SPAZO" are
    flags, "k" is the mask, "m" loaded data (figures from "m" exclude the load itself), "M" stored data, "a" the address
    registers (of lea; and "m<a" if a load's latency is not the core's usual one).
    """
    divider: int
    """Cycles for which the divider is busy."""
    throughput: float | None
    """Measured reciprocal throughput in cycles if ports do not explain it, else None."""
    breaks_dependency: bool
    """True if the result does not depend on the inputs (idiom)."""
    fusion: str
    """The macro-fusion class of an instruction that writes flags, else ""."""
    source: str
    """The source of the figures."""
    derived: str
    """The rule by which the figures were derived from another form, else ""."""
    attributes: dict[str, Any]
    """All other fields of the entry (complex_decoder, simple_decoders, uops_ms, …; docs/models.md)."""

    @property
    def lacking(self) -> bool:
        """True if the core does not have the instruction, and the figures are those of another core."""
        return self.derived.endswith(LACKING)


class ModelName(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a model file, without its figures."""

    name: str
    aliases: tuple[str, ...]
    title: str
    isa: str
    inherits: str
    path: str


class Header(TypedDict):
    """Everything that a model says except its forms; the fields are those of `MachineModel`."""

    name: str
    aliases: tuple[str, ...]
    title: str
    isa: str
    source: str
    """The source of figures that do not name one."""
    sources: dict[str, str]
    parameters: dict[str, Any]
    stated: tuple[str, ...]
    """The names of the parameters that the model's files state."""
    macro_fusion: dict[str, tuple[str, ...]]
    functions: dict[str, str]
    ports: tuple[str, ...]
    resources: tuple[str, ...]
    llvm: bytes
    """LLVM's names (models.llvm_names), packed; empty if there are none."""
    memory: bytes
    """The memory hierarchy (models.memory), packed; empty if there is none."""


class Tables(msgspec.Struct, frozen=True):
    """The compiled tables of a model, as they are kept in a file."""

    places: tuple[str, ...]
    """The folders and files where models were looked for; empty for a model that comes with incc."""
    files: tuple[tuple[str, str], ...]
    """The files that the model was read from, with digests; those in the model's own folder are named without it."""
    header: Header
    forms: dict[str, bytes]
    """Each form's entries, packed."""
    version: str


Entries = list[tuple[tuple[str, ...], dict[str, Any]]]
"""The entries of a form: (conditions, fields), the fewest conditions first."""

_ENTRIES = msgspec.msgpack.Decoder(Entries)


class MachineModel:
    """One microarchitecture. It does not change, so everything derived from it stays valid, in any thread."""

    __slots__ = (
        "_cache",
        "_forms",
        "_fusion",
        "_llvm",
        "_memory",
        "_source",
        "_stated",
        "aliases",
        "caches",
        "files",
        "functions",
        "isa",
        "name",
        "parameters",
        "ports",
        "resources",
        "sources",
        "title",
        "version",
    )

    name: str
    """LLVM's -mcpu name."""
    aliases: tuple[str, ...]
    title: str
    isa: str
    ports: tuple[str, ...]
    """Port names in order."""
    resources: tuple[str, ...]
    """Exclusive units besides the ports ("0DV")."""
    functions: Final[Mapping[str, str]]
    """Port sets by function, written like those of Form.uops ("load", "store_address", "branch_taken")."""
    parameters: Final[Mapping[str, Any]]
    """All pipeline parameters by name (docs/models.md), with defaults for those that the files do not state.

    Lists are tuples, and tables are read-only: `with_parameters` makes another model.
    """
    caches: dict[Any, Any]
    """Results that modules keep for this model, each by a key of its own; dropped with the model."""
    sources: dict[str, str]
    """The long names of sources by their short ones."""
    files: tuple[str, ...]
    """The files that the model was read from, its own first."""
    version: str
    """A version that changes with the content of the files, and with parameters."""

    def __init__(self, header: Header, forms: Mapping[str, bytes], files: tuple[str, ...], version: str) -> None:
        self.name = header["name"]
        self.aliases = header["aliases"]
        self.title = header["title"]
        self.isa = header["isa"]
        self.ports = header["ports"]
        self.resources = header["resources"]
        self.functions = _frozen(header["functions"])
        self.parameters = _frozen(header["parameters"])
        self._stated = header["stated"]
        self.sources = header["sources"]
        self.files = files
        self.version = version
        self._source = header["source"]
        self._fusion = header["macro_fusion"]
        self._llvm = header["llvm"]
        self._memory = header["memory"]
        self._forms = forms
        self.caches = {}
        self._cache: dict[tuple[str, frozenset[str]], Form | None] = {}

    def lookup(self, form: str, traits: frozenset[str]) -> Form | None:
        """Return the most specific entry of a form whose conditions all hold, None without one.

        An entry with conditions holds what differs from the entries with fewer of them, so all that apply are overlaid,
        the one with the most conditions last.
        """
        try:
            return self._cache[form, traits]
        except KeyError:
            pass
        packed = self._forms.get(form)
        form_entry = None
        if packed is not None:
            key: str = form
            fields: dict[str, Any] = {}
            for conditions, values in _ENTRIES.decode(packed):
                if traits.issuperset(conditions):
                    fields.update(values)
                    key = form_key(form, conditions)
            try:
                form_entry = self._form(key, fields)
            except ValueError as e:
                raise ModelError(f"{self.files[0]}: {key}: {e}") from None
        if len(self._cache) >= _MOST_LOOKED_UP:
            self._cache = {}
        self._cache[form, traits] = form_entry
        return form_entry

    def fuses(self, first: Form, branch: str) -> bool:
        """Return True if the flag-writing instruction macro-fuses with the jump of that mnemonic ("jne")."""
        return branch in self._fusion.get(first.fusion, ())

    def entries(self, form: str) -> Entries:
        """Return the entries of a form as written."""
        packed = self._forms.get(form)
        return [] if packed is None else _ENTRIES.decode(packed)

    def forms(self) -> Iterable[str]:
        """Return the names of all forms (`ADD_RM64_R64/m`), without conditions."""
        return self._forms.keys()

    @property
    def stated_parameters(self) -> dict[str, Any]:
        """The parameters that the model's files state, as written."""
        return {name: _thawed(self.parameters[name]) for name in self._stated}

    @property
    def why_not_simulated(self) -> str:
        """The reason why kernels on this core cannot be simulated, a clause about "its model"; "" if they can."""
        return "" if self.parameters.get("port_binding") else "its model does not say how µops get their ports"

    def with_parameters(self, changes: Mapping[str, Any]) -> MachineModel:
        """Return the same core with other values of some parameters, written as in a model file.

        A table replaces the previous one as a whole. Raises ModelError for an unknown parameter and for an invalid
        value.
        """
        from incc.models.schema import parameters

        wrong = [message for _, message in parameters.problems_of(changes)]
        stated = {**self.stated_parameters, **changes}
        wrong += () if wrong else [message for _, message in parameters.problems_together(stated, self.ports)]
        if wrong:
            raise ModelError(f"{self.name}: {wrong[0]}")
        header = self.header()
        header["stated"] = tuple(stated)
        header["parameters"] = {**self.parameters, **changes}
        mark = zlib.crc32(repr(sorted(stated.items())).encode())
        return MachineModel(header, self._forms, self.files, f"{self.version.partition('+')[0]}+{mark:08x}")

    def with_forms_of(self, other: MachineModel, names: Iterable[str]) -> MachineModel:
        """Return the same core with the entries that another model, of the same ports, has of some forms."""
        own = {name: other._forms.get(name) for name in names}
        mark = zlib.crc32(repr((other.version, sorted(own))).encode())
        forms = {name: packed for name, packed in {**self._forms, **own}.items() if packed is not None}
        return MachineModel(self.header(), forms, self.files, f"{self.version}+{mark:08x}")

    def with_entries(self, packed: Mapping[str, bytes]) -> MachineModel:
        """Return the same core with entries of forms that it lacks, packed by `models.files.compile.pack`."""
        mark = zlib.crc32(repr(sorted(packed.items())).encode())
        return MachineModel(self.header(), {**self._forms, **packed}, self.files, f"{self.version}~{mark:08x}")

    def header(self) -> Header:
        """Return everything of the model except its forms, as compiled tables store it."""
        return {
            "name": self.name,
            "aliases": self.aliases,
            "title": self.title,
            "isa": self.isa,
            "source": self._source,
            "sources": self.sources,
            "parameters": dict(self.parameters),
            "stated": self._stated,
            "macro_fusion": self._fusion,
            "functions": dict(self.functions),
            "ports": self.ports,
            "resources": self.resources,
            "llvm": self._llvm,
            "memory": self._memory,
        }

    @property
    def llvm(self) -> Llvm | None:
        """LLVM's names of this core's resources, schedulers and register files, None if LLVM has other resources."""
        if "llvm" not in self.caches:
            from incc.models.llvm_names import unpacked

            self.caches["llvm"] = unpacked(self._llvm)
        names: Llvm | None = self.caches["llvm"]
        return names

    @property
    def memory(self) -> MemoryHierarchy | None:
        """The levels that data come from, None if the model does not describe them."""
        if "memory" not in self.caches:
            from incc.models.memory import unpacked

            self.caches["memory"] = unpacked(self._memory)
        hierarchy: MemoryHierarchy | None = self.caches["memory"]
        return hierarchy

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


_MOST_LOOKED_UP = 32768
"""The most forms with traits that are kept unpacked; some 10,000 exist."""


def _frozen(value: Any) -> Any:
    if isinstance(value, dict | MappingProxyType):
        return MappingProxyType({k: _frozen(v) for k, v in value.items()})
    return tuple(value) if isinstance(value, list) else value


def _thawed(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return {k: _thawed(v) for k, v in value.items()}
    return list(value) if isinstance(value, tuple) else value


def digest(data: bytes) -> str:
    """Return a digest that distinguishes the contents of model files."""
    return blake2b(data, digest_size=16).hexdigest()
