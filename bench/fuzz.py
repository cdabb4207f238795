"""Attacks incc-mca, in both faces: `bench/fuzz.py --seconds 3600` is to print no failure.

What is run is the corpus of test/conformance with its files, options and command lines changed, objects with bits
turned and ends cut off, machine code at random and as text, option mixes with huge numbers, regions by the thousand,
long lines; and, in processes of their own, streams that are closed or full, folders and pipes as files. A failure is a
traceback, a signal, an exit status other than 0, 1 and 2, more than 10 seconds of the processor (or 40 in all), or more
than 1 GiB of memory.

Each run is made of its number alone, its seed, which is printed of what failed:

    bench/fuzz.py --seconds 60                  from seed 0 on; --first N: from N; --runs N: no more than so many
    bench/fuzz.py --seed 1234 [--keep FOLDER]   one run again, its files kept in FOLDER, its output printed

Code under attack is never run: -measure is not among the options.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import pathlib
import random
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "conformance"))

from mca_cases import Case, corpus, run_function  # noqa: E402

SECONDS = 10
WAITED = 4 * SECONDS
MEMORY = 1 << 30
# Address space that programs without any input take: the interpreter and LLVM's library.
MAPPED = 1 << 30
LONGEST = 1_500_000

STREAMS = ("", "", "stdin closed", "stdout closed", "stderr closed", "stdout full", "stderr full", "reader gone")


class Run(NamedTuple):
    """What is run: a case, the face that it is meant for, and for a process of its own what is wrong with its streams,
    None for a run in this one."""

    case: Case
    compat: bool
    streams: str | None


# --- what is run -----------------------------------------------------------------------------------------------------


@functools.cache
def cases() -> list[Case]:
    """The corpus."""
    return list(corpus())


@functools.cache
def option_words() -> list[str]:
    """Options of both faces, with values that are right for some."""
    from incc.driver.llvm_options import TABLE
    from incc.driver.options import MCA, options_of

    words = [f"-{option.name}" for option in TABLE]
    for option in options_of(MCA):
        if option.name != "measure":
            words.append(f"-{option.name}")
            words += [f"-{option.name}={choice.lstrip('=')}" for choice in option.choices() if choice]
    return words


VALUES = (
    "0", "1", "2", "-1", "3", "10", "100", "4294967295", "4294967296", "1000000000000", "99999999999999999999999",
    "0x10", "true", "false", "", "nan", "inf", "1e308", "all", "none", "help", "intel", "att", "skylake", "znver4",
    "native", "skylake,znver3", ",", "btver2", "x86_64", "i386-pc-linux", "aarch64", "+avx512f,-sse", "any", "f", "*",
    "[", "f:3", "3", "a.s:1", "0-10", "0+ffffffffffffffff", "port 5 += 1", "rob = 0", "rob = 100000000", "width = 1000",
    "latency ADD = 1000000000", "-", ".", "/dev/null", "/dev/full", "missing/x", "out.dot", "\x00", "\udcff", "%s%n",
)  # fmt: skip

PIECES = (
    b"# LLVM-MCA-BEGIN", b"# LLVM-MCA-END", b"# OSACA-BEGIN", b"# OSACA-END", b"/*", b"*/", b"//", b";", b"\n", b"\t",
    b".intel_syntax noprefix\n", b".att_syntax\n", b".macro m a,b\n", b".endm\n", b"m m m\n", b".rept 1000000\n",
    b".endr\n", b".include \"a.s\"\n", b".incbin \"/dev/zero\"\n", b".fill 1000000000\n", b".org 0x7fffffffffff\n",
    b".align 1073741824\n", b".p2align 62\n", b".section .text,\"ax\"\n", b".loc 1 999999999\n", b".file 1 \"\"\n",
    b".byte 100,103,144\n", b"movl $111, %ebx\n", b"movl $222, %ebx\n", b".if 1\n", b".endif\n", b".set a, a+1\n",
    b"1:\njmp 1b\n", b"jne .L1\n", b".L1:\n", b"%zmm31{%k7}{z}", b"{1to16}", b"$0xffffffffffffffff",
    b"-9223372036854775808",
    b"(%rax,%rax,8)", b"%st(7)", b"rep", b"lock", b"data16", b"\x00", b"\xff\xfe", b"\xf0\x9f\x98\x80",
    b"\r\n", b"\"", b"'",
    b"((((((((((", b"))))", b"vgatherqpd (%rax,%zmm1,8), %zmm2{%k1}\n", b"call f\n", b"ret\n", b"ud2\n", b"xbegin 1b\n",
    b".irp x,1,2\n", b".irpc x,abc\n", b".err\n", b".end\n", b".code32\n", b".cfi_startproc\n", b".quad 1<<64\n",
)  # fmt: skip


def mutated(dice: random.Random, data: bytes, times: int) -> bytes:
    """Bytes and tokens of it changed, doubled, dropped and moved."""
    text = bytearray(data)
    for _ in range(times):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice((1, 1, 2, 4, 16, 200)))
        kind = dice.randrange(8)
        if kind == 0 and text:
            text[at % len(text)] ^= 1 << dice.randrange(8)
        elif kind == 1 and text:
            text[at % len(text)] = dice.randrange(256)
        elif kind == 2:
            del text[at:end]
        elif kind == 3:
            text[at:at] = text[at:end] * dice.choice((1, 2, 3, 50))
        elif kind in (4, 5):
            text[at:at] = dice.choice(PIECES)
        elif kind == 6:
            other = dice.randrange(len(text) + 1)
            text[other:other] = text[at:end]
        else:
            lines = bytes(text).split(b"\n")
            line = lines.pop(dice.randrange(len(lines)))
            lines.insert(dice.randrange(len(lines) + 1), line)
            text = bytearray(b"\n".join(lines))
        del text[LONGEST:]
    return bytes(text)


_SOURCES = (
    "double f(double *a, double b, long n) { for (long i = 0; i < n; i++) a[i] += b * a[i]; return a[0]; }",
    "int f(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] > 3 ? a[i] : -s; return s; }",
    "void g(char *); void f(char *a, int n) { for (int i = 0; i < n; i++) g(a + i); }",
)


@functools.cache
def objects() -> list[bytes]:
    """Small objects: of C, with and without debug information, and with byte markers."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for number, source in enumerate(_SOURCES):
            for options in (["-O2"], ["-O3", "-g", "-mavx2"], ["-O1", "-gdwarf-4", "-ffunction-sections"]):
                (path / "a.c").write_text(source)
                subprocess.run(["gcc", *options, "-c", "a.c", "-o", f"{number}.o"], cwd=path, check=True)
                found.append((path / f"{number}.o").read_bytes())
        marked = (
            "movl $111, %ebx\n.byte 100,103,144\n1: add $1, %rax\njne 1b\nmovl $222, %ebx\n.byte 100,103,144\nret\n"
        )
        (path / "m.s").write_text(marked)
        subprocess.run(["as", "m.s", "-o", "m.o"], cwd=path, check=True)
        found.append((path / "m.o").read_bytes())
    return found


