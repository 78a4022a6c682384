"""Reports the failures of a run once: hosts with the same reason are grouped (controller).

The comparison ignores text that varies between hosts: names of hosts, numbers, paths, times. The
text of one host represents its group, together with the varying parts of the others.
"""

import heapq
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet import outcome
from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.grouping import ORDER, applied_by
from orchestrator.report.run_collector import Entry, entry_of
from orchestrator.report.summary_texts import end_reason
from orchestrator.report.text_normalization import without_host_name

if TYPE_CHECKING:
    from orchestrator.fleet.store.stored_runs import ReportSource

MAX_REASON_LENGTH = 1_000  # characters
LAST_LINES = 3  # of a command's output
MAX_LINE_LENGTH = 300
MAX_PART_LENGTH = 40
MAX_PLACES = 8  # of one failure, whose varying parts are stored
MAX_OTHERS = 20  # in each
# One host can add this many failures, and only one more once there are MAX_FAILURES: no host can
# hide the failures of others or fill the memory.
MAX_PER_HOST = 100
MAX_FAILURES = 2_000
MAX_MANIFESTS = 1_000  # of one host, whose failed resources are known to be reported

# Placeholders for varying parts and for the host's own name; plain text does not contain them.
_HOLE, _OWN = "\0", "\1"
_WORD = r"""\w+://[^\s'"`<>]+|[^\s'"`()\[\]{}<>,;=|]+"""
_ENDS = ".:!?"  # of a word, and no part of it
_STATUS = 3  # digits at most: an exit code, a signal, an answer of HTTP
_PATHS = ("/", "./", "../", "~/")


class SharedFailure(NamedTuple):
    """One reason why ``hosts`` failed.

    ``outcome`` and ``kind`` are as in a ``HostResult``; ``resources`` failed on each of these
    hosts, empty if the host itself failed; where their names differ, they contain ``{host}``.
    ``errors`` are those of ``host``, the first one: the reason and the last lines of a command's
    output; all have the same ``exit_code``. It is empty without a known reason. ``texts`` counts
    the different messages; ``others`` has the varying names and numbers by position, at most
    ``MAX_OTHERS``. ``results`` are those of hosts that failed themselves, for the hints.
    """

    outcome: str
    kind: str
    resources: list[str]
    host: str
    errors: tuple[str, ...]
    hosts: list[str]
    exit_code: int | None = None
    texts: int = 1
    others: Sequence[list[str]] = ()
    results: tuple[HostResult, ...] = ()

    @property
    def reason(self) -> str:
        """The reason in one line: for an ``exec``, the last line of its output, otherwise the first
        line of ccm's message."""
        errors, *printed = self.errors or ("",)
        of_command = printed and all(one.startswith("exec#") for one in self.resources)
        lines = printed[0].splitlines()[-1:] if of_command else errors.splitlines()[:1]
        return next(iter(lines), "no reason given").strip()

    def record(self) -> dict[str, Any]:
        """The form in ``--json``."""
        told = self._asdict()
        del told["results"]
        return told


class _Text(NamedTuple):
    """The text of a failure: the common words, and the varying parts."""

    errors: tuple[str, ...]
    common: str
    parts: tuple[str, ...]
    whole: int


class _OpenFailure:
    """A failure that is being collected."""

    def __init__(self, resource: str, host: str, text: _Text) -> None:
        self.resource = resource
        self.host = host
        self.text = text
        self.hosts: dict[str, None] = {}
        self.texts: set[int] = set()
        self.others: list[dict[str, None]] = [{} for _ in text.parts[:MAX_PLACES]]
        self.results: list[HostResult] = []

    def add(self, host: str, text: _Text, names: tuple[str, str]) -> None:
        """Add a host; ``names`` are those of its resource, with and without the host's own."""
        if self.resource not in ("", names[0]):
            self.resource = names[1]
        if host not in self.hosts:
            self.texts.add(text.whole)
        self.hosts[host] = None
        for part, first, others in zip(text.parts, self.text.parts, self.others):
            if part != first and len(others) < MAX_OTHERS:
                others[part] = None


# The key of a group of hosts: outcome, kind, exit code, resource and words.
_Key = tuple[str, str, int | None, str, str]


