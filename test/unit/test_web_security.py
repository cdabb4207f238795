"""Attempts to reach the machine through incc-web, as docs/security.md lists them."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.exploring.options import allowed_options, is_allowed, option_names
from incc.driver.exploring.sandbox import CPU_SECONDS
from incc.support.errors import AnalysisError
from web_client import TRIAD, Server, running

SECRET = "cae0b5b4-secret"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a file that nothing may read."""
    path = tmp_path / "secret.h"
    path.write_text(f"{SECRET}\n")
    return path


@pytest.mark.parametrize("cookie", [None, "{}=", "{}=wrong", "other=x", "{}=\x80", "{}=a; {}=b"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/choices"), ("POST", "/explore"), ("POST", "/compare"), ("POST", "/show"), ("GET", "/report/x"),
     ("GET", "/static/page.js"), ("GET", "/")],
)  # fmt: skip
def test_nothing_is_answered_without_the_token(server: Server, method: str, path: str, cookie: str | None) -> None:
    cookie = cookie.replace("{}", server.cookie) if cookie else None
    status, _, body = server.request(method, path, "{}" if method == "POST" else None, Cookie=cookie)
    assert status == 401
    assert b"page.js" not in body


def test_the_token_becomes_a_cookie_that_scripts_cannot_read(server: Server) -> None:
    status, headers, _ = server.request("GET", f"/?token={server.token}", Cookie=None, Origin=None)
    assert (status, headers["location"]) == (303, "/")
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=lax" in headers["set-cookie"]
    assert "set-cookie" not in server.request("GET", "/?token=wrong", Cookie=None, Origin=None)[1]


def test_cookies_of_other_servers_on_this_machine_do_no_harm(server: Server) -> None:
    with running() as other:
        assert other.cookie != server.cookie
        for cookies in (f"{other.cookie}={other.token}", 'x={"a": [1, 2]}; y=ä; =', "z", "incc=x"):
            assert server.request("GET", "/choices", Cookie=f"{cookies}; {server.cookie}={server.token}")[0] == 200
            assert server.request("GET", "/choices", Cookie=cookies)[0] == 401


@pytest.mark.parametrize("host", ["example.org", "example.org:80", "127.0.0.1", "127.0.0.1:1", "", None])
def test_other_names_do_not_lead_to_the_server(server: Server, host: str | None) -> None:
    assert server.request("GET", "/choices", Host=host)[0] in (400, 421)


@pytest.mark.parametrize("origin", ["http://example.org", "null", "https://127.0.0.1", "http://127.0.0.1:1", ""])
def test_other_pages_are_refused(server: Server, origin: str) -> None:
    for method, path in (("GET", "/choices"), ("POST", "/explore")):
        assert server.request(method, path, "{}", Origin=origin)[0] == 403


def test_requests_without_an_origin_change_nothing(server: Server) -> None:
    assert server.request("POST", "/explore", "{}", Origin=None)[0] == 403
    assert server.request("GET", "/choices", Origin=None, Sec_Fetch_Site="cross-site")[0] == 403
    assert server.request("GET", "/choices", Origin=None, Sec_Fetch_Site="same-site")[0] == 403
    assert server.request("GET", "/", Origin=None, Sec_Fetch_Site="cross-site")[0] == 200  # a link to the page


