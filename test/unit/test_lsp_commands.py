"""The command that compiles a file in an editor: that of a compilation database as clangd finds it, else a made one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from incc.driver.builds.project import project_of
from incc.driver.editing.analysis import analyse
from incc.driver.editing.commands import commands_of
from incc.live.requests import EditedFile, EditorSettings, words_of
from incc.support.errors import AnalysisError

ADD = "void add(float *a, long n) {\n  for (long i = 0; i < n; i++)\n    a[i] += 1;\n}\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project, which has no others above it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "add.c").write_text(ADD)
    for name in ("CC", "CFLAGS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def database(folder: Path, command: str | list[str], file: str = "add.c", directory: str | None = None) -> None:
    """Write a compilation database with one command, for a file in src/deep unless there is a directory."""
    folder.mkdir(parents=True, exist_ok=True)
    entry: dict[str, Any] = {"file": file, "arguments" if isinstance(command, list) else "command": command}
    top = next(each for each in (folder, *folder.parents) if (each / ".git").exists())
    entry["directory"] = str(top / "src" / "deep") if directory is None else directory
    (folder / "compile_commands.json").write_text(json.dumps([entry]))


def found(place: Path, notes: list[str] | None = None, also: str = "", **settings: Any) -> list[list[str]]:
    """Return the commands for src/deep/add.c."""
    path = str(place / "src" / "deep" / "add.c")
    file = EditedFile(path=path, text=ADD, settings=EditorSettings(**settings), also=also)
    return [[*command.words] for command in commands_of(file, project_of(path), [] if notes is None else notes)]


# --- the database -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["src/deep", "src/deep/build", "src", "src/build", ".", "build"])
def test_the_database_is_in_a_folder_above_or_its_build(place: Path, folder: str) -> None:
    database(place / folder, "gcc -O2 -c add.c")
    assert found(place) == [["gcc", "-O2", "-c", "add.c"]]


def test_the_nearest_database_counts(place: Path) -> None:
    for folder, level in ((place, "-O1"), (place / "build", "-O2"), (place / "src", "-O3")):
        database(folder, f"gcc {level} -c add.c")
    assert found(place) == [["gcc", "-O3", "-c", "add.c"]]
    assert found(place, compilation_database=str(place / "build")) == [["gcc", "-O2", "-c", "add.c"]]


def test_a_database_without_the_file_gives_way(place: Path) -> None:
    database(place, "gcc -O1 -c add.c")
    database(place / "src", "gcc -O2 -c other.c", "other.c")
    assert found(place) == [["gcc", "-O1", "-c", "add.c"]]
    database(place, "gcc -O1 -c other.c", "other.c")
    assert [words[-2:] for words in found(place)] == [["-c", "add.c"]] * 2


@pytest.mark.parametrize("text", ["{", "{}", "[1, null]", '[{"file": "src/deep/add.c"}]', "\0", "[" * 100_000])
def test_a_malformed_database_is_noted(place: Path, text: str) -> None:
    (place / "compile_commands.json").write_text(text)
    notes: list[str] = []
    try:
        assert found(place, notes)
    except AnalysisError as error:
        notes.append(str(error))
    assert all(note.startswith(str(place / "compile_commands.json")) for note in notes)
    assert "\n" not in "".join(notes)
    assert bool(notes) == (text != "[1, null]")


def test_commands_are_read_as_they_are_written(place: Path) -> None:
    database(place, ["gcc", "-DTEXT=a b", "-c", "add.c"])
    assert found(place) == [["gcc", "-DTEXT=a b", "-c", "add.c"]]
    database(place, "gcc '-DTEXT=a b' -c add.c")
    assert found(place) == [["gcc", "-DTEXT=a b", "-c", "add.c"]]
    database(place, "gcc -c 'add.c")
    with pytest.raises(AnalysisError, match="its command cannot be read"):
        found(place)


@pytest.mark.parametrize("directory", ["../src/deep", "..", ""])
def test_relative_folders_count_from_the_database(place: Path, directory: str) -> None:
    file = {"../src/deep": "add.c", "..": "src/deep/add.c", "": "../src/deep/add.c"}[directory]
    database(place / "build", f"gcc -c {file}", file, directory)
    assert found(place) == [["gcc", "-c", file]]


def test_a_link_to_the_file_is_the_file(place: Path) -> None:
    (place / "link").symlink_to(place / "src" / "deep")
    database(place, "gcc -O1 -c link/add.c", "link/add.c", str(place))
    assert found(place) == [["gcc", "-O1", "-c", "link/add.c"]]


@pytest.mark.parametrize("launchers", ["ccache", "ccache distcc"])
def test_launchers_are_left_out(place: Path, launchers: str) -> None:
    database(place, f"{launchers} gcc -O1 -c add.c")
    assert found(place) == [["gcc", "-O1", "-c", "add.c"]]


@pytest.mark.parametrize("front", ["incc", "/opt/incc/bin/incc"])
@pytest.mark.parametrize("compiler", ["gcc", "g++ -x c"])
def test_the_command_of_a_build_by_incc_is_the_compilers(place: Path, front: str, compiler: str) -> None:
    """As of `make CC="incc gcc"`, and of CMake with the launcher `incc`."""
    database(place, f"{front} {compiler} -O1 -c add.c")
    trusted = {"trust": True}
    assert found(place, **trusted) == [[*compiler.split(), "-O1", "-c", "add.c"]]
    assert found(place, also="clang-19", **trusted) == [["clang-19", *compiler.split()[1:], "-O1", "-c", "add.c"]]


def test_the_command_of_incc_alone_is_compiled(place: Path) -> None:
    """As of `make CC=incc`: the compiler is the one that incc would run."""
    database(place, "incc -O1 -c add.c")
    answer = analyse(EditedFile(path=str(place / "src" / "deep" / "add.c"), text=ADD,
                                settings=EditorSettings(cores=("skylake",))))  # fmt: skip
    assert answer.problem == ""
    assert answer.report
    assert len(answer.report.units[0].kernels) == 1


# --- trust ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("./gcc -c add.c", "its compiler ./gcc is not in PATH"),
        ("gcc -fplugin=x.so -c add.c", "-fplugin=x.so may run other programs"),
        ("gcc -B. -c add.c", "-B. may run other programs"),
        ("gcc @more -c add.c", "-wrapper may run other programs"),
    ],
)
def test_commands_that_may_run_other_programs_need_trust(place: Path, command: str, reason: str) -> None:
    (place / "src" / "deep" / "more").write_text("-wrapper evil")
    database(place, command)
    with pytest.raises(AnalysisError) as error:
        found(place)
    assert str(error.value) == (f"{place}/compile_commands.json: add.c: {reason}; the setting incc.trust allows it")
    assert found(place, trust=True) == [command.split()]


def test_compilers_of_the_database_are_trusted_where_they_are_in_path(place: Path) -> None:
    gcc = shutil.which("gcc")
    database(place, f"{gcc} -O1 -c add.c")
    assert found(place) == [[gcc, "-O1", "-c", "add.c"]]


# --- settings ---------------------------------------------------------------------------------------------------------


def test_flags_of_the_project_the_settings_and_the_entry_are_added_in_this_order(place: Path) -> None:
    database(place, "gcc -O1 -c add.c -- ")
    (place / "incc.toml").write_text('[editor]\nflags = ["-DPROJECT"]\n')
    words = found(place, flags=("-DSETTING",), also="-DENTRY -O3")[0]
    assert words == ["gcc", "-O1", "-c", "add.c", "-DPROJECT", "-DSETTING", "-DENTRY", "-O3", "--"]


def test_the_compiler_is_that_of_the_entry_else_of_the_settings_else_of_the_project(place: Path) -> None:
    database(place, "gcc -O1 -c add.c")
    (place / "incc.toml").write_text('[editor]\ncompiler = "clang-19 --target=x86_64-linux-gnu"\n')
    assert found(place)[0][0] == "clang-19"
    assert found(place, compiler="gcc-12")[0][0] == "gcc-12"
    assert found(place, compiler="gcc-12", also="g++ -O2")[0][0] == "g++"
    assert found(place, compiler="gcc-12", also="-O2")[0][0] == "gcc-12"


@pytest.mark.parametrize("settings", [{"compiler": "'gcc"}, {"also": "gcc 'x"}])
def test_quotes_that_are_not_closed_are_an_error(place: Path, settings: dict[str, str]) -> None:
    with pytest.raises(AnalysisError, match="no closing quotation"):
        found(place, **settings)


def test_without_a_database_the_compiler_is_that_of_make(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(place, cores=("skylake",)) == [
        ["cc", "-O3", "-march=skylake", "-c", "add.c"],
        ["cc", "-O3", "-c", "add.c"],
    ]
    monkeypatch.setenv("CC", "gcc -m64")
    monkeypatch.setenv("CFLAGS", "-O2")
    assert found(place) == [["gcc", "-m64", "-O2", "-c", "add.c"]]
    assert found(place, compiler="clang-19")[0][0] == "clang-19"


def test_entries_are_a_compiler_and_flags() -> None:
    assert words_of("clang-19 -O2 '-DX=a b'") == (("clang-19",), ("-O2", "-DX=a b"))
    assert words_of("ccache gcc") == (("ccache", "gcc"), ())
    assert words_of("-O2 x") == ((), ("-O2", "x"))
    assert words_of("") == ((), ())


# --- the table [editor] of incc.toml ----------------------------------------------------------------------------------


def test_the_table_of_editors(place: Path) -> None:
    (place / "incc.toml").write_text(
        '[editor]\ncompiler = "gcc"\nflags = ["-O2", "-g"]\nalso = ["clang-19", "-O3"]\nwhere = "cycles > 1"\n'
    )
    project = project_of(str(place / "src" / "deep" / "add.c"))
    assert project.problems == ()
    assert (project.compiler, project.flags, project.also) == ("gcc", ("-O2", "-g"), ("clang-19", "-O3"))
    assert project.where == ("cycles > 1",)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("cores = ['skylake']", "[editor] has no 'cores'; valid are compiler, flags, also, where"),
        ("flags = 1", "[editor] flags: expected a list of strings, not 1"),
        ("also = ['']", "[editor] also: expected a list of strings, not ['']"),
        ("where = 'x", ""),
    ],
)
def test_mistakes_in_it_are_noted(place: Path, entry: str, problem: str) -> None:
    (place / "incc.toml").write_text(f"[editor]\n{entry}\n")
    path = str(place / "src" / "deep" / "add.c")
    answer = analyse(EditedFile(path=path, text=ADD, settings=EditorSettings(cores=("skylake",))))
    assert answer.report
    assert answer.notes[0].startswith(f"{place}/incc.toml: {problem}")


def test_excluded_files_are_not_analysed(place: Path) -> None:
    (place / "incc.toml").write_text('[analyze]\nexclude = ["src/*"]\n')
    answer = analyse(EditedFile(path=str(place / "src" / "deep" / "add.c"), text=ADD))
    assert (answer.report, answer.problem, answer.notes) == (None, "", (f"excluded by {place}/incc.toml",))
