"""Package metadata for all hosts of a run and for later runs (controller).

Hosts read packages and report their content; previews of other hosts use it. The cache key is the
SHA-256 that a host's own index has for the package. Only previews use the cache, because the
controller cannot verify it; each receiving host checks its form. Metadata that two hosts report
identically is accepted. With a report from only one host, the predictions of others are assumed, so
a second host reads the package itself. If two reports differ, neither is used.
"""

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.support.atomic_file import replacing
from orchestrator.support.hashing import sha256
from orchestrator.support.plain_text import is_shallow
from orchestrator.support.state_directory import make_private
from remote_runtime.errors import CcmError, ProtocolError
from remote_runtime.protocol import wire

if TYPE_CHECKING:
    from orchestrator.fleet.host.framed_link import FramedLink

WAIT = 10.0  # seconds that a host waits for another one
MAX_REQUESTS = 10_000  # packages of one host, including repeated requests
MAX_CACHED = 2_000  # packages in the directory
MAX_TRACKED = 100_000  # packages of a run: known, disputed, and being read
FREE_SPACE = 64 << 20  # bytes of a run for all that is known
_ENOUGH = 2  # hosts that found the same

_SHA = r"[0-9a-f]{64}\Z"
_encode = json.JSONEncoder(separators=(",", ":")).encode


def is_sha(text: Any) -> bool:
    """Whether this may be the hash of a package."""
    return isinstance(text, str) and re.match(_SHA, text) is not None


def _are_shas(shas: list[Any]) -> bool:
    """Whether these may be the package hashes of one host."""
    return len(shas) <= MAX_REQUESTS and all(map(is_sha, shas))


class Answer(NamedTuple):
    """The known contents of packages, as JSON by their hashes: those in ``known`` were found by two
    hosts or by the requesting host itself, and those in ``alone`` by one other host. The requesting
    host reads the rest itself, including ``to_read``, which no other host is reading.
    """

    known: dict[str, str]
    alone: dict[str, str]
    to_read: list[str]


class _Entry(NamedTuple):
    """Content found by ``hosts``; a second host confirms it."""

    text: str
    hosts: tuple[str, ...]

    def is_known(self, host: str) -> bool:
        return len(self.hosts) >= _ENOUGH or host in self.hosts


