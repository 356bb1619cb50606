# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Waits for a job in a thread, so that others can go on."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

from ..errors import Interrupted
from .interrupts import Stop

R = TypeVar("R")


async def outcome(wait: Callable[[], R], stop: Stop) -> R:
    """Return what wait() returns in a thread of its own: the threads of the loop's executor may all wait already.

    Cancelling it ends the waiting, by asking stop; it is cancelled once wait() has returned. If the value had come by then, the
    message names the file that has it: what cancels is often Ctrl-C, which ends the program.
    """
    future: concurrent.futures.Future[R] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()  # so that it always gets a result

    def run() -> None:
        try:
            value = wait()
        except StopIteration as exc:
            future.set_exception(stopped(exc))
        except BaseException as exc:
            future.set_exception(exc)
        else:
            future.set_result(value)

    threading.Thread(target=contextvars.copy_context().run, args=[run], daemon=True).start()
    waiting = asyncio.wrap_future(future)
    try:
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=0.5)  # so that a notebook notices an interrupt
        return waiting.result()
    except asyncio.CancelledError:
        stop.ask()
        try:
            await waiting
        except Interrupted as exc:
            raise asyncio.CancelledError(str(exc)) from None
        except BaseException:
            pass
        raise


def stopped(exc: StopIteration) -> RuntimeError:
    """Return what to raise for a StopIteration, which no coroutine can raise: what Python itself makes of one (PEP 479)."""
    error = RuntimeError("the function raised StopIteration, which await can't raise: result() does")
    error.__cause__ = exc
    return error
