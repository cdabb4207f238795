"""The application behind the live page: what the browser asks for, and the results that it may ask for again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from incc.live.jobs import Jobs, LiveJobError
from incc.live.web.guard import REPORT_POLICY, Guard
from incc.live.web.requests import Choices, Exploration, Explored

if TYPE_CHECKING:
    from incc.report import types as t

STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")

MOST_RESULTS = 100
"""The most results that are kept."""

MOST_TEXT = 256 << 20
"""The most characters of all pages that are kept."""

_TICK = 0.1
"""Seconds between two looks at the queue and at the connection."""


class StoredPage(msgspec.Struct, frozen=True):
    """A page that the browser may ask for, and its report."""

    html: str
    report: t.AnalysisReport | None = None


class ComparisonRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to compare results."""

    ids: tuple[str, ...]
    labels: tuple[str, ...]


class LivePage:
    """The state of the server: what it offers, and its last results."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs
        self.results: OrderedDict[str, StoredPage] = OrderedDict()
        self._text = 0
        self._choices: asyncio.Task[Choices] | None = None

    def keep(self, result: StoredPage) -> str:
        """Keep a result, and return the name that the browser asks for it by, which cannot be guessed."""
        name = secrets.token_urlsafe(16)
        self.results[name] = result
        self._text += len(result.html)
        while len(self.results) > 1 and (len(self.results) > MOST_RESULTS or self._text > MOST_TEXT):
            self._text -= len(self.results.popitem(last=False)[1].html)
        return name

    async def choices(self, request: Request) -> Response:
        """Answer with what the page offers."""
        if self._choices is None:
            self._choices = asyncio.create_task(self.jobs.run("choices"))
        return _json(await asyncio.shield(self._choices))

    async def explore(self, request: Request) -> Response:
        """Answer with lines of JSON: the place in the queue whenever it changes, then the result."""
        try:
            exploration = msgspec.json.decode(await request.body(), type=Exploration)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return PlainTextResponse(f"{error}\n", 400)
        return StreamingResponse(self._explored(request, exploration), media_type="application/x-ndjson")

    async def _explored(self, request: Request, exploration: Exploration) -> AsyncIterator[bytes]:
        with tempfile.TemporaryDirectory(prefix="incc-web-", ignore_cleanup_errors=True) as folder:
            ticket = object()
            task = asyncio.create_task(self.jobs.run("explore", exploration, folder, ticket=ticket))
            await asyncio.sleep(0)  # it takes its place
            try:
                before = -1
                while not task.done():
                    now = self.jobs.before(ticket)
                    if now != before:
                        before = now
                        yield _line({"waiting": now})
                    await asyncio.wait([task], timeout=_TICK)
                    if await request.is_disconnected():
                        return
                yield _line(self._answer(task))
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, LiveJobError):
                    await task

    def _answer(self, task: asyncio.Task[Explored]) -> dict[str, Any]:
        try:
            explored = task.result()
        except LiveJobError as error:
            explored = Explored(problem=str(error))
        name = self.keep(StoredPage(explored.html, explored.report)) if explored.html else ""
        kernels = [
            kernel_summary(unit, kernel)
            for unit in (explored.report.units if explored.report else ())
            for kernel in unit.kernels
        ]
        return {
            "result": name,
            "problem": explored.problem,
            "messages": explored.messages,
            "command": explored.command,
            "kernels": kernels,
        }

    async def compare(self, request: Request) -> Response:
        """Answer with the name of the page that compares several results."""
        try:
            comparison = msgspec.json.decode(await request.body(), type=ComparisonRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return PlainTextResponse(f"{error}\n", 400)
        reports = [self.results[name].report for name in comparison.ids if name in self.results]
        if len(reports) < 2 or len(reports) != len(comparison.labels) or None in reports:
            return PlainTextResponse("two results at least are needed, and a label for each\n", 404)
        try:
            html = await self.jobs.run("compare", reports, comparison.labels)
        except LiveJobError as error:
            return _json({"result": "", "problem": str(error)})
        return _json({"result": self.keep(StoredPage(html)), "problem": ""})

    async def show(self, request: Request) -> Response:
        """Answer with the name of the page of a report in JSON, the body of the request."""
        try:
            html = await self.jobs.run("show", (await request.body()).decode("utf-8", "replace"))
        except LiveJobError as error:
            return _json({"result": "", "problem": str(error).partition(": ")[2] or str(error)})
        return _json({"result": self.keep(StoredPage(html)), "problem": ""})

    async def report(self, request: Request) -> Response:
        """Answer with the page of a result."""
        result = self.results.get(request.path_params["name"])
        if result is None:
            return PlainTextResponse("this result is no longer kept; run it again\n", 404)
        return HTMLResponse(result.html, headers={"content-security-policy": REPORT_POLICY})


def kernel_summary(unit: t.UnitReport, kernel: t.KernelReport) -> dict[str, Any]:
    """Return what the page itself shows of a kernel; its report has the rest."""
    return {
        "core": unit.model.name,
        "name": kernel.name,
        "function": kernel.overview.function,
        "line": kernel.source.line if kernel.source else kernel.first_line,
        "lines": sorted(
            {i.source.line for i in kernel.instructions if i.source} or {i.line for i in kernel.instructions}
        ),
        "role": kernel.role.name,
        "cycles": kernel.cycles,
        "per_element": kernel.elements.cycles if kernel.elements else None,
        "limit": kernel.overview.limit,
        "vector": kernel.overview.vector,
        "verdict": kernel.verdict,
        "hints": [hint.text for hint in kernel.hints],
        "mnemonics": sorted({i.text.split()[0] for i in kernel.instructions if i.text}),
        "changes": [{"text": change.text, "cycles": change.cycles} for change in kernel.what_ifs if change.asked],
        "levels": [{"name": level.name, "cycles": level.cycles} for level in kernel.data.levels] if kernel.data else [],
    }


def make_app(jobs: Jobs, token: str, hosts: Iterable[str], port: int) -> Guard:
    """Return the application.

    Args:
        jobs: The processes for `explore`, `compare`, `show` and `choices` (driver/exploring/analysis.py).
        token: The token that the browser must have.
        hosts: The values of `Host` that lead to the server, such as "127.0.0.1:8000".
        port: The port of the server.
    """
    page = LivePage(jobs)
    cookie = f"incc-{port}"  # browsers send cookies to all ports of a host

    async def index(request: Request) -> Response:
        given = request.query_params.get("token")
        if given is not None:
            answer = RedirectResponse("/", 303)
            if guard.is_token(given):
                # A link from elsewhere to the page may have the cookie; the guard refuses all else from elsewhere.
                answer.set_cookie(cookie, given, httponly=True, samesite="lax")
            return answer
        if guard.knows(request.headers.get("cookie", "")):
            return FileResponse(os.path.join(STATIC, "index.html"))
        return FileResponse(os.path.join(STATIC, "token.html"), 401)

    routes = [
        Route("/", index),
        Route("/choices", page.choices),
        Route("/explore", page.explore, methods=["POST"]),
        Route("/compare", page.compare, methods=["POST"]),
        Route("/show", page.show, methods=["POST"]),
        Route("/report/{name}", page.report),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    guard = Guard(Starlette(routes=routes), hosts, cookie, token, ("/", "/static/live.css", "/static/token.js"))
    return guard


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _line(value: Any) -> bytes:
    return msgspec.json.encode(value) + b"\n"
