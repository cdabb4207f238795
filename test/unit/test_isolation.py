"""Commands take nothing from Python's surroundings: its variables, the user's packages, the working directory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from wrapper_launcher import front, installed

from incc.driver.cli.command import NAMES
from incc.frontends.x86 import assembler
from incc.measuring import harness
from incc.support.isolated import isolated

LOOP = ".L1:\n\taddq $1, %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
MODULES = (
    *("argparse", "incc", "json", "msgspec", "os", "re", "signal", "sitecustomize", "usercustomize"),
    *("llvmlite", "iced_x86", "site"),
)
"""Modules of the package and of what it imports, and those that Python imports by itself."""


class Surroundings:
    """A folder of modules that leave a mark when they are imported, and an environment that names it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "planted"
        self.folder.mkdir()
        self.mark = folder / "mark"
        text = f"open({str(self.mark)!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(77)\n"
        site = folder / "user/lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        site.mkdir(parents=True)
        for name in MODULES:
            (self.folder / f"{name}.py").write_text(text)
            (site / f"{name}.py").write_text(text)
        (site / "evil.pth").write_text(f"import os; open({str(self.mark)!r}, 'a').write('pth')\n")
        self.environment = {
            "PYTHONPATH": str(self.folder),
            "PYTHONHOME": "/no/where",
            "PYTHONPLATLIBDIR": "nowhere",
            "PYTHONHASHSEED": "bogus",
            "PYTHONMALLOC": "bogus",
            "PYTHONSTARTUP": str(self.folder / "os.py"),
            "PYTHONUSERBASE": str(folder / "user"),
            "PYTHONINSPECT": "1",
            "PYTHONOPTIMIZE": "bogus",
            "PYTHONWARNINGS": "error",
            "PYTHONBREAKPOINT": "os.abort",
            "PYTHONPROFILEIMPORTTIME": "1",
        }
        environment = folder / "environment"
        shutil.copytree(folder / "user", environment)
        (environment / "pyvenv.cfg").write_text("home = /no/where\n")
        self.of_interpreters = dict.fromkeys(
            ("PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__"), str(environment / "bin/python3")
        )
        """Variables that name another interpreter, which -I does not ignore."""

    def run(self, command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **self.environment}
        return subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=self.folder, env=environment, timeout=120
        )


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    return Surroundings(tmp_path)


def test_the_surroundings_reach_an_ordinary_interpreter(surroundings: Surroundings) -> None:
    """What the other tests find nothing of would be found."""
    for name in ("PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONHASHSEED", "PYTHONMALLOC"):
        assert surroundings.run([sys.executable, "-c", "import json"]).returncode != 0
        del surroundings.environment[name]
    surroundings.run([sys.executable, "-c", "import json"])
    assert surroundings.mark.exists()


@pytest.mark.parametrize("name", NAMES)
def test_commands_take_nothing_from_their_surroundings(surroundings: Surroundings, name: str) -> None:
    surroundings.environment |= surroundings.of_interpreters
    option = "--analyze-version" if name == "incc" else "--version"
    done = surroundings.run([str(front().parent / name), option])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{name} ")
    assert not surroundings.mark.exists()


@pytest.mark.parametrize(
    "command",
    [
        ["incc-mca", "-mcpu=skylake", "--auto", "-"],
        ["incc-mca", "-mcpu=skylake", "--measure", "--auto", "-"],
        ["incc-scan", "-mcpu=skylake", "-j2", "a.s", "b.s"],
        ["incc-model", "list"],
        ["incc-build", "--cmake-dir"],
    ],
    ids=" ".join,
)
def test_nor_do_the_processes_that_they_start(surroundings: Surroundings, command: list[str]) -> None:
    surroundings.environment |= surroundings.of_interpreters
    for name in ("a.s", "b.s"):
        (surroundings.folder / name).write_text(LOOP)
    done = surroundings.run([str(front().parent / command[0]), *command[1:]], LOOP)
    assert done.returncode == 0, done.stderr
    assert not surroundings.mark.exists()


@pytest.mark.parametrize("kind", ["assembler", "measuring"])
def test_other_interpreters_are_isolated(surroundings: Surroundings, kind: str, tmp_path: Path) -> None:
    if kind == "assembler":
        (tmp_path / "a.s").write_text(LOOP)
        *_, command = assembler._default_commands(False)
        done = surroundings.run([*command, "-o", str(tmp_path / "a.o"), str(tmp_path / "a.s")])
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "a.o").stat().st_size
    else:
        if why := harness.missing():
            pytest.skip(why)
        question = {"counters": False, "events": {}, "parent": os.getpid(), "unsafe": False}
        done = surroundings.run([*harness.server_command(), json.dumps(question)])
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["ready"]
    assert not surroundings.mark.exists()


def test_an_isolated_interpreter_has_the_same_search_path(surroundings: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path/here.py").write_text("import sys\ndef main(): return len(sys.argv) + 40\n")
    sys.path.append(str(tmp_path / "path"))
    try:
        assert surroundings.run([*isolated("here"), "argument"]).returncode == 42
    finally:
        sys.path.pop()


def test_a_command_is_found_through_links_and_behaves_as_it_is_called(tmp_path: Path) -> None:
    link = tmp_path / "llvm-mca"
    link.symlink_to(front().parent / "incc-mca")
    done = subprocess.run([link, "-mcpu=skylake", "-"], input=LOOP, capture_output=True, text=True)
    assert done.stdout.startswith("Iterations:")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert subprocess.run(["llvm-mca", "--version"], capture_output=True, text=True, env=environment).returncode == 0


def test_a_command_without_python_says_so(tmp_path: Path) -> None:
    copy = tmp_path / "incc-mca"
    shutil.copy(front().parent / "incc-mca", copy)
    (tmp_path / "python3").write_text("no program")
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run([copy, "-"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == f"incc-mca: error: {tmp_path}/python3: Exec format error\n"


def test_a_command_starts_no_interpreter_of_the_environment_that_built_it(tmp_path: Path) -> None:
    """The folder of a removed environment may belong to somebody else."""
    (tmp_path / "bin").mkdir()
    shutil.copy(installed("incc-mca"), tmp_path / "bin")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    package = tmp_path / "lib" / version / "site-packages/incc/driver/commands"
    package.mkdir(parents=True)
    for folder in (package, *package.parents[:2]):
        (folder / "__init__.py").touch()
    (package / "incc.py").touch()  # marks the place of the package
    (package / "mca.py").write_text("import sys\ndef command(): print(sys.prefix == sys.base_prefix)\n")
    assert subprocess.run([tmp_path / "bin/incc-mca"], capture_output=True, text=True).stdout == "True\n"


def test_an_interrupt_while_python_starts_ends_the_command_without_a_traceback() -> None:
    for pause in (0.002, 0.004, 0.006, 0.008, 0.012, 0.016, 0.024):
        command = ["timeout", "--preserve-status", "--signal=INT", str(pause), front().parent / "incc-mca", "-"]
        done = subprocess.run(command, input=LOOP * 100, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 128 + signal.SIGINT, -signal.SIGINT)


def test_a_build_has_the_variables_that_are_hidden_from_incc(surroundings: Surroundings) -> None:
    surroundings.environment |= surroundings.of_interpreters
    names = sorted(surroundings.of_interpreters)
    command = ["incc-build", "-o", "reports", "--", "sh", "-c", "env | grep -E 'PYTHONEXECUTABLE|PYVENV' | sort"]
    done = surroundings.run([str(front().parent / command[0]), *command[1:]])
    assert done.stdout.splitlines() == [f"{name}={surroundings.of_interpreters[name]}" for name in names]