class Failures:
    """Collects failures, event by event; memory and time are limited, regardless of what hosts
    send.

    ``skipped`` counts the resources that did not run because a required one failed. ``names`` are
    those of the run's hosts.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.skipped = 0
        self._names = frozenset(map(host_in, names))
        self._kept: dict[_Key, _OpenFailure] = {}
        self._begun: dict[str, int] = {}
        self._manifests: dict[str, set[str]] = {}

    def add(self, host: str, entry: Entry) -> None:
        """Add the result of a resource."""
        if entry.status == "skipped" and entry.unmet:
            self.skipped += 1
        if entry.status != "failed":
            return
        told = self._manifests.setdefault(host, set())
        if len(told) < MAX_MANIFESTS:
            told.add(entry.manifest)
        if not entry.health and applied_by(entry) in told - {""}:
            return  # the resources of its manifest have already reported it
        alike = without_host_name(host, entry.resource)
        text = _told(entry.errors, host, self._names)
        key = (outcome.FAILED, "", entry.exit_code, alike, text.common)
        self._put(host, key, text, entry.resource)

    def end(self, result: HostResult) -> None:
        """Add the result of a host, after those of its resources."""
        failed = result.outcome == outcome.FAILED
        if result.outcome == outcome.OK or not result.was_started:
            return
        if failed and not result.message and result.host in self._manifests:
            return
        errors = (end_reason(result),) if result.message or not failed else ()
        text = _told(errors, result.host, self._names)
        key = (result.outcome, result.kind, None, "", text.common)
        self._put(result.host, key, text).results.append(result)

    def _put(self, host: str, key: _Key, text: _Text, resource: str = "") -> _OpenFailure:
        kept = self._kept.get(key)
        if kept is None:
            begun = self._begun.get(host, 0)
            if begun >= (MAX_PER_HOST if len(self._kept) < MAX_FAILURES else 1):
                text = _told((), host, self._names)
                key = (*key[:2], None, "", "")
            self._begun[host] = begun + 1
            kept = self._kept.setdefault(key, _OpenFailure(key[3] and resource, host, text))
        kept.add(host, text, (resource, key[3]))
        return kept

    def __len__(self) -> int:
        return len(self._kept)

    def largest(self, maximum: int) -> list[SharedFailure]:
        """The failures with the most hosts, each resource separately, for repeated calls."""
        found = heapq.nlargest(maximum, self._kept.items(), key=lambda one: len(one[1].hosts))
        return [_failure(key, kept) for key, kept in found]

    def all(self) -> list[SharedFailure]:
        """Each of them, the most hosts first; resources that failed the same way on the same hosts
        are merged.
        """
        result: dict[tuple[object, ...], SharedFailure] = {}
        for key, kept in self._kept.items():
            one = _failure(key, kept)
            like = (*key[:3], not key[3], key[4], tuple(one.hosts))
            first = result.setdefault(like, one)
            if first is not one:
                result[like] = first._replace(resources=first.resources + one.resources)
        return sorted(result.values(), key=_rank)


def _rank(failure: SharedFailure) -> tuple[bool, int, int]:
    return not failure.errors, -len(failure.hosts), ORDER.index(failure.outcome)


def _failure(key: _Key, kept: _OpenFailure) -> SharedFailure:
    return SharedFailure(
        key[0],
        key[1],
        [kept.resource] if kept.resource else [],
        kept.host,
        errors=kept.text.errors,
        hosts=list(kept.hosts),
        exit_code=key[2],
        texts=len(kept.texts),
        others=[list(others) for others in kept.others if others],
        results=tuple(kept.results),
    )


def failures_of(
    entries: Mapping[str, Iterable[Entry]], results: Mapping[str, HostResult]
) -> Failures:
    """The failures of a collected run that has ended."""
    failures = Failures(results)
    for host, of_host in entries.items():
        for entry in of_host:
            failures.add(host, entry)
    for result in results.values():
        failures.end(result)
    return failures


def failures_of_run(run: "ReportSource", results: Iterable[HostResult]) -> Failures:
    """The failures of a stored run; its events are not read if there are none. InputError."""
    failures = Failures(run.about["hosts"])
    bad = [result for result in results if result.outcome != outcome.OK]
    for event, _ in run.events() if bad else ():
        if event["status"] in ("failed", "skipped"):
            failures.add(event["host"], entry_of(event))
    for result in bad:
        failures.end(result)
    return failures


def _told(errors: tuple[str, ...], host: str, names: Collection[str]) -> _Text:
    """A limited part of a host's text, with the form used for comparison."""
    if not errors:
        return _Text((), "", (), 0)
    reason = errors[0][:MAX_REASON_LENGTH]
    last = "\n".join(_last_lines(errors[1:]))
    parts: list[str] = []
    words = _common(host, reason, names=names, parts=parts, statuses=True)
    printed = _common(host, last, names=names, parts=parts, statuses=False)
    told = (reason, last) if last else (reason,)
    return _Text(told, f"{words}\n{printed}", tuple(parts), hash((words, printed, *parts)))


def _last_lines(texts: tuple[str, ...]) -> list[str]:
    """The last lines that a command printed, shortened; blank lines are omitted."""
    lines: list[str] = []
    for text in reversed(texts):
        for line in reversed(text[-LAST_LINES * MAX_REASON_LENGTH :].splitlines()):
            if line.strip() and len(lines) < LAST_LINES:
                lines.insert(0, line[:MAX_LINE_LENGTH])
    return lines


def _common(
    host: str, text: str, *, names: Collection[str], parts: list[str], statuses: bool
) -> str:
    """The text without its names, numbers, paths and times, which are appended to ``parts``.

    ``statuses``: a separate number with few digits may be the reason, so it is kept.
    """
    text = without_host_name(host, text, _OWN)

    def word(match: re.Match[str]) -> str:
        """Replace a word that varies from host to host."""
        whole = match[0]
        core = whole.rstrip(_ENDS)
        if not _varies(core, names) or (statuses and core.isdigit() and len(core) <= _STATUS):
            return whole
        parts.append(core[:MAX_PART_LENGTH])
        return _HOLE + whole[len(core) :]

    return re.sub(_WORD, word, text)


def _varies(word: str, names: Collection[str]) -> bool:
    if word in names or "://" in word or word.startswith(_PATHS):
        return True
    return any(map(str.isdigit, word))