def test_pages_cannot_reach_beyond_themselves(server: Server) -> None:
    policy = server.request("GET", "/")[1]["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    report = server.request("GET", f"/report/{server.explore(TRIAD)['result']}")[1]["content-security-policy"]
    assert report.startswith("sandbox allow-scripts; default-src 'none'")
    assert "connect-src" not in report


REACHING = """
-fplugin=x.so -fpass-plugin=x.so -fplugin-arg-x-y=z -o -ofile -o/tmp/x -include -imacros -include/etc/passwd
@file -specs=x --specs=x -B. -B -wrapper -Xclang -load -Xassembler -Xlinker -Xpreprocessor -Wl,-x -Wa,-x
-Wp,-include,x -I. -I/etc -iquote -isystem -L. -lfoo -E -S -M -MD -MF -MMD -save-temps -save-temps=obj
-fdump-tree-all -fdump-rtl-all=x -fopt-info -fopt-info-vec=x -fsave-optimization-record
-foptimization-record-file=x -fprofile-use=x -fprofile-generate -fprofile-arcs -fauto-profile=x
-ftest-coverage -ftime-trace -ftime-trace=x -fmodules -fmodule-file=x -fmodule-map-file=x
-fdebug-prefix-map=a=b -ffile-prefix-map=a=b -fcallgraph-info -fstack-usage -fuse-ld=x -fsanitize=address
-fsanitize-ignorelist=x -mllvm -mlink-builtin-bitcode -mllvm=-load=x -mmlir -mlir-print-ir-tree-dir=x
-module-dir -module-file-info -module-dependency-dir -dumpdir -dumpbase -x -xc - -- a.c
/etc/passwd --sysroot=/ -isysroot --gcc-toolchain=x -gcc-toolchain --config=x -ccc-gcc-name -### -v -pipe
-fintegrated-cc1-path=x -ivfsoverlay -working-directory=/ -fembed-bitcode -flto -fwhole-program-vtables
-gsplit-dwarf -gsplit-dwarf=single -P -C --param=x=/etc -Ofast/../x -std=/etc -march=/etc/x -mtune=a/b
-fvisibility=/x -J/tmp -J -fc-prototypes -fintrinsic-modules-path=/tmp --analyze-json=x -analyze --analyze
--measure
"""


@pytest.mark.parametrize("option", [*REACHING.split(), "-DX=1\0", ""])
def test_options_that_reach_files_or_programs_are_refused(option: str) -> None:
    assert not is_allowed(option)


@given(st.text(alphabet="-fmOWDgUIBox=@/.,:abcdeplugin+0123456789 '\"\\", max_size=40))
def test_no_text_of_options_names_a_file(text: str) -> None:
    try:
        words = allowed_options(text)
    except AnalysisError:
        return
    for word in words:
        assert word.startswith("-")
        assert word.startswith("-D") or ("/" not in word and "@" not in word and not re.match("-[oIBLxiJ]", word))


HARMLESS = """
-O3 -Ofast -march=x86-64-v4 -mprefer-vector-width=512 -fno-math-errno -funroll-loops -DN=100 -DF(x)=x*x
-std=c++20 -Wall -Wno-unused -g -fopenmp-simd --param=max-unroll-times=4 -ffp-contract=off -mavx2 -m32
-mcpu=neoverse-v2 -fveclib=libmvec -w -ftree-vectorize -fno-tree-loop-distribute-patterns -fno-jump-tables
-floop-nest-optimize -fno-optimize-sibling-calls
"""


@pytest.mark.parametrize("option", HARMLESS.split())
def test_options_that_change_code_are_allowed(option: str) -> None:
    assert is_allowed(option)


def test_options_that_are_proposed_exist() -> None:
    compilers = [name for name in ("gcc", "clang", "clang-19", "clang-16", "clang-14") if shutil.which(name)]
    if len(compilers) < 2:
        pytest.skip("gcc and clang are needed")
    names = option_names()
    known = set()
    for compiler in compilers:
        command = [compiler, "-fsyntax-only", "-xc", *names, *(f"{name}=x" for name in names), os.devnull]
        text = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}).stderr
        unknown = re.findall(r"(?:unrecognized command-line option|unknown argument:?) '([^']+)'", text)
        known |= {name for name in names if name not in unknown or f"{name}=x" not in unknown}
    assert known == set(names)


@pytest.mark.parametrize("compiler", ["/bin/sh", "sh", "../gcc", "gcc -fplugin=x", "incc", "", "env", "gcc\0"])
def test_only_compilers_of_the_list_are_started(server: Server, compiler: str) -> None:
    asked = {"source": TRIAD, "language": "c", "compiler": compiler, "options": ""}
    answer = json.loads(server.request("POST", "/explore", asked)[2].splitlines()[-1])
    assert "there is no compiler" in answer["problem"]