class PackageMetadataCache:
    """Thread-safe. There is one file per package in ``directory``; without a directory, the cache
    lasts for the run.

    The metadata of up to ``most`` packages is stored as JSON text, up to ``room`` bytes; hosts read
    other packages themselves. Nothing new is stored once that many packages are disputed. If
    several processes of a run have a cache, all but one forward to that one (``forward_to``).
    """

    def __init__(
        self,
        directory: Path | None = None,
        wait: float = WAIT,
        *,
        space: int = FREE_SPACE,
        most: int = MAX_TRACKED,
    ) -> None:
        self._directory = directory
        self._wait = wait
        self._free_space = space
        self._most = most
        self._known: dict[str, _Entry] = {}
        self._disputed: set[str] = set()
        self._at_it: dict[str, str] = {}
        self._changed = threading.Condition()
        self._elsewhere: _RemoteCache | None = None

    def forward_to(self, ask: Callable[[Any], Any]) -> None:
        """Forward all requests to another cache; ``ask`` returns the result of its ``answer``."""
        self._elsewhere = _RemoteCache(ask)

    def answer(self, question: Any) -> Any:
        """Handle a request of another process, for JSON.

        ProtocolError for an invalid one: a worker on another machine is not trusted.
        """
        match question:
            case ["ask", list(shas), dict(digests), str(host)] if _are_shas(shas):
                *both, to_read = self.ask(shas, host)
                return [
                    *({s: _unless_held(f, digests.get(s)) for s, f in one.items()} for one in both),
                    to_read,
                ]
            case ["tell", sha, str(text), str(host)] if is_sha(sha):
                return self.tell(sha, _checked(text), host)
            case ["compare", sha, str(print_)] if is_sha(sha):
                return self.compare(sha, print_)
            case ["leave", str(host)]:
                return self.leave(host)
        raise ProtocolError("an invalid question about packages")

    def ask(self, shas: Iterable[str], host: str) -> Answer:
        """The known contents of these packages; this host examines the others.

        Waits for other hosts that are reading them, but only for a limited time.
        """
        hashes = list(dict.fromkeys(shas))
        if self._elsewhere is not None:
            return self._elsewhere.known(hashes, host)
        for sha in hashes:
            self._load(sha)
        until = time.monotonic() + self._wait
        with self._changed:
            while True:
                missing = [sha for sha in hashes if not self._is_known(sha, host)]
                others_read = any(self._at_it.get(sha, host) != host for sha in missing)
                seconds = until - time.monotonic()
                if not others_read or seconds <= 0:
                    break
                # The asking host reads packages that no other host reads, once it has the rest.
                self._changed.wait(seconds)
            for sha in set(missing) - self._disputed:
                if len(self._at_it) < self._most:
                    self._at_it.setdefault(sha, host)
            texts = {sha: self._known[sha].text for sha in hashes if sha in self._known}
            mine = [sha for sha in missing if self._at_it.get(sha, host) == host]
        alone = {sha: text for sha, text in texts.items() if sha in missing}
        return Answer({s: t for s, t in texts.items() if s not in alone}, alone, mine)

    def _is_known(self, sha: str, host: str) -> bool:
        entry = self._known.get(sha)
        return entry is not None and entry.is_known(host)

    def tell(self, sha: str, text: str, host: str) -> None:
        """Store the report of a host as JSON; "" means no report."""
        if self._elsewhere is not None:
            return self._elsewhere.tell(sha, text, host)
        with self._changed:
            if self._at_it.get(sha) == host:
                del self._at_it[sha]
            entry = self._known.get(sha)
            if text and entry is not None and entry.text != text:
                self._disputed.add(sha)
                self._forget(sha)
            elif text and self._hold(sha, text, (*(entry.hosts if entry else ()), host)):
                self._keep(sha)
            self._changed.notify_all()

    def compare(self, sha: str, print_: str) -> None:
        """Forget the content of a package if its installation differed."""
        if self._elsewhere is not None:
            return self._elsewhere.compare(sha, print_)
        self._load(sha)
        with self._changed:
            if sha in self._known and _fingerprint(self._known[sha].text) != print_:
                self._forget(sha)

    def _forget(self, sha: str) -> None:
        self._free_space += len(self._known.pop(sha).text)
        if self._directory is not None:
            with contextlib.suppress(OSError):
                (self._directory / f"{sha}.json").unlink()

    def leave(self, host: str) -> None:
        """Discard the pending work of a host whose run has ended."""
        if self._elsewhere is not None:
            return self._elsewhere.leave(host)
        with self._changed:
            self._at_it = {sha: by for sha, by in self._at_it.items() if by != host}
            self._changed.notify_all()

    def _load(self, sha: str) -> None:
        if self._directory is None or sha in self._known:
            return
        try:
            record = json.loads((self._directory / f"{sha}.json").read_text("ascii"))
            text, hosts = record["contents"], tuple(map(str, record["hosts"]))
            if not is_shallow(json.loads(text)):
                return
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return
        with self._changed:
            if sha not in self._known and sha not in self._disputed:
                self._hold(sha, text, hosts)

    def _hold(self, sha: str, text: str, hosts: tuple[str, ...]) -> bool:
        """Store a report if there is room; return whether it was new."""
        entry = _Entry(text, tuple(dict.fromkeys(hosts))[:_ENOUGH])
        before = self._known.get(sha)
        space = self._free_space + (len(before.text) if before else 0) - len(text)
        if entry == before or space < 0 or sha in self._disputed:
            return False
        if len(self._disputed) >= self._most or (before is None and len(self._known) >= self._most):
            return False
        self._free_space = space
        self._known[sha] = entry
        return True

    def _keep(self, sha: str) -> None:
        if self._directory is None:
            return
        with contextlib.suppress(OSError, CcmError):  # only a cache: hosts can report again
            make_private(self._directory)
            with replacing(self._directory / f"{sha}.json") as out:
                text, hosts = self._known[sha]
                out.write(json.dumps({"hosts": hosts, "contents": text}).encode("ascii"))
            paths = sorted(self._directory.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for path in paths[:-MAX_CACHED]:
                path.unlink()


class _RemoteCache:
    """The cache of another process; its answers are stored, so that they are not
    requested again.
    """

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._held: dict[str, str] = {}
        self._free_space = FREE_SPACE
        self._at_work: set[str] = set()

    def known(self, shas: list[str], host: str) -> Answer:
        """The other cache's metadata for these packages, without metadata that is stored here."""
        with self._lock:
            stored = {sha: self._held[sha] for sha in shas if sha in self._held}
        digests = {sha: _digest(content) for sha, content in stored.items()}
        *both, to_read = self._ask(["ask", shas, digests, host])
        known, alone = (
            {sha: stored[sha] if text is None else text for sha, text in texts.items()}
            for texts in both
        )
        with self._lock:
            for sha, text in {**known, **alone}.items():
                self._hold(sha, text)
            if len(known) < len(shas):
                self._at_work.add(host)
        return Answer(known, alone, to_read)

    def tell(self, sha: str, text: str, host: str) -> None:
        """Store the report of a host."""
        self._ask(["tell", sha, text, host])

    def compare(self, sha: str, print_: str) -> None:
        """Discard a report that an installation contradicts."""
        self._ask(["compare", sha, print_])

    def leave(self, host: str) -> None:
        """Report the end of a host's run, if it was reading packages."""
        with self._lock:
            was_at_work = host in self._at_work
            self._at_work.discard(host)
        if was_at_work:
            self._ask(["leave", host])

    def _hold(self, sha: str, text: str) -> None:
        before = self._held.get(sha, "")
        if len(text) - len(before) <= self._free_space:
            self._free_space -= len(text) - len(before)
            self._held[sha] = text


def _checked(text: str) -> str:
    """The JSON text of a report, "" for no report; ProtocolError for an invalid report."""
    if len(text) > wire.MAX_FROM_TARGET:
        raise ProtocolError("a report of a package that is too large")
    try:
        contents = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a report of a package that is not JSON") from error
    if not isinstance(contents, dict) or not is_shallow(contents):
        raise ProtocolError("a report of a package that is not a flat object")
    return _encode(contents) if contents else ""


def _unless_held(text: str, digest: str | None) -> str | None:
    """Return the text, or None if it has this digest."""
    return None if digest == _digest(text) else text


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()


def _fingerprint(text: str) -> str:
    """The fingerprint of a host's report, "" for an invalid one."""
    from remote_runtime.protocol.package_sharing import fingerprint

    try:
        contents = json.loads(text)
        return fingerprint([member[0] for member in contents["members"]], contents["scripts"])
    except (TypeError, LookupError, RecursionError):
        return ""


class HostPackages:
    """The requests and reports of one host, limited to a plausible number."""

    def __init__(
        self, link: "FramedLink", package_metadata: PackageMetadataCache, host: str
    ) -> None:
        self._link = link
        self._package_metadata = package_metadata
        self._host = host
        self._left = MAX_REQUESTS
        self._open: set[str] = set()

    def ask(self, message: wire.Message) -> None:
        """Answer ``packages`` with their known contents."""
        shas = message.get("shas")
        if not isinstance(shas, list) or not all(is_sha(sha) for sha in shas):
            raise ProtocolError("a package request without a list of hashes")
        self._count(shas)
        known, alone, to_read = self._package_metadata.ask(shas, self._host)
        self._open.update(sha for sha in shas if sha not in known)
        members = [
            ",".join(f'"{sha}":{contents}' for sha, contents in one.items())
            for one in (known, alone)
        ]
        parts = [
            f'"known":{{{members[0]}}}',
            f'"alone":{{{members[1]}}}',
            f'"left":{json.dumps(to_read)}',
        ]
        text = f'{{"t":"packages",{",".join(parts)}}}'
        self._link.send_bytes(wire.encode_json(text.encode()))

    def tell(self, message: wire.Message) -> None:
        """Receive ``package`` for a package that the host had to examine, once per package."""
        sha = message.get("sha")
        if not isinstance(sha, str) or sha not in self._open:
            raise ProtocolError("a package that was not requested")
        contents = message.get("contents")
        if contents is not None and not isinstance(contents, dict):
            raise ProtocolError("a package without contents")
        # Other hosts read it, whose interpreters may take less of that than this one.
        if not is_shallow(contents):
            raise ProtocolError("contents that are nested too deeply")
        text = _encode(contents) if contents else ""
        self._open.discard(sha)
        self._package_metadata.tell(sha, text, self._host)

    def confirm(self, message: wire.Message) -> None:
        """Receive ``installed``: the contents of installed packages."""
        prints = message.get("prints")
        if not isinstance(prints, dict) or not all(map(is_sha, [*prints, *prints.values()])):
            raise ProtocolError("an installation without hashes")
        self._count(prints)
        for sha, print_ in prints.items():
            self._package_metadata.compare(sha, print_)

    def _count(self, shas: Collection[str]) -> None:
        """Subtract this number from the messages that the host may still send, which its progress
        limits.
        """
        self._left -= max(len(shas), 1)
        if self._left < 0:
            raise ProtocolError("more packages than a plan has", kind="protocol.flood")

    def close(self) -> None:
        """Let other hosts examine the packages that this host did not report."""
        self._package_metadata.leave(self._host)
