"""A server of incc-web in a process of its own, and requests to it."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

TRIAD = "void f(double *a, double *b, long n) { for (long i = 0; i < n; i++) a[i] += b[i]; }\n"


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.base, self.token = address.split("/?token=")
        self.host = self.base.removeprefix("http://")
        self.cookie = f"incc-{self.host.rpartition(':')[2]}"

    def request(
        self, method: str, path: str, body: Any = None, **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request as the page would, with changes to its headers; None leaves one out."""
        connection = http.client.HTTPConnection(self.host, timeout=120)
        sent = {"Cookie": f"{self.cookie}={self.token}", "Origin": self.base, "Host": self.host}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}  # type: ignore[misc]
        data = body if isinstance(body, (bytes, str, type(None))) else json.dumps(body)
        connection.putrequest(method, path, skip_host=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None:
            encoded = data.encode() if isinstance(data, str) else data
            connection.putheader("Content-Length", str(len(encoded)))
            connection.endheaders(encoded)
        else:
            connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def explore(self, source: str, language: str = "c", compiler: str = "", **more: Any) -> dict[str, Any]:
        """Return the answer to an exploration, by the first compiler of the language."""
        if not compiler and language != "assembly":
            compiler = next(c["name"] for c in self.choices()["compilers"] if language in c["languages"])
        asked = {"source": source, "language": language, "compiler": compiler, "options": "-O3", **more}
        status, _, body = self.request("POST", "/explore", asked)
        assert status == 200, body
        answer: dict[str, Any] = json.loads(body.splitlines()[-1])
        return answer

    def choices(self) -> dict[str, Any]:
        """Return what the page offers."""
        found: dict[str, Any] = json.loads(self.request("GET", "/choices")[2])
        return found


@contextmanager
def running(*options: str) -> Iterator[Server]:
    """Start a server and end it. Skips without one of its libraries, or a compiler."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    command = ["incc-web", "--no-browser", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield Server(process, process.stderr.readline().split()[1])
        finally:
            process.terminate()
