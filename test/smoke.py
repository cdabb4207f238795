"""A smoke test of incc as it is installed.

    python test/smoke.py FILE…   install each sdist or wheel into an empty environment, and run its commands there
    python test/smoke.py         run the commands of the incc that is installed for this interpreter

Needs a C compiler, `cc`, and incc with its extras `lsp` and `web`.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = """\
double sum(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i)
    s += a[i];
  return s;
}
int main(void) {
  static double a[1000];
  return sum(a, 1000) != 0;
}
"""
REQUESTS = (
    {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    {"id": 2, "method": "shutdown"},
    {"method": "exit"},
)
"""The messages of an editor to a language server."""
CORES = {"x86_64": ("-march=skylake-avx512", "skylake-avx512"), "aarch64": ("-mcpu=neoverse-n1", "neoverse-n1")}
"""The option of the compiler and the model of a core, by the machine that the test runs on."""


def session(package: Path) -> Iterator[tuple[str, str]]:
    """Yield command lines to run one after the other, each with a pattern that its output contains."""
    flag, core = CORES[platform.machine()]
    cycles = r"\d\.\d\d cycles per iteration"
    yield f"cc -O3 {flag} -c sum.c -o plain.o", ""
    yield f"incc -O3 {flag} --analyze -c sum.c", cycles
    yield "cmp plain.o sum.o", ""
    yield f"incc -O3 {flag} -S sum.c", ""
    yield f"incc-mca -mcpu={core} --auto sum.s", cycles
    yield f"incc-mca -mcpu={core} --auto --html=sum.html sum.s && cat sum.html", "</html>"
    yield f"incc-scan -mcpu={core} sum.o", r"sum .*\bchain\b"
    yield f"incc-build -o reports -- cc -O3 {flag} -c sum.c", "kernels of 1 unit"
    yield "incc-report reports", "kernels of 1 unit"
    yield "incc-diff reports reports", "nothing changed"
    yield "incc-db add reports --commit=first", ""
    yield "incc-db log sum", "first"
    yield "incc-model list", f"(?m)^{core} "
    if platform.machine() == "x86_64":
        yield "incc-bench 'imul r64, r64'", "throughput"
        yield f"incc -O3 {flag} -g --analyze-probe sum.c -o sum", ""
        yield "incc-run -- ./sum", "1 process with probes"
    yield "incc-lsp < editor", '"codeLensProvider"'
    serve = "incc-web --no-browser 2>address & until grep token= address; do kill -0 $! || exit 1; sleep 0.1; done"
    fetch = "import urllib.request as r; o = r.build_opener(r.HTTPCookieProcessor()); "
    fetch += "print(o.open(open('address').read().split()[-1]).read())"
    yield f'{serve}; python3 -c "{fetch}"; kill $!', "<title>"
    for plugin in package.glob("frontends/clang_plugin/incc_markers-*.so"):
        clang = f"clang-{plugin.stem.partition('-')[2]}"
        if shutil.which(clang):
            yield f"incc {clang} -O3 {flag} --analyze -c sum.c -o {clang}.o", "according to the compiler"


def demand(condition: object, otherwise: str) -> None:
    """Exit with a message unless a condition holds."""
    if not condition:
        sys.exit(f"smoke.py: error: {otherwise}")


def try_installed() -> None:
    """Run the commands of the incc that is installed for this interpreter."""
    import incc
    from incc.driver.cli.command import NAMES
    from incc.driver.cli.kinds import PREFIXES

    programs = Path(sys.executable).parent
    package = Path(incc.__file__).parent
    version = importlib.metadata.version("incc")
    demand(version == incc.__version__, f"the package is {version}, but its code {incc.__version__}")
    # No other incc, and no settings.
    path = [place for place in os.environ["PATH"].split(os.pathsep) if not Path(place, "incc").exists()]
    with tempfile.TemporaryDirectory(prefix="incc work ") as folder:
        home = Path(folder, "home")
        home.mkdir()
        Path(folder, "sum.c").write_text(SOURCE)
        bodies = [json.dumps({"jsonrpc": "2.0", **request}) for request in REQUESTS]
        Path(folder, "editor").write_bytes(
            b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body.encode()) for body in bodies)
        )
        environment = {"HOME": str(home), "PATH": os.pathsep.join([str(programs), *path])}

        def run(command: str, pattern: str) -> None:
            done = subprocess.run(
                ["sh", "-c", f"exec 2>&1; {command}"],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            demand(done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}")
            demand(re.search(pattern, done.stdout), f"{command}: no {pattern!r} in\n{done.stdout}")

        for name in NAMES:
            option = PREFIXES.get(name, "--")
            run(f"{name} {option}version", f"^{name} {re.escape(version)}\n$")
            run(f"{name} {option}help", "(?m)^usage: ")
            run(f"{name} {option}help=man", r"(?m)^\.TH ")
        run("incc-mca --help=bash | bash -n", "")
        for command, pattern in session(package):
            print("  $", command, flush=True)
            run(command, pattern)
    installed = {file.name for file in programs.glob("incc*")}
    demand(installed == set(NAMES), f"programs that NAMES lacks, or the reverse: {installed ^ set(NAMES)}")
    check_files(package, programs)


def check_files(package: Path, programs: Path) -> None:
    """Check that files are where programs look for them, and name no folder that is gone after the build."""
    needed = ["py.typed", "report/report.schema.json", "support/tied", "driver/builds/libincc-preload.so"]
    needed += [f"models/tables/{file.name}.incc" for file in package.glob("models/data/*.toml")]
    for name in needed:
        demand((package / name).exists(), f"incc/{name} is missing")
    demand((programs.parent / "share/cmake/Incc/InccConfig.cmake").exists(), "CMake's package is missing")
    names = {file.name for file in importlib.metadata.files("incc") or ()}
    demand("LICENSE" in names, "LICENSE is missing")
    temporary = re.compile(rb"/tmp/[^\0]+/bin/pyth")
    for program in programs.glob("incc*"):
        demand(not temporary.search(program.read_bytes()), f"{program} starts Python from a temporary folder")


def try_file(file: Path) -> None:
    """Install an sdist or a wheel into an empty environment and try it there, in folders with blanks in their names."""
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB", flush=True)
    if file.name.endswith(".tar.gz"):
        check_contents(file)
    with tempfile.TemporaryDirectory(prefix="incc smoke ") as folder:
        python = Path(folder, "environment/bin/python")
        shutil.copy(__file__, folder)
        for command in (
            [sys.executable, "-m", "venv", "environment"],
            [python, "-m", "pip", "install", "--quiet", f"{file.resolve()}[lsp,web]"],
            [python, "-m", "pip", "--quiet", "check"],
            [python, "-I", Path(__file__).name],
        ):
            # pip builds sdists in the temporary folder.
            done = subprocess.run(command, cwd=folder, env={**os.environ, "TMPDIR": folder}, check=False)
            if done.returncode:
                sys.exit(done.returncode)


def check_contents(sdist: Path) -> None:
    """Check that an sdist has the files that are in git, and no others."""
    if not (ROOT / ".git").exists():
        return
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = set(listed.strip("\0").split("\0"))
    demand(packed == tracked, f"in git or in {sdist.name} only: {sorted(packed ^ tracked)}")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        try_file(Path(each))
    if not sys.argv[1:]:
        try_installed()