def changed_object(dice: random.Random) -> bytes:
    data = bytearray(dice.choice(objects()))
    kind = dice.randrange(4)
    if kind == 0:
        del data[dice.randrange(len(data)) :]
    for _ in range(dice.choice((0, 1, 2, 10, 100))):
        # Headers have more to go wrong than what they stand before.
        at = dice.randrange(len(data)) if dice.random() < 0.5 or len(data) < 65 else dice.randrange(64)
        if kind == 1:
            data[at] = dice.choice((0, 0xFF, 0x7F, 0x80))
        elif kind == 2:
            size = dice.choice((2, 4, 8))
            data[at : at + size] = dice.choice((0, 1, -1, 1 << 31, 1 << 20)).to_bytes(9, "little", signed=True)[:size]
        elif data:
            data[at % len(data)] ^= 1 << dice.randrange(8)
        if not data:
            break
    return bytes(data)


def many(dice: random.Random) -> bytes:
    """Much of one thing."""
    count = dice.choice((100, 1000, 3000))
    kind = dice.randrange(7)
    if kind == 0:
        count = min(count, 600)  # what is printed of them grows with the square
        return b"".join(b"# LLVM-MCA-BEGIN r%d\nadd %%eax, %%ebx\n" % n for n in range(count // 10)) + b"".join(
            b"# LLVM-MCA-END r%d\n" % n for n in range(count // 10)
        )
    if kind == 1:
        return b"# LLVM-MCA-BEGIN\nadd %eax, %ebx\n# LLVM-MCA-END\n" * (count // 10)
    if kind == 2:
        return b"# LLVM-MCA-BEGIN x\n# LLVM-MCA-END x\n" * (count * 30)
    if kind == 3:
        return b"add %eax, %ebx # " + b"x" * 1_000_000 + b"\n"
    if kind == 4:
        return b"add %eax, %ebx;" * count
    if kind == 5:
        return b'.ascii "' + b"\\377" * 250_000 + b'"\nadd %eax, %ebx\n'
    return b"a" * 1_000_000 + b":\nadd " + b"(" * 10_000 + b"%eax" + b")" * 10_000 + b", %ebx\n"


def options(dice: random.Random, most: int) -> list[str]:
    """Options at random; values are in the same word or the next."""
    words = []
    for _ in range(dice.randrange(most)):
        word = dice.choice(option_words())
        kind = dice.randrange(4)
        if kind == 0:
            words.append(word)
        elif kind == 1:
            words += [word, dice.choice(VALUES)]
        else:
            words.append(f"{word.partition('=')[0]}={dice.choice(VALUES)}" if kind == 2 else f"-{word}")
    return words


def made(seed: int) -> Run:
    """The run of a seed."""
    dice = random.Random(seed)
    kind = dice.randrange(20)
    compat = dice.random() < 0.5
    streams = dice.choice(STREAMS) if dice.random() < 0.04 else None
    files: dict[str, bytes] = {}
    if kind < 9:
        case = dice.choice(cases())
        files = {
            name: mutated(dice, data, dice.choice((0, 1, 3, 20))) if len(data) < LONGEST else data
            for name, data in case.files.items()
        }
        args, stdin = list(case.args), case.stdin
        if stdin is not None:
            stdin = mutated(dice, stdin, dice.choice((0, 1, 5)))
        if dice.random() < 0.5:
            at = dice.randrange(len(args) + 1)
            args[at:at] = options(dice, 5)
        if dice.random() < 0.2 and args:
            at = dice.randrange(len(args))
            args[at] = os.fsdecode(mutated(dice, os.fsencode(args[at]), 1).replace(b"\0", b"").replace(b"/", b""))
    else:
        cpu = dice.choice(("skylake", "znver4", "btver2", "skylake,znver3", "sapphirerapids"))
        args, stdin = [f"-mcpu={cpu}"], None
        name = "a.s"
        if kind < 13:
            name, data = "a.o", changed_object(dice)
            args += dice.choice(
                ([], ["--auto"], ["--function=f"], ["--address=0+40"], ["--address=3-5", "--address=0-1"])
            )
        elif kind == 13:
            data = dice.randbytes(dice.choice((1, 5, 15, 100, 2000)))
            args.append("--raw")
        elif kind == 14:
            text = dice.randbytes(dice.choice((1, 15, 200))).hex(" ").encode()
            data = mutated(dice, text, dice.choice((0, 0, 3)))
            args.append("--hex")
        elif kind == 15:
            data = many(dice)
        elif kind == 16:
            data = dice.randbytes(dice.choice((10, 1000, 100_000)))
        else:
            data = (
                dice.choice(cases()).files.get(name)
                or b"1:\taddl %eax, %ebx\n\tvmulpd (%rax), %ymm0, %ymm1\n\tjne 1b\n"
            )
            args += options(dice, 12)
        args += options(dice, 3) if dice.random() < 0.5 else []
        if dice.random() < 0.2:
            stdin = data
        else:
            files[name] = data
            args.append(name)
    # Never run what is under attack, nor write elsewhere.
    args = [word for word in args if "measure" not in word and not (word.startswith("/") and word[:5] != "/dev/")]
    if streams is not None:
        args = [
            word.replace("\0", "").encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
            for word in args
        ]
        if dice.random() < 0.2:
            args.append(dice.choice((".", "missing", "pipe", "/dev/null", "/dev/full")))
    return Run(Case(f"seed {seed}", args, stdin, files), compat, streams)


# --- how it is run ---------------------------------------------------------------------------------------------------


def inside(run: Run) -> str:
    """Run it in this process; what is wrong, "" for nothing."""
    from incc.driver.mca import main

    output = run_function(main, ["--compat"] if run.compat else [], run.case)
    return judged(output.status, output.stderr)


def judged(status: int, said: str) -> str:
    if "Traceback (most recent" in said:
        return said[said.index("Traceback (most recent") :].rstrip()[-1500:]
    return "" if status in (0, 1, 2) else f"exit status {status}"


def _limited_apart() -> None:
    _limited()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + MAPPED, MEMORY + MAPPED))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def apart(run: Run, folder: str) -> str:
    """Run it in a process of its own, in a folder that is there; what is wrong, "" for nothing."""
    for name, data in run.case.files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    os.mkfifo(os.path.join(folder, "pipe"))
    program = [sys.executable, "-m", "incc.driver.mca", *(["--compat"] if run.compat else []), *run.case.args]
    closed = {"stdin closed": "<&-", "stdout closed": ">&-", "stderr closed": "2>&-"}.get(run.streams or "", "")
    closed = {"stdout full": ">/dev/full", "stderr full": "2>/dev/full"}.get(run.streams or "", closed)
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *program]
    # Who writes nothing to the pipe, which a reader waits for.
    pipe = os.open(os.path.join(folder, "pipe"), os.O_RDWR | os.O_NONBLOCK) if "pipe" not in run.case.args else -1
    out: int = subprocess.PIPE
    if run.streams == "reader gone":
        gone, out = os.pipe()
        os.close(gone)
    try:
        done = subprocess.run(
            command, cwd=folder, input=run.case.stdin or b"", stdout=out, stderr=subprocess.PIPE, timeout=WAITED,
            preexec_fn=_limited_apart, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        # A pipe without a writer is waited for, as by any tool.
        return "" if "pipe" in run.case.args else f"more than {WAITED} s"
    finally:
        if pipe >= 0:
            os.close(pipe)
        if out >= 0:
            os.close(out)
    if done.returncode < 0 and not (run.streams == "reader gone" and done.returncode == -signal.SIGPIPE):
        return f"signal {-done.returncode}"
    return judged(done.returncode, done.stderr.decode("utf-8", "replace"))


class Worker:
    """A process that makes runs, one seed after the other: it says what was wrong with each."""

    def __init__(self) -> None:
        asks, self.asks = os.pipe()
        self.tells, tells = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.asks)
            os.close(self.tells)
            _limited()
            with contextlib.suppress(BaseException):
                self._serve(asks, tells)
            os._exit(99)
        os.close(asks)
        os.close(tells)

    @staticmethod
    def _serve(asks: int, tells: int) -> None:
        while line := os.read(asks, 100):
            before = time.process_time()
            try:
                wrong = inside(made(int(line)))
            except BaseException as error:
                wrong = f"{type(error).__name__}: {error}"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            if peak > MEMORY:
                wrong = wrong or f"memory: {peak >> 20} MiB"
            if time.process_time() - before > SECONDS:
                wrong = wrong or f"more than {SECONDS} s of the processor"
            data = wrong.encode("utf-8", "replace")
            os.write(tells, len(data).to_bytes(4, "little") + data)
            if peak > MEMORY // 2:
                return  # what is left over of many runs is not the next one's

    def run(self, seed: int) -> tuple[str, bool]:
        """What was wrong, "" for nothing; whether the process can go on."""
        os.write(self.asks, f"{seed}\n".encode())
        if not select.select([self.tells], [], [], WAITED)[0]:
            os.kill(self.pid, signal.SIGKILL)
            self.end()
            return f"more than {WAITED} s", False
        size = os.read(self.tells, 4)
        if len(size) < 4:
            return f"ended: status {self.end():#x}", False
        left, data = int.from_bytes(size, "little"), b""
        while len(data) < left:
            data += os.read(self.tells, left - len(data))
        return data.decode("utf-8", "replace"), True

    def end(self) -> int:
        os.close(self.asks)
        os.close(self.tells)
        return os.waitpid(self.pid, 0)[1]


