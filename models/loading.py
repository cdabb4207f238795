"""Models by their names: finding their files, and loading them through a cache of compiled tables.

Reading TOML takes a hundred times longer than an analysis may, so the compiled tables of a model are cached.
"""

from __future__ import annotations

import importlib.util
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from incc.models import cache
from incc.models.model import MachineModel, ModelName, Tables, UnknownModelError, digest

CACHE_VERSION = 12
"""Raised with every change to the content of compiled tables (models/files/compile.py)."""

TABLE_CHECKSUM = 0xAAF8A464
"""The checksum of models/schema, whose defaults are in the compiled tables; `make describe` writes it."""

COMPILED_VERSION = CACHE_VERSION << 32 | TABLE_CHECKSUM
"""The version of compiled tables."""


def load(name: str, search_path: Iterable[str] = ()) -> MachineModel:
    """Return the model of that name or alias (in any case), or of that .toml file.

    The name is looked up in `search_path` (folders of models, or single files), then in the folders and files of
    INCC_MODEL_PATH, then among the models that come with incc. The same object is returned again while its files are
    unchanged. Raises ModelError.
    """
    places = search_places(search_path)
    path = find_model(name, places)
    # The parent of a model may be found elsewhere with another search path, except for models that come with incc.
    depends_on = () if os.path.dirname(path) == data_folder() else tuple(places)
    loaded = _LOADED.get((path, depends_on))
    if loaded is not None and (loaded.stamp.holds() or _unchanged(loaded.contents)):
        return loaded.model
    stamp_before = time.time_ns()
    tables = next(
        (t for t in _cached(path, Tables) if t.places == depends_on and _unchanged(_contents(path, t))), None
    ) or _compiled(path, places, depends_on)
    contents = _contents(path, tables)
    model = MachineModel(tables.header, tables.forms, tuple([file for file, _ in contents]), tables.version)
    if len(_LOADED) >= _MOST_LOADED:
        _LOADED.clear()
    _LOADED[path, depends_on] = _Loaded(model, contents, _Stamp(model.files, stamp_before))
    return model


def _compiled(path: str, places: Sequence[str], depends_on: Sequence[str]) -> Tables:
    """Compile the tables of a model from its files, and keep them. Raises ModelError."""
    from incc.models.files import compile as compiler

    tables = compiler.compile_model(path, places, find_model, depends_on)
    cache.keep(path, COMPILED_VERSION, tables)
    return tables


class _Stamp:
    """The stat results of files before they were read, which tell whether the files are surely unchanged.

    A file that was changed within the resolution of a file system's clock (2 s on some) may look the same: only files
    that were left alone for that long before they were read count as unchanged.
    """

    __slots__ = ("files", "good", "seen")

    def __init__(self, files: Sequence[str], before: int) -> None:
        self.files = files
        self.seen = self._look()
        newest = max([s[3] for s in self.seen if s], default=0)
        self.good = newest + 2_000_000_000 < before

    def holds(self) -> bool:
        """Return True if the files are surely unchanged."""
        return self.good and self._look() == self.seen

    def _look(self) -> list[tuple[int, ...]]:
        stats: list[tuple[int, ...]] = []
        for file in self.files:
            try:
                s = os.stat(file)
                stats.append((s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns))
            except OSError:
                stats.append(())
        return stats


class _Loaded(msgspec.Struct, frozen=True):
    model: MachineModel
    contents: tuple[tuple[str, str], ...]
    stamp: _Stamp


_LOADED: dict[tuple[str, tuple[str, ...]], _Loaded] = {}
_MOST_LOADED = 64
"""The most models kept in memory, a few MB each; all are dropped when there are more."""


def purge() -> None:
    """Drop the models, and the lists of them, that are kept in memory; those in use stay valid."""
    _LOADED.clear()
    _INDEXES.clear()


def list_models(search_path: Iterable[str] = ()) -> list[ModelName]:
    """Return all models that can be loaded, by name; of several with the same name only the first one found."""
    models: dict[str, ModelName] = {}
    for place in search_places(search_path):
        for entry in _index(place):
            models.setdefault(entry.name.lower(), entry)
    return sorted(models.values(), key=lambda entry: entry.name)


class Cpu(msgspec.Struct, frozen=True):
    """The core that a processor's name stands for."""

    model: str
    """The name of its model, "" without one."""
    nearest: bool
    """True if it is the model of another core, the nearest one."""
    why: str
    """A clause about the named core that explains the choice; "" for a model of its own, and for an unknown name."""