SOURCES = {
    "include": '#include "{}"',
    "macro": '#define FILE "{}"\n#include FILE',
    "next": '#include_next "{}"',
    "system": "#include <{}>",
    "upwards": '#include "../../../../../../../..{}"',
    "embed": 'const char x[] = {{\n#embed "{}"\n}};',
    "marker": '# 1 "{}"\nint x = y;',
    "line": '#line 1 "{}"\nint x = y;',
    "incbin": 'asm(".incbin \\"{}\\"");',
    "assembler": 'asm(".include \\"{}\\"");',
    "pragma": '#pragma GCC dependency "{}" x',
    "poison": '#pragma GCC system_header\n#include "{}"',
    "push": '#pragma GCC pch_preprocess "{}"',
    "environment": '#include "/proc/self/environ"\n// {}',
    "parent": f'#include "/proc/{os.getpid()}/environ"\n// {{}}',
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_no_file_of_the_user_is_read(server: Server, kind: str, language: str, secret: Path) -> None:
    names = [c["name"] for c in server.choices()["compilers"] if language in c["languages"]]
    newest = {"clang" in name: name for name in reversed(names)}
    for compiler in newest.values():
        answer = server.explore(f"{SOURCES[kind].format(secret)}\n{TRIAD}", language, compiler)
        shown = json.dumps(answer).replace(str(secret), "")
        if answer["result"]:
            shown += server.request("GET", f"/report/{answer['result']}")[2].decode()
        assert SECRET not in shown
        assert "PATH=" not in shown


def test_that_a_file_exists_is_not_told(server: Server, secret: Path) -> None:
    source = '#if __has_include("{}")\n#error there\n#endif\n' + TRIAD
    assert "there" not in json.dumps(server.explore(source.replace("{}", str(secret))))


@pytest.mark.parametrize("text", ["include '{}'", '      include "{}"'])
def test_no_file_is_read_by_fortran(server: Server, text: str, secret: Path) -> None:
    if not any("fortran" in compiler["languages"] for compiler in server.choices()["compilers"]):
        pytest.skip("no gfortran")
    answer = server.explore(f"{text.format(secret)}\nend\n", "fortran")
    assert SECRET not in json.dumps(answer)


@pytest.mark.parametrize("text", ['.include "{}"', '.incbin "{}"', '.macro m\n.include "{}"\n.endm\nm'])
def test_no_file_is_read_by_assembly(server: Server, text: str, secret: Path) -> None:
    answer = server.explore(f"{text.format(secret)}\naddl $1, %eax\n", "assembly")
    shown = json.dumps(answer)
    if answer["result"]:
        shown += server.request("GET", f"/report/{answer['result']}")[2].decode()
    assert SECRET not in shown


def test_headers_beyond_those_of_the_system_are_refused(server: Server) -> None:
    file = next(path for path in ("/usr/share/common-licenses/GPL-3", "/etc/passwd") if os.path.exists(path))
    answer = server.explore(f'#include "{file}"\n{TRIAD}')
    assert not answer["result"]
    assert server.explore(f"#include <math.h>\n#include <stdint.h>\n{TRIAD}")["result"]


def test_nothing_that_is_typed_runs(server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    source = f'__attribute__((constructor)) void g(void) {{ __builtin_system("touch {mark}"); }}\n{TRIAD}'
    server.explore(source)
    assert not mark.exists()
    assert server.request("POST", "/explore", {"source": TRIAD, "language": "c", "measure": True})[0] == 400


REACHING_OUT = """
import os, socket, sys
from incc.support.confined import confine_process
tcp, unix = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
unix.bind(f"\\0incc-{os.getpid()}")
unix.listen()
attempts = {
    "connect": lambda: socket.create_connection(tcp.getsockname()),
    "listen": lambda: socket.create_server(("127.0.0.1", 0)),
    "abstract": lambda: socket.socket(socket.AF_UNIX).connect(unix.getsockname()),
    "signal": lambda: os.kill(os.getppid(), 0),
    "parent": lambda: open(f"/proc/{os.getppid()}/environ"),
    "memory": lambda: open(f"/proc/{os.getppid()}/mem", "rb+"),
}
attempts[sys.argv[1]]()
if os.fork() == 0:
    confine_process("true", os.environ, sys.argv[2])
    try:
        attempts[sys.argv[1]]()
    except PermissionError:
        print("refused")
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""


def landlock_version() -> int:
    return int(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


@pytest.mark.parametrize(
    ("kind", "version"),
    [("connect", 4), ("listen", 4), ("abstract", 6), ("signal", 6), ("parent", 1), ("memory", 1)],
)  # fmt: skip
def test_a_confined_process_reaches_no_other_and_no_network(kind: str, version: int, tmp_path: Path) -> None:
    if landlock_version() < version:
        pytest.skip("this kernel's Landlock is too old")
    done = subprocess.run([sys.executable, "-c", REACHING_OUT, kind, tmp_path], capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stderr


LIMITED = """
import os, sys, tempfile
from incc.driver.exploring import analysis, sandbox
from incc.live.web.requests import Exploration
sandbox.CPU_SECONDS, sandbox.MEMORY, sandbox.FILE = 2, 1 << 30, 1 << 20
with tempfile.TemporaryDirectory() as folder:
    if os.fork() == 0:
        asked = Exploration(source=sys.stdin.read(), language=sys.argv[2], compiler=sys.argv[1])
        answer = analysis.explore(asked, folder)
        print(answer.problem or "no problem")
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize(
    ("language", "source"),
    [
        # Time, memory and the size of files.
        ("c++", "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nstatic_assert(f(40) > 0);"),
        ("c++", "template <int n> struct S : S<n - 1>, S<n - 2> {}; S<800> s;"),
        ("c", '#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\nchar *s = B(B("x"));'),
        ("c", "int a[1 << 27] = {[0 ... (1 << 27) - 1] = 1};"),
    ],
)
def test_a_compilation_has_limits(server: Server, language: str, source: str) -> None:
    compiler = next(c["name"] for c in server.choices()["compilers"] if language in c["languages"])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, compiler, language], input=source, capture_output=True, text=True
    )
    assert done.stdout.strip() != "no problem"


