"""Processes for single analyses: each can be ended at any time, and leaves no memory behind.

They are forked, in about 10 ms, from a process that has loaded everything. That one is forked in turn from the server
before it has threads, and ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from incc.support.signals import fork

MOST_SECONDS = 120
"""Seconds that a job may take before it is ended."""


class LiveJobError(RuntimeError):
    """A job ended without a result; the message says why."""


class Jobs:
    """Runs functions in processes of their own, at most as many at a time as there are CPUs."""

    def __init__(self, load: Callable[[], Any]) -> None:
        """Start the process that others are forked from. To be called before this process has threads.

        Args:
            load: Loads everything that jobs need, in that process, and returns a module with their functions.
        """
        self._control, far = socket.socketpair()
        if fork() == 0:
            self._control.close()
            _serve(far, load)
        far.close()
        self._room = asyncio.Semaphore(len(os.sched_getaffinity(0)))
        self._waiting: list[object] = []

    def before(self, ticket: object) -> int:
        """Return the place of a call of `run` among those that wait for their turn; 0 if it does not wait."""
        return self._waiting.index(ticket) + 1 if ticket in self._waiting else 0

    async def run(self, function: str, *arguments: Any, ticket: object = None) -> Any:
        """Return the result of a function. Cancelling the task ends the process.

        Args:
            function: The function's name.
            arguments: Its arguments.
            ticket: Any object that stands for this call in `before`.

        Raises:
            JobError: The function raised an exception or took too long, or its process ended.
        """
        ticket = ticket or object()
        self._waiting.append(ticket)
        try:
            await self._room.acquire()
        finally:
            self._waiting.remove(ticket)
        try:
            return await self._run(function, arguments)
        finally:
            self._room.release()

    async def _run(self, function: str, arguments: Sequence[Any]) -> Any:
        here, there = Pipe()
        process = 0
        try:
            socket.send_fds(self._control, [b"."], [there.fileno()])
            there.close()
            process = await _receive(here)
            await _in_thread(here.send, (function, arguments))
            async with asyncio.timeout(MOST_SECONDS):  # wait_for may lose a cancellation
                problem, result = await _receive(here)
        except TimeoutError:
            raise LiveJobError(f"it takes more than {MOST_SECONDS} s") from None
        except (EOFError, OSError):
            raise LiveJobError("its process ended") from None
        finally:
            if process and here.closed is False and not here.poll():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)
            here.close()
        if problem:
            raise LiveJobError(problem)
        return result


async def _receive(connection: Connection) -> Any:
    """Return the next object from a connection. Raises EOFError."""
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    loop.add_reader(connection.fileno(), arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(connection.fileno())
    return await _in_thread(connection.recv)


async def _in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of work with a connection, which goes on to its end even if this task is cancelled.

    The thread must not have a connection that is closed, as its descriptor may already be that of another job.
    """
    thread = asyncio.create_task(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        await asyncio.wait([thread])
        raise


def _serve(control: socket.socket, load: Callable[[], Any]) -> None:
    """Fork a process for each connection that arrives, until the server has ended."""
    status = 1
    try:
        functions = load()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes
        while descriptors := socket.recv_fds(control, 1, 1)[1]:
            if fork() == 0:
                control.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(Connection(descriptors[0]), functions)
                break
            os.close(descriptors[0])
        status = 0
    finally:
        os._exit(status)  # this process must not continue as a copy of the server


def _answer(connection: Connection, functions: Any) -> None:
    """Run the function that is asked for in this process, and send its result."""
    with contextlib.suppress(OSError, EOFError):  # nobody waits any more
        connection.send(os.getpid())
        function, arguments = connection.recv()
        try:
            answer = "", getattr(functions, function)(*arguments)
        except Exception as error:
            answer = f"{type(error).__name__}: {' '.join(str(error).split())}", None
        connection.send(answer)
