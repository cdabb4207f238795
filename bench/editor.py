"""Measure the language server: its start, the time until lenses appear, and its memory.

    python bench/editor.py [--compilers gcc,clang-19] [--loops 20] [--lines 2000] [--edits 200] [--files 50]

Times are the least of several repetitions. The file has loops that are all different, spread over its lines, and is
compiled by -O3 -march=skylake. `compilation` is the time of the compiler alone (-c, to /dev/null); the goal for lenses
is 1.5 times that and 200 ms. After an edit, the pause before the analysis is left out.

Memory is that of the server, of the process that it forks others from, and the largest sum over all processes that was
seen while analyses ran, without compilers. Shared pages are counted in proportion (PSS).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incc.live.lsp.server import PAUSE

OPERATIONS = (
    "a[i] = b[i] * {n}",
    "a[i] += b[i] / ({n} + c[i])",
    "s += a[i] * b[i + {n}]",
    "a[i] = b[i] > c[i] ? b[i] : {n}",
    "a[i] = sqrt(b[i]) + {n}",
    "if (a[i] < {n}) s -= c[i]",
    "a[i] = a[i] * a[i] - {n} * b[i]",
)


def source(loops: int, lines: int) -> str:
    """Return a C file with loops that are all different."""
    functions = []
    for n in range(loops):
        body = OPERATIONS[n % len(OPERATIONS)].format(n=n + 2)
        functions.append(
            f"double f{n}(double *restrict a, const double *b, const double *c, long n) {{\n  double s = {n};\n"
            f"  for (long i = 0; i < n; i++)\n    {body};\n  return s;\n}}\n"
        )
    text = "".join(functions)
    filler = (lines - text.count("\n") - 1) // loops
    straight = "".join(f"  x = x * {n + 3} + (x >> {n % 7 + 1});\n" for n in range(max(0, filler - 3)))
    code = "".join(f"{each}long g{n}(long x) {{\n{straight}  return x;\n}}\n" for n, each in enumerate(functions))
    return f"#include <math.h>\n{code}"


class Server:
    """A server on pipes, with as much of the protocol as the measurement needs."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            ["incc-lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env={**os.environ, **environment}
        )
        self.number = 0
        settings = {"cores": ["skylake"]}
        root = {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": {}}
        self.ask("initialize", {**root, "initializationOptions": settings})
        self.started = time.perf_counter() - begun
        self.tell("initialized", {})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        assert self.process.stdout
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            answer = json.loads(self.process.stdout.read(length))
            if answer.get("id") == self.number and "method" not in answer:
                return answer.get("result")

    def open(self, file: Path, text: str) -> None:
        item = {"uri": file.as_uri(), "languageId": "c", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def edit(self, file: Path, version: int, text: str) -> None:
        document = {"uri": file.as_uri(), "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def lenses(self, file: Path) -> list[str]:
        answer = self.ask("textDocument/codeLens", {"textDocument": {"uri": file.as_uri()}})
        return [lens["command"]["title"] for lens in answer or []]

    def end(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait()

    def memory(self) -> dict[str, float]:
        """Return the megabytes of the server, of the process that others are forked from, and of all with theirs."""
        (forking,) = children(self.process.pid)[:1]
        mine, its = megabytes(self.process.pid), megabytes(forking)
        return {"server": mine, "forking": its, "all": mine + its + sum(map(megabytes, children(forking)))}


def children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [*map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split())]
    return []


def megabytes(process: int) -> float:
    """Return the memory of a process, with its share of what it has in common with others."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


@contextlib.contextmanager
def peak(server: Server) -> Iterator[list[float]]:
    """Yield a list whose only item is the most memory of the server and its processes meanwhile."""
    most = [0.0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            with contextlib.suppress(ValueError):
                most[0] = max(most[0], server.memory()["all"])

    thread = threading.Thread(target=watch)
    thread.start()
    yield most
    done.set()
    thread.join()


def least(repeat: int, measure: Any) -> float:
    return min(measure() for _ in range(repeat))


def compilation(compiler: str, file: Path) -> float:
    begun = time.perf_counter()
    subprocess.run([compiler, "-O3", "-march=skylake", "-c", file.name, "-o", "/dev/null"], cwd=file.parent, check=True)
    return time.perf_counter() - begun


def times(compiler: str, file: Path, text: str, repeat: int) -> tuple[float, float, float, int]:
    """Return the seconds of the compilation, until lenses after opening and after an edit, and the number of lenses."""
    opened, edited, count = [], [], 0
    server = Server(file.parent, {"CC": compiler})
    server.open(file, text)
    count = len(server.lenses(file))  # the process for others has loaded everything
    for number in range(repeat):
        server.tell("textDocument/didClose", {"textDocument": {"uri": file.as_uri()}})
        begun = time.perf_counter()
        server.open(file, text)
        assert len(server.lenses(file)) == count
        opened.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        server.edit(file, number + 2, f"/* {number} */\n{text}")
        assert len(server.lenses(file)) == count
        edited.append(time.perf_counter() - begun - PAUSE)
    server.end()
    return least(repeat, lambda: compilation(compiler, file)), min(opened), min(edited), count


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--compilers", default="gcc,clang-19")
    parser.add_argument("--loops", type=int, default=20)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    text = source(options.loops, options.lines)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "loops.c"
        file.write_text(text, encoding="utf-8")
        load = os.getloadavg()[0]
        print(f"{os.cpu_count()} CPUs, load {load:.1f}; {text.count(chr(10))} lines, {options.loops} loops")

        def start() -> float:
            server = Server(folder, {})
            server.end()
            return server.started

        print(f"start to the answer to initialize: {1000 * least(options.repeat, start):.0f} ms (goal 300)")
        print(f"\n{'compiler':<10} {'compilation':>12} {'goal':>9} {'opened':>9} {'edited':>9} {'lenses':>7}")
        for compiler in options.compilers.split(","):
            if shutil.which(compiler):
                alone, opened, edited, count = times(compiler, file, text, options.repeat)
                cells = (alone, 1.5 * alone + 0.2, opened, edited)
                milliseconds = [f"{1000 * seconds:.0f} ms" for seconds in cells]
                print("{:<10} {:>12} {:>9} {:>9} {:>9} {:>7}".format(compiler, *milliseconds, count))
        memory(folder, file, text, options.edits, options.files)


def memory(folder: Path, file: Path, text: str, edits: int, files: int) -> None:
    """Print the memory of a server at its start, and after edits and many files."""
    print(f"\n{'memory (PSS)':<28} {'server':>8} {'forking':>8} {'peak of all':>12}")
    server = Server(folder, {"CC": "gcc"})

    def row(what: str, most: float) -> None:
        now = server.memory()
        print(f"{what:<28} {now['server']:>5.0f} MB {now['forking']:>5.0f} MB {most:>9.0f} MB", flush=True)

    with peak(server) as most:
        server.open(file, text)
        server.lenses(file)
    row("one file", most[0])
    with peak(server) as most:
        for number in range(edits):
            server.edit(file, number + 2, f"/* {number} */\n{text}")
            if number % 10 == 9:
                server.lenses(file)
    row(f"after {edits} edits", most[0])
    with peak(server) as most:
        for number in range(files):
            other = folder / f"loops{number}.c"
            other.write_text(f"/* {number} */\n{text}", encoding="utf-8")
            server.open(other, other.read_text(encoding="utf-8"))
            server.lenses(other)
    row(f"with {files} more files open", most[0])
    server.end()


if __name__ == "__main__":
    main()
