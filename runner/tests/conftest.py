"""A test that hangs fails, and says where, so that the run goes on."""

import faulthandler
import signal

import pytest
from fixture import limit_time


@pytest.fixture(autouse=True)
def limit():
    limit_time()
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    faulthandler.cancel_dump_traceback_later()