SHOWN = """
import contextlib, resource
from incc.driver.exploring import analysis, sandbox
with contextlib.suppress(Exception):
    analysis.show("{}")
print(resource.getrlimit(resource.RLIMIT_AS)[1] <= sandbox.MEMORY, resource.getrlimit(resource.RLIMIT_CPU)[1])
"""


def test_a_report_that_is_dropped_has_limits() -> None:
    done = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True)
    assert done.stdout == f"True {CPU_SECONDS}\n"


def test_the_memory_for_results_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    from incc.live.web import app

    monkeypatch.setattr(app, "MOST_TEXT", 100)
    page = app.LivePage(None)  # type: ignore[arg-type]
    names = [page.keep(app.StoredPage("x" * size)) for size in (40, 40, 30, 10)]
    assert [name in page.results for name in names] == [False, True, True, True]
    large = page.keep(app.StoredPage("x" * 1000))
    assert list(page.results) == [large], "the last one is always kept"
    for size in (60, 30):
        page.keep(app.StoredPage("x" * size))
    assert len(page.results) == 2


def test_the_size_of_a_request_is_limited(server: Server) -> None:
    assert server.request("POST", "/explore", {"source": "x" * 600_000, "language": "c"})[0] == 400
    assert server.request("POST", "/explore", {"source": TRIAD, "language": "c", "options": "-O3 " * 1000})[0] == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b'{"source": 1}', b'{"source": "", "language": "d"}']
)
def test_damaged_requests_are_refused(server: Server, body: bytes) -> None:
    for path in ("/explore", "/compare"):
        status, headers, text = server.request("POST", path, body)
        assert (status, headers["content-type"].partition(";")[0]) == (400, "text/plain")
        assert b"Traceback" not in text
    answer = json.loads(server.request("POST", "/show", body)[2])
    assert answer["problem"]
    assert not answer["result"]


def test_text_that_is_typed_is_no_markup(server: Server) -> None:
    source = "void f(double *a) { for (int i = 0; i < 99; i++) a[i] += 1; /* </script><script>alert(1)</script> */ }\n"
    answer = server.explore(source)
    assert b"<script>alert(1)" not in server.request("GET", f"/report/{answer['result']}")[2]


@pytest.mark.parametrize(
    "path", ["/static/../guard.py", "/static/%2e%2e/guard.py", "/static//etc/passwd", "/report/../x"]
)
def test_other_files_are_not_served(server: Server, path: str) -> None:
    assert server.request("GET", path)[0] in (400, 404)
