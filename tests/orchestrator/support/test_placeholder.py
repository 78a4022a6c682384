"""Modules that are left out while a library is loaded."""

from __future__ import annotations

import importlib
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


def test_what_was_not_given_is_the_real_one_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a library that comes to want more than it did has it."""
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    with placeholder(NAME, WSGIServer=7):
        module = importlib.import_module(NAME)
        handler = module.WSGIRequestHandler
        assert module.WSGIServer == 7
        assert not hasattr(module, "NoSuchThing")
    assert handler is importlib.import_module(NAME).WSGIRequestHandler


def test_one_below_another_is_the_real_one_for_who_wants_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.delitem(sys.modules, "wsgiref", raising=False)
    with placeholder("wsgiref"), placeholder(NAME, WSGIServer=7):
        module = importlib.import_module(NAME)
        handler = module.WSGIRequestHandler
        assert module.WSGIServer == 7
    assert handler is importlib.import_module(NAME).WSGIRequestHandler


def test_one_above_another_is_the_real_one_with_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.delitem(sys.modules, "wsgiref", raising=False)
    with placeholder("wsgiref"), placeholder(NAME, WSGIServer=7):
        above = importlib.import_module("wsgiref")
        assert not hasattr(above, "NoSuchThing")  # for that the real one is asked
        below = importlib.import_module(NAME)
    assert isinstance(below.WSGIServer, type)
    found: object = vars(importlib.import_module("wsgiref"))["simple_server"]
    assert found is below


def test_who_holds_on_to_it_has_the_real_one_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, as ``import a.b`` leaves it, too."""
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    import wsgiref

    with placeholder(NAME, WSGIServer=7):
        held = importlib.import_module(NAME)
        found: object = vars(wsgiref)["simple_server"].WSGIServer
        assert found == 7
    assert NAME not in sys.modules
    found = vars(wsgiref)["simple_server"].WSGIServer
    assert found is held.WSGIServer is importlib.import_module(NAME).WSGIServer
    assert isinstance(found, type)
