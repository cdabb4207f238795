"""The protection of the server from other pages and other users: host names, origins, a token, limits of size."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 64 << 20
"""The most bytes of a request: a report that is dropped on the page."""

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""A report has its scripts inside, and no access to the server or to the page around it."""


class Guard:
    """Refuses requests that do not come from the page itself, and sets the headers of all answers.

    - `Host` must be an address of the server, so that no other name leads to it (DNS rebinding).
    - `Origin` and `Sec-Fetch-Site` must be the server's own, so that no other page reaches it. Only the page itself may
      be opened from elsewhere, by a link.
    - The cookie must have the token, which the command shows to the user. Without it there is only the form that asks
      for it.
    """

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], cookie: str, token: str, open_paths: Iterable[str] = ()
    ) -> None:
        self._app = app
        self._cookie = cookie
        self._hosts = frozenset(hosts)
        self._token = token
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        problem = self._problem(scope)
        app = PlainTextResponse(f"{problem[1]}\n", problem[0]) if problem else self._app
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            return message if size <= LARGEST_BODY else {"type": "http.disconnect"}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.setdefault("headers", [])
                names = {name.lower() for name, _ in headers}
                for name, value in _HEADERS:
                    if name not in names:
                        headers.append((name, value))
            await send(message)

        await app(scope, limited, with_headers)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the text for a request that is refused."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return 421, "this server has another name"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self._hosts}:
            return 403, "requests from other pages are refused"
        site = headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none") and not (scope["method"] == "GET" and scope["path"] == "/"):
            return 403, "requests from other pages are refused"
        if scope["method"] not in ("GET", "HEAD") and origin is None:
            return 403, "a request without an origin is refused"
        if scope["path"] not in self._open and not self.knows(headers.get("cookie", "")):
            return 401, "the token is missing or wrong; open the address that incc-web has printed"
        return None

    def knows(self, cookies: str) -> bool:
        """Return True if a Cookie header has the token. It may have cookies of other servers on this machine too."""
        return self.is_token(cookie_parser(cookies).get(self._cookie, ""))

    def is_token(self, text: str) -> bool:
        """Return True for the token. It takes the same time for every text."""
        return hmac.compare_digest(text.encode(), self._token.encode())


_HEADERS = (
    (b"content-security-policy", PAGE_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
