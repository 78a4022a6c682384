"""The secrets of one run: each source is opened once, on first use (controller).

Planning a host collects the sources that it needs and opens them in parallel; see ``collecting``.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Semaphore
from typing import Any

from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.key_sources import KeySources
from orchestrator.secrets.keyring import (
    Keyring,
    SecretSource,
    inline_key,
    located,
    read_bytes,
    unknown_command,
)
from orchestrator.secrets.reference import Reference, parse_reference
from orchestrator.support.background_call import BackgroundCall
from remote_runtime.errors import CcmError

AT_ONCE = 16
"""The number of sources that are opened in parallel."""
PLACEHOLDER = "[secret that is being read]"
Ask = Callable[[Any], Any]
Open = Callable[[], Any]
_wanted: ContextVar[dict[str, Open] | None] = ContextVar("wanted", default=None)


class SecretLookup:
    """Answers ``secret()`` and inline values, for all hosts of a run. Thread-safe.

    ``root`` is the directory of the manifest that is pushed. Errors are the same for every host.
    """

    def __init__(self, keys: KeySources, root: str) -> None:
        self._keyring = Keyring(keys)
        self._project = keys.directory
        self._root = os.path.abspath(root)
        self._lock = Lock()
        self._gate = Semaphore(AT_ONCE)
        self._opened: dict[str, BackgroundCall[Any]] = {}
        self._elsewhere: Ask | None = None

    def __call__(self, text: str, directory: str, is_bounded: bool = False) -> Any:
        """The value of a reference in a manifest of this directory; CcmError.

        ``is_bounded``: the manifest may come from someone else, so it may read only files below its
        directory, unless it belongs to the project.
        """
        reference = _parsed(text)
        if self._elsewhere is not None:
            place = os.path.relpath(directory, self._root)
            question = {"secret": text, "place": place, "bounded": is_bounded}
            return self._once(f"{place} {text}", lambda: self._asked(question))
        if is_bounded:
            self._require_own(reference, directory)
        key, open_source = self._source(reference, directory)
        value = self._once(key, open_source)
        return value.value(reference.path) if isinstance(value, SecretSource) else value

    def inline(self, tag: str, text: str) -> str:
        """The plaintext of an inline value; CcmError."""
        key = inline_key(tag, text)
        if self._elsewhere is not None:
            return str(self._once(key, lambda: self._asked({"inline": text, "tag": tag})))
        return str(self._once(key, lambda: self._inline(tag, text)))

    def whole(self, path: str) -> str:
        """The text of an encrypted data file; CcmError."""
        real = os.path.realpath(path)
        if self._elsewhere is not None:
            place = os.path.relpath(path, self._root)
            return str(self._now(real, lambda: self._asked({"whole": place})))
        text = self._now(real, lambda: self._file(real, path))
        return str(text.value(None))

    def forward_to(self, ask: Ask) -> None:
        """Forward requests to another process, which alone has the keys; ``ask`` returns the result
        of its ``answer``.
        """
        self._elsewhere = ask

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer for another process, as JSON."""
        try:
            if "inline" in question:
                return {"value": self.inline(str(question["tag"]), str(question["inline"]))}
            if "whole" in question:
                return {"value": self.whole(os.path.join(self._root, str(question["whole"])))}
            directory = os.path.normpath(os.path.join(self._root, str(question["place"])))
            return {"value": self(str(question["secret"]), directory, bool(question["bounded"]))}
        except CcmError as error:
            return {"error": [error.message, error.kind, error.advice]}

    def _asked(self, question: Mapping[str, Any]) -> Any:
        assert self._elsewhere is not None
        told = self._elsewhere(question)
        if "error" in told:
            raise SecretError(*told["error"])
        return told["value"]

    def _source(self, reference: Reference, directory: str) -> tuple[str, Open]:
        if reference.is_command:
            if reference.command not in self._keyring.sources.commands:
                raise unknown_command(reference, self._keyring.sources)
            return reference.source, lambda: self._command(reference)
        path = os.path.realpath(located(reference.source, directory, self._project))
        return path, lambda: self._file(path, reference.source)

    def _command(self, reference: Reference) -> SecretSource:
        return self._contents(self._keyring.run(reference), reference.source)

    def _file(self, path: str, name: str) -> SecretSource:
        opened = self._keyring.open_file(read_bytes(path, name), path, name)
        return self._contents(opened, name)

    def _contents(self, data: bytes, name: str) -> SecretSource:
        from orchestrator.secrets.formats import decoded

        return SecretSource(decoded(data, name), name, self._keyring.open_value)

    def _inline(self, tag: str, text: str) -> str:
        from orchestrator.secrets.formats import decoded

        name = "an encrypted value"
        return decoded(self._keyring.open_value(tag, text, name), name)

    def _once(self, key: str, open_source: Open) -> Any:
        """Open a source once and return its value; a placeholder while sources are collected."""
        with self._lock:
            call = self._opened.get(key)
        wanted = _wanted.get()
        if call is None and wanted is not None:
            wanted[key] = lambda: self._begin(key, open_source)
            return PLACEHOLDER
        return (call or self._begin(key, open_source)).wait(None)

    def _now(self, key: str, open_source: Open) -> Any:
        """Open a source once and return its value, never a placeholder."""
        return self._begin(key, open_source).wait(None)

    def _begin(self, key: str, open_source: Open) -> BackgroundCall[Any]:
        def bounded() -> Any:
            """Open the source, if not too many others are being opened."""
            with self._gate:
                return open_source()

        with self._lock:
            call = self._opened.get(key)
            if call is None:
                call = self._opened[key] = BackgroundCall(bounded, "secret")
            return call

    def _require_own(self, reference: Reference, directory: str) -> None:
        """SecretError if a manifest that may come from someone else reads a secret of
        the project.
        """
        if self._project and _is_below(directory, self._project):
            return
        path = located(reference.source, directory, self._project)
        if reference.is_command or not _is_below(path, directory):
            message = f"this manifest may not read the secret {reference.source!r}"
            hint = "only manifests in the project may read it; pass the value in the data of apply"
            raise SecretError(message, "secret.outside", hint)


@contextmanager
def collecting() -> Iterator[dict[str, Open]]:
    """In the block, secrets that are not known yet are placeholders in this thread.

    Yields the missing sources, each with a function that starts opening it. If none is missing, the
    result of the block is complete; otherwise it must be dropped.
    """
    missed: dict[str, Open] = {}
    token = _wanted.set(missed)
    try:
        yield missed
    finally:
        _wanted.reset(token)


def open_all(missed: Mapping[str, Open]) -> None:
    """Open the sources in parallel, and wait for all of them. A failed source raises its error when
    the secret is read.
    """
    calls = [begin() for begin in missed.values()]
    for call in calls:
        try:
            call.wait(None)
        except CcmError:
            continue


def _parsed(text: str) -> Reference:
    try:
        return parse_reference(text)
    except ValueError as error:
        from orchestrator.secrets.reference import SYNTAX

        raise SecretError(f"secret(): {error}", "secret.reference", SYNTAX) from error


def _is_below(path: str, directory: str) -> bool:
    root = os.path.realpath(directory)
    return os.path.commonpath([os.path.realpath(path), root]) == root
