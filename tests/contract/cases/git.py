"""Checkouts of repositories that are next to them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.contract.scenario import PASSWORD, SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.git.repositories import Web, git, repository, with_ssh


def _source(world: World) -> tuple[str, list[str]]:
    path = world.path(f"{SECRET}.git")
    return path, repository(path, "one", "two")


def _breaks(path: str, other: str) -> dict[str, Callable[[], object]]:
    """How to undo a checkout; ``other`` is another commit of its repository."""

    def gone() -> None:
        shutil.rmtree(path)

    return {
        "type": gone,
        "url": lambda: git("-C", path, "remote", "set-url", "origin", "/elsewhere"),
        "commit": lambda: git("-C", path, "checkout", "-q", "--detach", other),
    }


def _plain(path: str, commits: list[str]) -> dict[str, Callable[[], object]]:
    return _breaks(path, commits[0])


def cloned(world: World) -> Scenario:
    """A checkout of a branch that is not there yet."""
    (url, commits), path = _source(world), world.path("app")
    properties = {"url": url, "ref": "main", "submodules": False}
    return Scenario(path, properties, _plain(path, commits))


def of_the_default_branch(world: World) -> Scenario:
    """A repository without a ref, whose default branch is checked out."""
    (url, commits), path = _source(world), world.path("app")
    return Scenario(path, {"url": url, "submodules": False}, _plain(path, commits))


def updated(world: World) -> Scenario:
    """A checkout that is behind its branch."""
    (url, commits), path = _source(world), world.path("app")
    git("clone", "-q", url, path)
    git("-C", path, "reset", "-q", "--hard", commits[0])
    git("-C", path, "update-ref", "refs/remotes/origin/main", commits[0])
    properties = {"url": url, "ref": "main", "submodules": False}
    return Scenario(path, properties, _plain(path, commits))


def of_a_commit(world: World) -> Scenario:
    """One commit, which is not that of a branch."""
    (url, commits), path = _source(world), world.path("app")
    os.mkdir(path)
    properties = {"url": url, "ref": commits[0], "depth": 1, "submodules": False}
    breaks = _breaks(path, commits[1])

    def moved() -> None:
        git("-C", path, "fetch", "-q", url, commits[1])
        git("-C", path, "update-ref", "refs/tags/known", commits[1])
        git("-C", path, "checkout", "-q", "--detach", commits[1])

    return Scenario(path, properties, {**breaks, "commit": moved})


def over_ssh(world: World) -> Scenario:
    """With a key and the key of the host, which are in no file."""
    (url, commits), path = _source(world), world.path("app")
    with_ssh(world.path("programs"), f"{PASSWORD}-key")
    properties = {
        "url": f"git.example.net:{url}",
        "ref": "main",
        "submodules": False,
        "ssh_key": f"-----BEGIN PRIVATE KEY-----\n{PASSWORD}-key\n-----END PRIVATE KEY-----",
        "known_host": "ssh-ed25519 HOST",
    }
    return Scenario(path, properties, _plain(path, commits))


def with_token(world: World) -> Scenario:
    """From a server that wants a password."""
    (url, commits), path = _source(world), world.path("app")
    git("-C", url, "update-server-info")
    web = Web(url, "bot", f"{PASSWORD}-token")
    world.later.callback(web.close)
    properties = {
        "url": f"{web.url}/.git",
        "ref": "main",
        "submodules": False,
        "username": "bot",
        "token": f"{PASSWORD}-token",
    }
    return Scenario(path, properties, _plain(path, commits))


def forced(world: World) -> Scenario:
    """Local changes that have to go."""
    (url, _), path = _source(world), world.path("app")
    git("clone", "-q", url, path)

    def changed() -> None:
        Path(path, "app").write_text(SECRET, encoding="utf-8")

    changed()
    properties = {"url": url, "ref": "main", "force": True, "submodules": False}
    breaks = _breaks(path, "HEAD~1")

    def moved() -> None:
        git("-C", path, "checkout", "-q", "--force", "--detach", "HEAD~1")

    return Scenario(path, properties, {**breaks, "commit": moved, "changes": changed})


def absent(world: World) -> Scenario:
    """A checkout that has to go."""
    (url, _), path = _source(world), world.path("app")
    git("clone", "-q", url, path)
    return Scenario(path, {"ensure": "absent"}, {"path": lambda: git("clone", "-q", url, path)})


SCENARIOS = (
    cloned,
    of_the_default_branch,
    updated,
    of_a_commit,
    over_ssh,
    with_token,
    forced,
    absent,
)