def find_cpu(value: str, search_path: Iterable[str] = (), levels: bool = False, isa: str = "") -> Cpu:
    """Return the model for an argument of a compiler's -march=, -mtune= or -mcpu=, ignoring features ("+sve").

    Args:
        value: The name; "native" is the host (`host_cpu`).
        search_path: As in `load`.
        levels: Accept names of many cores ("x86-64-v3"), which get the model that LLVM's scheduler uses for them.
        isa: The instruction set that such a name is for, by default x86.

    Raises:
        ModelError: As `load` does for its places.
    """
    core_name = value.strip().lower()
    if core_name == "native":
        core_name = host_cpu_name().lower()
    places = search_places(search_path)
    # The models that come with incc are in files of their names: no need to read them all.
    if places == [data_folder()] and _file_of(core_name, places):
        return Cpu(core_name, False, "")
    core = core_name.partition("+")[0]
    spellings = list(dict.fromkeys([core_name, core, core.replace("_", "-")]))
    for name in spellings:
        entry = _by_name(name, places) if name else None
        if entry is not None:
            return Cpu(entry.name, False, "")
    from incc.models.processors import names as cpu_names

    model, why = cpu_names.nearest(spellings[-1])
    if not model and levels:
        model, why = cpu_names.level(spellings[-1], isa)
    return Cpu(model, bool(model), why or cpu_names.without(spellings[-1]))


def host_cpu() -> tuple[str, str]:
    """Return LLVM's -mcpu name of the host's core, "" if unknown; and a clause that names the features that tell it.

    The clause is "" if the processor's own number tells it.
    """
    from incc.models.processors import host

    cpuinfo = host.cpuinfo()
    depends_on = _host_depends_on(cpuinfo)
    cached = cache.kept(_HOST, COMPILED_VERSION, _Host) if depends_on else None
    if cached is not None and cached.depends_on == depends_on:
        return cached.name, cached.why
    name, why = host.recognise(host.read(cpuinfo))
    if depends_on:
        cache.keep(_HOST, COMPILED_VERSION, _Host(depends_on, name, why))
    return name, why


class _Host(msgspec.Struct, frozen=True):
    """The result of `host_cpu`, which is kept because asking LLVM takes longer than the analysis of a loop."""

    depends_on: str
    name: str
    why: str


_HOST = "host"


def _host_depends_on(cpuinfo: str) -> str:
    """Return what `host_cpu` depends on, "" if that is unknown."""
    from incc.models.processors import host

    if not cpuinfo:
        return ""
    stamps: list[object] = []
    for module in ("llvmlite", "incc.models.processors.host"):
        spec = importlib.util.find_spec(module)
        place = spec and spec.origin
        try:
            status = os.stat(place) if place else None
        except OSError:
            return ""
        stamps.append(status and (place, status.st_size, status.st_mtime_ns))
    return repr((host.lasting(cpuinfo), *stamps))


def host_cpu_name() -> str:
    """Return LLVM's -mcpu name of the host's core, "" if unknown."""
    return host_cpu()[0]


def data_folder() -> str:
    """Return the folder of the models that come with incc."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def search_places(search_path: Iterable[str]) -> list[str]:
    """Return the folders and files to search, in order. Raises ModelError if one of `search_path` does not exist.

    A folder of the environment may be missing: the variable is set once, for many commands.
    """
    search_path = [p for p in search_path if p]
    for place in search_path:
        if not os.path.exists(place):
            raise UnknownModelError(f"no such folder or file of models: {place}")
        if not os.path.isdir(place) and not (place.endswith(".toml") and os.path.isfile(place)):
            raise UnknownModelError(f"{place}: neither a folder nor a model file (.toml)")
    from_environment = os.environ.get("INCC_MODEL_PATH", "").split(os.pathsep)
    return [p for p in (*search_path, *from_environment) if p] + [data_folder()]


def find_model(name: str, places: Sequence[str]) -> str:
    """Return the file of the model `name`. Raises ModelError with the closest names."""
    if name.endswith(".toml"):
        if not os.path.isfile(name):
            raise UnknownModelError(f"no such model file: {name}")
        return os.path.abspath(name)
    wanted = name.lower()
    if path := _file_of(wanted, places):
        return path
    entry = _by_name(wanted, places)
    if entry is not None:
        return entry.path
    import difflib

    from incc.models.processors import names as cpu_names

    close, why = cpu_names.nearest(wanted.replace("_", "-"))
    if close:
        raise UnknownModelError(f"no machine model of its own for {name!r} ({why}); the nearest is {close!r}")
    if why := cpu_names.without(wanted.replace("_", "-")):
        raise UnknownModelError(f"no machine model for {name!r}: it is {why}")
    names = {n for p in places for e in _index(p) for n in (e.name, *e.aliases)}
    near = difflib.get_close_matches(name, sorted(names), 5, 0.5) or difflib.get_close_matches(
        wanted, sorted(n.lower() for n in names), 5, 0.5
    )
    hint = f"did you mean {', '.join(near)}?" if near else "`incc-model list` shows the models"
    raise UnknownModelError(f"no machine model named {name!r}; {hint}")


def _file_of(wanted: str, places: Sequence[str]) -> str:
    """Return the file that is named for a model; "" if only the files' content can tell."""
    # Aliases, and files given one by one, need a look into the files.
    for place in places:
        if place.endswith(".toml"):
            break
        path = os.path.join(place, wanted + ".toml")
        if os.sep not in wanted and os.path.isfile(path):
            return os.path.abspath(path)
    return ""


