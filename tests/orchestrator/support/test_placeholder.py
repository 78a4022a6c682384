"""Modules that are left out while a library is loaded."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from orchestrator.support.placeholder import placeholder

NAME = "wsgiref.simple_server"  # of the standard library, and of no use here


def test_whoever_asks_meanwhile_gets_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    with placeholder(NAME, WSGIServer=7):
        given: object = importlib.import_module(NAME).WSGIServer
    from wsgiref.simple_server import WSGIServer

    assert given == 7
    assert isinstance(WSGIServer, type)


def test_what_is_loaded_stays() -> None:
    before = sys.modules[__name__]
    with placeholder(__name__, value=7):
        assert sys.modules[__name__] is before
    assert sys.modules[__name__] is before


def test_the_ssh_libraries_load_nothing_for_tests() -> None:
    """It takes a fifth of the time in which they are loaded; who wants it afterwards has it."""
    program = (
        "import sys; from orchestrator.transport import Connector, Credentials, Settings;"
        "Connector(Settings(), Credentials(), None)._ssh();"
        "print('fabric' in sys.modules, 'asyncio' in sys.modules);"
        "from unittest.mock import Mock; print(Mock()())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("True False\n<Mock name="), done.stdout + done.stderr