def fuzz(first: int, runs: int, seconds: float, tell: Callable[[str], None]) -> int:
    """Runs from a seed on; how many failed."""
    # What all workers have need of is loaded once.
    import incc.driver.llvm_face
    import incc.driver.pipeline  # noqa: F401

    cases(), objects(), option_words()
    seed, failed, end = first, 0, time.monotonic() + seconds
    worker: Worker | None = None
    while time.monotonic() < end and seed - first < runs:
        run = made(seed)
        if run.streams is not None:
            with tempfile.TemporaryDirectory() as folder:
                wrong = apart(run, folder)
        else:
            worker = worker or Worker()
            wrong, alive = _again(worker, seed)
            if not alive:
                worker = None
        if wrong:
            failed += 1
            face = "llvm-mca" if run.compat else "incc-mca"
            streams = f" ({run.streams})" if run.streams else ""
            tell(f"seed {seed}{streams}: {face} {shlex.join(run.case.args)}\n  " + wrong.replace("\n", "\n  "))
        seed += 1
    if worker is not None:
        worker.end()
    tell(f"{seed - first} runs from seed {first}, {failed} failed")
    return failed


def _again(worker: Worker, seed: int) -> tuple[str, bool]:
    try:
        return worker.run(seed)
    except BrokenPipeError:
        worker.end()
        return Worker().run(seed)[0], False


def once(seed: int, keep: str) -> int:
    """One run, shown."""
    run = made(seed)
    folder = keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    print(f"in {folder}: incc-mca {'--compat ' if run.compat else ''}{shlex.join(run.case.args)}", flush=True)
    if run.case.stdin is not None:
        pathlib.Path(folder, "stdin").write_bytes(run.case.stdin)
    start = time.monotonic()
    wrong = apart(run, folder)
    print(f"{time.monotonic() - start:.1f} s; {wrong or 'nothing wrong'}")
    if not keep:
        shutil.rmtree(folder)
    return bool(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=1 << 62)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", default="")
    given = parser.parse_args()
    if given.seed is not None:
        return once(given.seed, given.keep)
    return int(fuzz(given.first, given.runs, given.seconds, lambda text: print(text, flush=True)) > 0)


if __name__ == "__main__":
    sys.exit(main())