def _by_name(wanted: str, places: Sequence[str]) -> ModelName | None:
    entries = [entry for place in places for entry in _index(place)]
    for entry in entries:
        if entry.name.lower() == wanted:
            return entry
    for entry in entries:
        if wanted in [a.lower() for a in entry.aliases]:
            return entry
    return None


def _is_pipe(path: str) -> bool:
    """Return True if opening the file would wait for a writer. Raises OSError."""
    return stat.S_ISFIFO(os.stat(path).st_mode)


def _index(place: str) -> list[ModelName]:
    """Return the heads of the model files in a folder (or of the one file). A missing folder has none."""
    names = model_files(place)
    indexed = _INDEXES.get(place)
    if indexed is not None and indexed[0].files == names and indexed[0].holds():
        return indexed[1]
    stamp = _Stamp(names, time.time_ns())
    heads = read_heads(names)
    expected = _digest_of_heads(heads)
    folder = os.path.dirname(names[0]) if names else ""
    file = os.path.join(folder, (os.path.basename(place) if place.endswith(".toml") else "models") + ".index")
    index = next((index for index in _cached(file, Index) if index.heads == expected), None)
    if index is None:
        index = make_index(folder, heads)
        cache.keep(file, COMPILED_VERSION, index)
    entries = [replace(entry, path=os.path.join(folder, entry.path)) for entry in index.entries]
    if len(_INDEXES) >= _MOST_LOADED:
        _INDEXES.clear()
    _INDEXES[place] = stamp, entries
    return entries


_INDEXES: dict[str, tuple[_Stamp, list[ModelName]]] = {}


_HEAD = 16384
"""A model's name and aliases must be before the first table, and within this many bytes."""


class Index(msgspec.Struct, frozen=True):
    """The heads of the model files in a folder, as they are kept in a file."""

    heads: str
    """The digest of the heads' texts."""
    entries: tuple[ModelName, ...]
    """The heads, with the names of the files as their paths."""


def model_files(place: str) -> list[str]:
    """Return the model files in a folder, or the one file. A missing folder has none."""
    if place.endswith(".toml"):
        return [os.path.abspath(place)]
    try:
        within = os.path.abspath(place)
        return [os.path.join(within, n) for n in sorted(os.listdir(place)) if n.endswith(".toml")]
    except OSError:
        return []


def read_heads(files: Iterable[str]) -> list[tuple[str, bytes]]:
    """Return the names of model files, and the text of each before its first table; unreadable files are left out."""
    heads = []
    for path in files:
        try:
            if _is_pipe(path):
                continue
            with open(path, "rb") as f:
                heads.append((os.path.basename(path), f.read(_HEAD).partition(b"\n[")[0]))
        except OSError:
            continue
    return heads


def make_index(folder: str, heads: Sequence[tuple[str, bytes]]) -> Index:
    """Return the index of model files in a folder. Raises ModelError."""
    from incc.models.files.source import read_head

    entries = [read_head(os.path.join(folder, name), head.decode(errors="replace")) for name, head in heads]
    return Index(_digest_of_heads(heads), tuple([replace(e, path=os.path.basename(e.path)) for e in entries]))


def _digest_of_heads(heads: Sequence[tuple[str, bytes]]) -> str:
    return digest(msgspec.msgpack.encode([(os.fsencode(name), head) for name, head in heads]))


# --- cache -----------------------------------------------------------------------------------------------------------

K = TypeVar("K", Tables, Index)


def _cached(path: str, kind: type[K]) -> Iterator[K]:
    """Yield the compiled tables of a model file (or of a folder's index): those of the build and of an earlier run."""
    folder, name = os.path.split(path)
    if folder == data_folder():
        file = os.path.join(os.path.dirname(folder), "tables", name + cache.ENDING)
        if shipped := cache.shipped(file, COMPILED_VERSION, kind):
            yield shipped
    if kept := cache.kept(path, COMPILED_VERSION, kind):
        yield kept


def _contents(path: str, tables: Tables) -> tuple[tuple[str, str], ...]:
    """Return the files that a model was read from, with their digests.

    The tables name files in the model's own folder without it, since the folder may be reached by several paths.
    """
    folder = os.path.dirname(path)
    return tuple([(os.path.join(folder, file), expected) for file, expected in tables.files])


def _unchanged(contents: Iterable[tuple[str, str]]) -> bool:
    for file, expected in contents:
        try:
            if _is_pipe(file):
                return False
            with open(file, "rb") as f:
                data = f.read()
        except OSError:
            return False
        if digest(data) != expected:
            return False
    return True
