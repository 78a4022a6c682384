"""Fixtures that every test may use; lab hosts and browsers start only when a test asks for them."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from tests import long_form, own_lock
from tests.browser import browser
from tests.lab.fixtures import host, hosts, lab, needs_lab

if TYPE_CHECKING:
    from tests.whole_files import WholeFiles

__all__ = ["browser", "host", "hosts", "lab", "needs_lab"]


def pytest_configure() -> None:
    """Keep the pushes of this process to this machine apart from those of others.

    What is started hears Ctrl-C and the end of a terminal, also where the tests run in the
    background of a shell, and keeps the modules that it compiles: commands are started some
    thousand times.
    """
    gc.disable()  # until all tests are collected: millions of objects, all of which stay
    own_lock.take()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup, which the tests outlast
        signal.signal(signal.SIGHUP, lambda number, frame: None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of the long form.

    Begin with the files whose tests take minutes each: begun last, they would run alone.
    """
    long_form.leave_out(config, items)
    items.sort(key=lambda item: item.get_closest_marker("begun_first") is None)


def pytest_collection_finish() -> None:
    """Look for garbage again, but never among what was collected."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test that leaves this process in another working directory, and go back."""
    yield
    home = str(item.config.invocation_params.dir)
    try:
        here = os.getcwd()
    except FileNotFoundError as error:
        here = str(error)
    if here != home:
        os.chdir(home)
        pytest.fail(f"the working directory was {here} after the test, not {home}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WholeFiles | None:
    """Keep the tests of a file together, as ``--dist loadfile`` does, whatever becomes of one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.whole_files import WholeFiles

    return WholeFiles(config, log)
