"""Folders of reports: names, the list of reports, the cache of units, project files."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.driver.builds.project import project_of, read_project
from incc.driver.cores import cores_of
from incc.frontends.gcc_wrapper.outputs import output_of
from incc.report import types as t
from incc.report.folder import manifest
from incc.report.folder.cache import Cached, UnitCache, cache_folder, cache_size
from incc.report.folder.cache import _pack as pack
from incc.report.folder.cache import _unpack as unpack
from incc.report.folder.manifest import ManifestLine
from incc.report.folder.names import name_for, parts, report_name
from incc.report.folder.outcome import put_cached, rest_of
from incc.support.errors import AnalysisError
from properties import examples
from settings_fixtures import settings_with
from struct_fixtures import filled

NAMES = st.binary(min_size=1, max_size=300).map(os.fsdecode).filter(lambda name: "\0" not in name)


# --- names ------------------------------------------------------------------------------------------------------------


@given(NAMES, st.lists(st.text(), max_size=3))
def test_names_are_those_of_files(source: str, identity: list[str]) -> None:
    name = name_for(source, identity, "json")
    assert len(os.fsencode(f"{name}.1234567.new")) <= 150
    assert "/" not in name
    assert "\n" not in name
    assert name not in (".", "..")
    assert name == name_for(source, identity, "json")


def test_long_names_keep_their_reports_apart(tmp_path: Path) -> None:
    long = "é" * 120 + ".c"
    one, other = (name_for(long, ("/b", long, output), "json") for output in ("a.o", "b.o"))
    assert one != other
    assert one.startswith("é" * 50 + "-")
    (tmp_path / one).write_text("")


def unit(source: str = "a.c", output: str = "a.o", **more: Any) -> t.UnitReport:
    made = {"source": source, "assembly_file": "a.s", "folder": "/b", "output": output, "command": ["gcc"]}
    return filled(t.UnitReport, {**made, "way": "assembler", **more})


def test_a_command_of_several_sources_has_a_report_for_each() -> None:
    report = filled(t.AnalysisReport, {"units": [unit(), unit("b.c", "b.o"), unit(model={"name": "znver4"})]})
    first, second = parts(report)
    assert [u.source for u in first.units] == ["a.c", "a.c"], "analyses for several cores stay together"
    assert [u.source for u in second.units] == ["b.c"]
    assert report_name(first.units[0], "json") != report_name(second.units[0], "json")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("-c a.c -o x/a.o", "x/a.o"),
        ("-c a.c -ox.o", "x.o"),
        ("-c dir/a.c", "a.o"),
        ("-S a.c -c", "a.s"),
        ("-S a.c", "a.s"),
        ("a.c b.c", "a.out"),
        ("a.c -o prog", "prog"),
        ("-I -c a.c", "a.out"),
        ("-c -MF -o a.c", "a.o"),
        ("-E a.c -o a.i", ""),
        ("-fsyntax-only a.c", ""),
    ],
)
def test_what_a_command_makes(words: str, output: str) -> None:
    source = next((word for word in words.split() if word.endswith("a.c")), "")
    assert output_of(words.split(), source) == output


# --- the list of reports ----------------------------------------------------------------------------------------------

ENTRIES = st.builds(
    ManifestLine,
    report=st.sampled_from(["a.c-1.json", "b.c-2.json", "c.c-3.json"]),
    folder=NAMES,
    source=NAMES,
    output=NAMES,
    command=st.lists(NAMES, max_size=3).map(tuple),
    digest=st.sampled_from(["", "00ff"]),
    way=st.sampled_from(["assembler", "object", "second-run"]),
    key=st.sampled_from(["", "0" * 32]),
)


@given(st.lists(ENTRIES, max_size=6), st.binary(max_size=40))
def test_the_last_line_of_a_report_counts(tmp_path_factory: Any, entries: list[ManifestLine], junk: bytes) -> None:
    folder = tmp_path_factory.mktemp("reports")
    manifest.add(str(folder), "")
    with open(folder / manifest.NAME, "ab") as file:
        # Whatever somebody was killed in the middle of.
        file.write(b'{"report": ' + junk.replace(b"\n", b""))
    for entry in entries:
        manifest.add(str(folder), manifest.line_of(entry))
    last = {entry.report: entry for entry in entries}
    assert manifest.read(str(folder)) == last
    for name in last:
        (folder / name).touch()
    manifest.compact(str(folder), gone=["b.c-2.json"])
    assert manifest.read(str(folder)) == {name: entry for name, entry in last.items() if name != "b.c-2.json"}
    assert len((folder / manifest.NAME).read_bytes().splitlines()) == len(last) - ("b.c-2.json" in last)


def test_names_that_lead_out_of_the_folder_are_none(tmp_path: Path) -> None:
    manifest.add(
        str(tmp_path),
        manifest.line_of(
            ManifestLine(
                report="../x.json", folder="/", source="x.c", output="x.o", command=(), digest="", way="object"
            )
        ),
    )
    assert manifest.read(str(tmp_path)) == {}


def _add_lines(folder: str, number: int) -> None:
    for n in range(50):
        entry = ManifestLine(
            report=f"{number}-{n}.json",
            folder="/b" * 500,
            source=f"{n}.c",
            output=f"{n}.o",
            command=("gcc",),
            digest="",
            way="assembler",
        )
        manifest.add(folder, manifest.line_of(entry))


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    processes = [multiprocessing.Process(target=_add_lines, args=(str(tmp_path), n)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert len(manifest.read(str(tmp_path))) == 200
    assert len((tmp_path / manifest.NAME).read_bytes().splitlines()) == 200


def test_digests_are_of_files(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    assert len(manifest.digest_of(str(tmp_path / "x"))) == 32
    assert manifest.digest_of(str(tmp_path / "no")) == ""
    assert manifest.digest_of("/dev/null") == ""
    os.mkfifo(tmp_path / "pipe")
    assert manifest.digest_of(str(tmp_path / "pipe")) == ""


# --- the cache --------------------------------------------------------------------------------------------------------

KEYS = st.binary(min_size=16, max_size=16).map(bytes.hex)
CACHED = st.builds(
    Cached,
    name=st.text(st.characters(min_codepoint=32, codec="utf-8"), min_size=1).filter(lambda name: "\n" not in name),
    rest=st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    report=st.binary(),
)


@given(CACHED, st.integers(0), st.integers(1, 255))
def test_what_is_damaged_counts_as_missing(entry: Cached, place: int, change: int) -> None:
    data = pack(entry)
    assert unpack(data) == entry
    damaged = bytearray(data)
    damaged[place % len(data)] ^= change
    assert unpack(bytes(damaged)) is None
    assert unpack(data[: place % len(data)]) is None


def test_entries_by_their_keys(tmp_path: Path) -> None:
    cache = UnitCache(str(tmp_path))
    entry = Cached("a.c-1.json", '"x":1}', b"{}\n")
    key = "ab" + "0" * 29 + "1"
    assert cache.find(key) is None
    assert cache.store(key, entry)
    assert cache.find(key) == entry
    assert cache.stats() == (1, len(pack(entry)))
    for bad in ("", "ab", "../" + "0" * 29, "A" * 32):
        assert not cache.store(bad, entry)
        assert cache.find(bad) is None
    (tmp_path / "units" / "ab" / key[2:]).write_bytes(b"incc unit 1\nnonsense")
    assert cache.find(key) is None
    cache.clear()
    assert cache.stats() == (0, 0)


@pytest.mark.parametrize("wrong", ["link", "group", "everybody"])
def test_a_cache_that_others_may_write_is_not_used(wrong: str, tmp_path: Path) -> None:
    cache = UnitCache(str(tmp_path / "cache"))
    key = "ab" + "0" * 29 + "1"
    entry = Cached("a.c-1.json", "", b"x")
    assert cache.store(key, entry)
    units = tmp_path / "cache" / "units"
    assert units.stat().st_mode & 0o777 == 0o700
    if wrong == "link":
        units.rename(tmp_path / "elsewhere")
        units.symlink_to(tmp_path / "elsewhere")
    else:
        units.chmod(0o770 if wrong == "group" else 0o707)
    assert cache.distrusted
    assert cache.find(key) is None
    assert not cache.store(key, entry)
    cache.clear()
    assert (units / "ab" / key[2:]).exists()


def test_what_nobody_takes_goes_first(tmp_path: Path) -> None:
    entry = Cached("a.c-1.json", "", b"x" * 1000)
    cache = UnitCache(str(tmp_path), size=10 * len(pack(entry)))
    keys = [f"{n:02x}" + "0" * 29 + "1" for n in range(20)]
    for age, key in enumerate(keys):
        cache.store(key, entry)
        path = tmp_path / "units" / key[:2] / key[2:]
        os.utime(path, (age, age))
    assert cache.find(keys[0]) == entry
    begun = tmp_path / "units" / "00" / "x.1.new"
    begun.touch()
    os.utime(begun, (1, 1))
    fresh = tmp_path / "units" / "00" / "y.1.new"
    fresh.touch()
    cache.clean()
    assert [key for key in keys if cache.find(key)] == [keys[0], *keys[-7:]]
    assert not begun.exists(), "nobody has been at it for an hour"
    assert fresh.exists()


def _fill(folder: str, start: int, size: int) -> None:
    cache = UnitCache(folder, size)
    for n in range(100):
        key = f"{(n * 7 + start) % 60:02x}" + "0" * 30
        cache.store(key, Cached("a.c-1.json", str(n), b"x" * 1000))
        found = cache.find(key)
        assert found is None or found.report == b"x" * 1000


def test_several_processes_at_a_cache(tmp_path: Path) -> None:
    processes = [multiprocessing.Process(target=_fill, args=(str(tmp_path), n, 20_000)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    cache = UnitCache(str(tmp_path), 20_000)
    cache.clean()
    count, size = cache.stats()
    assert count > 0
    assert size <= 20_000


def test_where_the_cache_is() -> None:
    assert cache_folder({"INCC_CACHE": "0", "HOME": "/h"}) == ""
    assert cache_folder({"INCC_CACHE": "/c", "HOME": "/h"}) == "/c"
    assert cache_folder({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == "/x/incc"
    assert cache_folder({"XDG_CACHE_HOME": "x", "HOME": "/h"}) == "/h/.cache/incc", "as the specification has it"
    assert cache_folder({"HOME": "/h"}) == "/h/.cache/incc"
    assert cache_folder({}) == ""
    assert [cache_size({"INCC_CACHE_SIZE": text}) for text in ("100", "5k", "2M", "1g")] == [
        100,
        5120,
        2 << 20,
        1 << 30,
    ]
    assert cache_size({"INCC_CACHE_SIZE": "lots"}) == cache_size({})


def test_no_folder_is_no_cache(tmp_path: Path) -> None:
    for cache in (UnitCache(""), UnitCache("/proc/nowhere")):
        assert not cache.store("0" * 32, Cached("a", "", b""))
        assert cache.find("0" * 32) is None
        cache.clean()
        assert cache.stats() == (0, 0)


def test_a_report_from_the_cache_is_listed_as_a_new_one(tmp_path: Path) -> None:
    entry = manifest.entry_of("a.c-1.json", unit(), "12ab", "0" * 32)
    put_cached(str(tmp_path), entry.report, rest_of(entry), b"{}\n", "34cd")
    assert (tmp_path / "a.c-1.json").read_bytes() == b"{}\n"
    assert manifest.read(str(tmp_path)) == {"a.c-1.json": replace(entry, digest="34cd")}


# --- projects ---------------------------------------------------------------------------------------------------------


def test_the_next_file_upwards_counts(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    source = str(deep / "x.c")
    assert project_of(source).folder == ""
    (tmp_path / "incc.toml").write_text('[analyze]\ncores = ["znver4", "skylake"]\nexclude = "a/b"\n')
    project = project_of(source)
    assert project.folder == str(tmp_path)
    assert not project.wants(source)
    assert project.wants(str(tmp_path / "a" / "x.c"))
    (deep / "incc.toml").write_text('[analyze]\nfiles = ["x*"]\nfunctions = ["f*"]\n')
    project = project_of(source)
    assert project.wants(source)
    assert not project.wants(str(deep / "y.c"))
    assert project.applied(settings_with(), []) == [settings_with(functions=("f*",))]
    # As it is now, not as it was.
    text = '[thresholds]\nfail-if = ["cycles > 10"]\nwarn-if = "flop > 0"\n'
    (deep / "incc.toml").write_text(text)
    os.utime(deep / "incc.toml", (time.time() + 10, time.time() + 10))
    project = project_of(source)
    assert (project.fail_if, project.warn_if, project.problems) == (("cycles > 10",), ("flop > 0",), ())


def test_cores_where_nothing_else_says_them(tmp_path: Path) -> None:
    (tmp_path / "incc.toml").write_text('[analyze]\ncores = ["znver4", "skylake"]\n')
    project = project_of(str(tmp_path / "x.c"))
    problems: list[str] = []
    assert [s.core.mcpu for s in project.applied(settings_with(), problems)] == ["znver4", "skylake"]
    assert [s.core.mcpu for s in project.applied(settings_with(mcpu="haswell"), problems)] == ["haswell"]
    assert [s.core.mcpu for s in project.applied(settings_with(mcpu="haswell,znver3"), problems)] == [
        "haswell",
        "znver3",
    ]
    assert problems == []


def test_a_core_without_a_model_is_a_mistake_and_not_there(tmp_path: Path) -> None:
    file = tmp_path / "incc.toml"
    file.write_text('[analyze]\ncores = ["znver4", "z80", "skylake"]\n')
    problems: list[str] = []
    assert [s.core.mcpu for s in project_of(str(tmp_path / "x.c")).applied(settings_with(), problems)] == [
        "znver4",
        "skylake",
    ]
    assert len(problems) == 1
    assert problems[0].startswith(f"{file}: [analyze] cores: no machine model named 'z80'")
    file.write_text('[analyze]\ncores = "z80"\n')
    os.utime(file, (1, 1))
    assert project_of(str(tmp_path / "x.c")).applied(settings_with(), problems) == [settings_with()]


def test_names_of_one_model_are_one_core() -> None:
    assert [s.core.mcpu for s in cores_of(settings_with(mcpu="znver6, znver5,,haswell"))] == ["znver6", "haswell"]
    assert cores_of(settings_with()) == [settings_with()]
    assert [s.core.mcpu for s in cores_of(settings_with(mcpu="z80"))] == ["z80"], "whoever analyses says what is wrong"
    for wrong in (",", "z80,haswell"):
        with pytest.raises(AnalysisError):
            cores_of(settings_with(mcpu=wrong))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[analyze", "Expected"),
        ("[analyse]", "unknown table 'analyse'; valid are [analyze], [thresholds], [editor]"),
        ("analyze = 1", "unknown table 'analyze'"),
        ("[analyze]\ncore = []", "[analyze] has no 'core'; valid are cores, functions, files, exclude"),
        ("[analyze]\ncores = 4", "[analyze] cores: expected a list of strings, not 4"),
        ("[analyze]\ncores = ['']", "a list of strings"),
        ("[thresholds]\nfail-if = 'cycles >'", "[thresholds] fail-if: "),
        ("[analyze]\ncores = ['\xff']", ""),
    ],
)
def test_mistakes_are_told_with_the_file(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "incc.toml"
    path.write_bytes(text.encode("latin-1"))
    project = read_project(str(path))
    assert len(project.problems) == 1
    assert project.problems[0].startswith(f"{path}: ")
    assert problem in project.problems[0]
    assert project.wants(str(tmp_path / "x.c"))


@given(st.text())
@examples(200)
def test_any_text_is_a_project_or_a_problem(tmp_path_factory: Any, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    read_project(str(path))


def test_lines_are_ascii() -> None:
    line = manifest.line_of(
        ManifestLine(
            report="ä.json", folder="/\udcff", source="ä.c", output="ä.o", command=("gcc",), digest="", way="object"
        )
    )
    assert line.isascii()
    assert json.loads(line)["folder"] == "/\udcff"
    assert line.startswith('{"digest":"",')
