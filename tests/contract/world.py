"""A host that is a directory: real files, and programs that a case puts there (controller)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.verify.shell import Answer
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.system.process.commands import Commands, Result
from tests.orchestrator.verify.fakes import DEBIAN
from tests.remote_runtime import fakes


class World:
    """A host below ``root``, on which whoever runs the tests may do everything."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = fakes.BlobStore()
        self.later = ExitStack()
        self._programs = root / "programs"
        self._programs.mkdir()

    def path(self, *parts: str) -> str:
        return str(self.root.joinpath(*parts))

    def write(self, name: str, text: str, mode: int = 0o644) -> str:
        """Write a file with the directories above it; its path."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def program(self, name: str, script: str) -> None:
        """Let a shell script stand for a program, for the runtime and for a verify."""
        self.write(f"programs/{name}", f"#!/bin/sh\ncd {self.root}\n{script}", 0o755)

    def blob(self, text: str) -> dict[str, Any]:
        """Content that the controller has."""
        data = text.encode()
        self.store.held[hashlib.sha256(data).hexdigest()] = data
        return fakes.blob(data)

    def remove(self, name: str) -> None:
        """Whatever is there."""
        path = self.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def run(
        self,
        item: Item,
        ready: Callable[[Any], None],
        *,
        meanwhile: Callable[[], object] = lambda: None,
        **options: Any,
    ) -> list[dict[str, Any]]:
        """The events of a push of this resource, which takes a context of its own."""
        door = type("Door", (_Door,), {"directory": str(self._programs)})

        def progress(index: int, action: str) -> None:
            meanwhile()

        context = fakes.context([item], self.store, commands=door, on_progress=progress, **options)
        try:
            registry: Any = _Registry(context, ready)
            return fakes.run_items([item], registry, shared=context)
        finally:
            fakes.close(context)

    def read_all(self, commands: Sequence[bytes]) -> list[Answer]:
        """What this host answers a verify; it says that it is one of Debian's."""
        return [self.answer(command) for command in commands]

    def answer(self, question: bytes) -> Answer:
        """The same of one command."""
        command = question.decode()
        if command in DEBIAN:
            code, out = DEBIAN[command]
            return Answer(code, out.encode(), b"")
        environ = {**os.environ, "PATH": f"{self._programs}:{os.environ['PATH']}", "LC_ALL": "C"}
        done = subprocess.run(["sh", "-c", command], capture_output=True, env=environ)
        return Answer(done.returncode, done.stdout, done.stderr)

    def snapshot(self) -> dict[str, Any]:
        """Every file with its attributes, content and time of change."""
        found = {}
        for directory, directories, names in os.walk(self.root):
            for path in (
                directory,
                *(os.path.join(directory, name) for name in (*directories, *names)),
            ):
                status = os.lstat(path)
                kept = (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns)
                found[path] = (*kept, Path(path).read_bytes() if os.path.isfile(path) else None)
        return found


class _Door(Commands):
    """The real door, on a host that has programs of its own."""

    directory = ""

    def find(self, program: str, path: str | None = None, cwd: str | None = None) -> str:
        return super().find(program, self.directory, cwd) or super().find(program, path, cwd)

    def run(self, argv: Sequence[str], **options: Any) -> Result:  # type: ignore[override]  # passes all on
        return super().run([super().find(argv[0], self.directory) or argv[0], *argv[1:]], **options)


class _Registry(Registry):
    """Hands each provider to the case before anything is asked of it."""

    def __init__(self, context: Any, ready: Callable[[Any], None]) -> None:
        super().__init__(context)
        self._ready = ready

    def _instance(self, type_name: str, name: str) -> Any:
        provider = super()._instance(type_name, name)
        self._ready(provider)
        return provider
