"""The texts of a summary: one change, one resource, one host's counts (controller)."""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import (
    CUT_OFF,
    DEFECT,
    FAILED,
    INTERRUPTED,
    NOT_STARTED,
    OK,
    REFUSED,
    TIMED_OUT,
    HostResult,
    Tally,
)
from orchestrator.report.action_text import (
    CHANGE,
    ChangeLine,
    Intent,
    intent,
    is_masked,
    with_object,
)
from orchestrator.report.durations import duration_text
from orchestrator.report.host_names import fold
from orchestrator.report.run_collector import DRIFTS, PROVENANCE, CheckResult, Entry
from orchestrator.report.terminal.style import Style, wrapped
from orchestrator.report.text_normalization import normalized_value
from orchestrator.support.plain_text import one_line
from remote_runtime.plan_item import SELECTION
from remote_runtime.reporting.masking import MASKED

_HASH = r"\b([0-9a-f]{12})[0-9a-f]{20,}\b"
_TIME = r"\d{4}-\d\d-\d\dT[\d:]+Z"
_HASHED = r"(?:sha256:)?[0-9a-f]{32,}"
INDENT = 8
MAX_VALUE = 60
MAX_SUBJECT = 100
MAX_CHANGES = 8
MAX_ERROR_LINES = 12
MAX_DIFF_LINES = 200
MAX_REASON = 1_000
UNCHANGED = "unchanged"  # what people read for "stable"
UNKNOWN = "unknown"  # whether it would change
DRIFT, DRIFTED = "drift", "drifted"
AD_HOC = ("run", "fetch")  # commands that ask for answers, not for a state


def shorten(value: str) -> str:
    """One line of a value; hashes are cut to 12 digits, text to ``MAX_VALUE`` characters."""
    line = " ".join(re.sub(_HASH, r"\1", value).split())
    return line if len(line) <= MAX_VALUE else line[: MAX_VALUE - 1] + "…"


def brief_change(change: ChangeLine) -> str:
    """A change in a few words; a hash shows only that the value differs."""
    if change.diff and "\n" not in change.diff:
        return f"{shorten(change.what)}: {_cut(change.diff)}"
    if all(is_hash(value) for value in (change.before, change.after) if value):
        return shorten(change.what)
    return _from_to(change)


def _from_to(change: ChangeLine) -> str:
    what, before, after = map(shorten, change[:3])
    if is_masked(change):
        return f"{what}: {after}"
    return f"{what}: {before} → {after or 'none'}" if before else f"{what}: {after}"


def is_hash(value: str) -> bool:
    """Whether a value is only the hash of content."""
    return re.fullmatch(_HASHED, value) is not None


def without_hashes(change: ChangeLine) -> ChangeLine:
    """The change without the hashes of contents that contain the host's name.

    A diff shows everything that changes, so the hash of the old content matters only without a
    diff. Times are removed from a drift.
    """
    if change.what in PROVENANCE:
        before, after = (re.sub(_TIME, "", value) for value in (change.before, change.after))
        return change._replace(before=before, after=after)
    before = re.sub(_HASHED, "", change.before) if _is_in_diff(change) else change.before
    return change._replace(before=before, after=re.sub(_HASHED, "", change.after))


def _is_in_diff(change: ChangeLine) -> bool:
    """Whether the diff shows the whole change: a diff that is not omitted or masked."""
    return "\n" in change.diff and MASKED not in change.diff


def change_grouping_key(changes: Iterable[ChangeLine], host: str) -> Iterator[str]:
    """The key by which changes of several hosts are grouped, without host-specific parts."""
    for change in map(without_hashes, changes):
        yield from (normalized_value(host, text) for text in change)
        if is_hash(change.before):  # the old contents differ in something that no diff shows
            yield change.before


def differing(entry: Entry) -> str:
    """The differences among the entries that are grouped with this one."""
    folded = entry.errors or entry.health or entry.output
    return f"differ only in {'names or numbers' if folded else 'host-specific values'}"


def others_differ(entry: Entry, hosts: int) -> str:
    """The differences of the ``hosts`` other than the shown one."""
    told = differing(entry)
    return f"the others {told}" if hosts > 2 else f"the other {told.replace('differ', 'differs')}"


def variants_differ(entry: Entry, variants: int) -> str:
    """The number of variants of this entry, and their differences."""
    return f"{variants:,} variants {differing(entry)}"


def flowing(head: str, detail: str, width: int) -> list[str]:
    """The detail after its head if it fits on the line, otherwise wrapped into lines below."""
    if len(head) + 2 + len(detail) <= width or not detail:
        return [f"  {detail}" if detail else ""]
    return ["", *wrapped(detail, width - INDENT)]


def change_lines(change: ChangeLine, style: Style, diffs: bool, known: bool) -> Iterator[str]:
    """The lines of one change; ``known``: the same diff was already shown."""
    one_line = "\n" not in change.diff
    if change.diff and one_line:
        yield f"{shorten(change.what)}: {_cut(change.diff)}"
        return
    if not change.diff or not diffs:
        yield _from_to(change)
        return
    if known:
        yield f"{shorten(change.what)}: the same diff as above"
        return
    lines = change.diff.splitlines()
    for line in lines[:MAX_DIFF_LINES]:
        yield style(diff_role(line), _cut(line))
    if len(lines) > MAX_DIFF_LINES:
        remaining = len(lines) - MAX_DIFF_LINES
        more = f"… {remaining} more line{'s' * (remaining > 1)}, see ccm report --json"
        yield style("faint", more)


def diff_role(line: str) -> str:
    """The kind of a line in a diff: title, added, removed, position or unchanged."""
    if line.startswith(("+++", "---")):
        return "title"
    return {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "same")


def error_lines(texts: Iterable[str], width: int, everything: bool) -> Iterator[str]:
    """The reason of a failure, wrapped, followed by the end of its command's output."""
    for number, text in enumerate(texts):
        if number == 0:
            lines = text.strip("\n").splitlines()
            yield from _reason(lines or ["no reason given"], width, everything)
        else:
            yield from printed_lines(text, everything)


def printed_lines(text: str, everything: bool) -> Iterator[str]:
    """The last lines of a command's output, or all of them."""
    lines = text.strip("\n").splitlines()
    if len(lines) > MAX_ERROR_LINES and not everything:
        remaining = len(lines) - MAX_ERROR_LINES
        yield f"│ … {remaining} earlier line{'s' * (remaining > 1)}"
        lines = lines[-MAX_ERROR_LINES:]
    yield from (f"│ {line if everything else _cut(line)}" for line in lines)


def _cut(line: str) -> str:
    """A line of output, shortened so that it does not fill the terminal."""
    return line if len(line) <= MAX_REASON else line[:MAX_REASON] + "…"


def _reason(lines: list[str], width: int, everything: bool) -> Iterator[str]:
    """Yield the lines, wrapped; only their beginning unless ``everything`` is set."""
    visible = lines if everything else [line[:MAX_REASON] for line in lines[:MAX_ERROR_LINES]]
    for line in visible:
        yield from wrapped(line, width) or [""]
    if visible != lines:
        yield "… more: -v shows all"


def headline(entry: Entry) -> str:
    """Return the message about a resource, with its unmet requirements or uncertainty."""
    return _certain(entry, entry.message)


def _certain(entry: Entry, told: str) -> str:
    due = f"refresh pending since run {entry.due}" if entry.due else ""
    if entry.unmet:
        return ", ".join(filter(None, ("requires " + ", ".join(entry.unmet), due)))
    return ", ".join(filter(None, (told, due, entry.uncertainty)))


def planned_words(entry: Entry) -> Intent:
    """The predicted action as text; for a push, only the changes."""
    if entry.pending:
        would = [change for change in entry.changes if change.what not in PROVENANCE]
        traces = [change for change in entry.changes if change.what in PROVENANCE]
        told = intent(entry.resource.partition("#")[0], would, entry.fired)
        return told._replace(rest=(*told.rest, *traces))
    return Intent("", "", entry.changes)


def brief_details(entry: Entry) -> list[str]:
    """Additional details in one line; empty if there are none."""
    words, value, rest = planned_words(entry)
    if words not in ("", CHANGE):  # "create" says that there is new content
        rest = tuple(change for change in rest if change.before or not change.diff)
    parts = [shorten(value) if value else "", *map(brief_change, rest[:MAX_CHANGES])]
    remaining = len(rest) - MAX_CHANGES
    text = ", ".join(filter(None, parts))
    return [f"{text}, … {remaining} more" if remaining > 0 else text] if text else []


def check_line(check: CheckResult) -> str:
    """The result of a health check."""
    return f"health check {check.name!r}: {check.status}{check.output and f': {check.output}'}"


def span(numbers: list[int]) -> str:
    """One number if all are the same, else the smallest and the largest."""
    least, greatest = min(numbers), max(numbers)
    return f"{least:,}" if least == greatest else f"{least:,}-{greatest:,}"


def listed(names: list[str], maximum: int) -> str:
    """The names in about this many characters; names that differ in a number are merged."""
    folded = [one_line(name, MAX_VALUE) for name in fold(names)]
    shown: list[str] = []
    space = maximum
    for name in folded:
        space -= len(name) + 2
        if shown and space < 0:
            break
        shown.append(name)
    remaining = len(folded) - len(shown)
    return ", ".join([*shown, f"… {remaining:,} more"] if remaining else shown)


def counts(results: list[HostResult], noop: bool, command: str = "") -> str:
    """The totals of the events of grouped hosts, per host; zeros are omitted."""
    totals = [buckets(result.tally, noop, command) for result in results]
    named = [(word, [numbers[word] for numbers in totals]) for word in totals[0]] if totals else []
    return ", ".join(f"{span(numbers)} {word}" for word, numbers in named if any(numbers))


def buckets(whole: Tally, noop: bool, command: str = "") -> dict[str, int]:
    """The number of resources by result, as text; a child may be in noop mode separately."""
    tally = whole.shown
    pending = tally.changed if noop else tally.pending
    drifted = tally.drifted if command == DRIFT else 0
    return {
        "failed": tally.failed,
        "changed": tally.changed - pending,
        DRIFTED: drifted,
        "not compared" if command == DRIFT else "would change": pending - drifted,
        "skipped": tally.skipped,
        UNCHANGED: tally.stable,
    }


def is_run(event: Mapping[str, Any], command: str) -> bool:
    """Whether an event only shows that a command of ``ccm run`` ended, as its host's line does."""
    return command in AD_HOC and event["status"] == "changed"


def shown_status(status: str, noop: bool = False) -> str:
    """The text for the status of an event; ``noop``: in a preview."""
    if status == "changed" and noop:
        return "would change"
    return UNCHANGED if status in ("stable", OK) else status


def part_of(about: Mapping[str, Any]) -> str:
    """The options that selected a part of the manifest of a stored run; "" for all of it."""
    options = about.get("options", {})
    given = [(name, text) for name in SELECTION for text in options.get(name, ())]
    return " ".join(f"--{name}={shlex.quote(one_line(text, MAX_REASON))}" for name, text in given)


def run_word(command: str, noop: bool) -> str:
    """The kind of a run: a preview, or its command."""
    return "preview" if noop and command != DRIFT else command


def run_subject(command: str, what: str) -> str:
    """The subject of a run in one line: a manifest without its directory, or an unchanged resource
    or command.
    """
    whole = command in ("ensure", *AD_HOC)
    return one_line(what if whole else posixpath.basename(what), MAX_SUBJECT)


def row_words(entry: Entry, told: str = "") -> tuple[str, str]:
    """The word before a resource and the text after it; ``told`` comes from ``brief_details``."""
    words = entry.message if entry.status == "skipped" else planned_words(entry).words
    is_alone = not told or told.startswith(PROVENANCE)
    if entry.drift and is_alone:
        words = with_object(words)
    joint = " " if entry.pending and words and not is_alone else "; "
    behind = joint.join(filter(None, (words, told)))
    detail = one_line(_certain(entry, behind), MAX_REASON)
    if entry.drift:
        return "differs", f"{DRIFTS[entry.drift]}; a push would {detail}"
    if entry.pending:  # also in a push: an apply may be in noop by itself
        return "would", detail
    if entry.status == "stable" and entry.message:  # it would wait, which changes nothing
        told = entry.message.split(" ", 2)[-1]
        return "waits", one_line(_certain(entry, told), MAX_REASON)
    if entry.status == "stable":  # stored for its health checks; none failed it
        if any(check.status != "OK" for check in entry.health):
            return "warning", detail
        if entry.uncertainty.startswith(f"{UNKNOWN} "):
            reason = entry.uncertainty.removeprefix(f"{UNKNOWN} ")
            return UNKNOWN, one_line(
                _certain(entry._replace(uncertainty=reason), behind), MAX_REASON
            )
        return UNCHANGED, detail
    return entry.status, detail


def end_reason(result: HostResult) -> str:
    """The reason why the run of a host did not complete, and its last activity."""
    doing = f"while {result.phase.words}"
    if result.outcome == INTERRUPTED and not result.was_started:
        return f"{outcome_words(result)}: the run was interrupted"
    if result.outcome == INTERRUPTED:
        return f"{outcome_words(result)} {doing}"
    if result.outcome == NOT_STARTED:
        return f"{outcome_words(result)}: {result.message}"
    idle = result.phase in (Phase.WAITING, Phase.DONE)
    return result.message if idle or result.outcome == REFUSED else f"{doing}: {result.message}"


def retry_text(results: list[HostResult]) -> str:
    """The command after the hint of grouped hosts, for all these hosts."""
    command = results[0].command
    only = ",".join(fold(result.only for result in results if result.only))
    if not only or len(only) > MAX_VALUE:
        return command
    return f"{command} -l {shlex.quote(only)}"


def outcome_words(result: HostResult) -> str:
    """The result of a host, in a word or two."""
    if not result.was_started:
        return "not started"
    words = {TIMED_OUT: "timed out", CUT_OFF: "cut off"}
    if result.outcome == REFUSED and not result.tally.total:
        return "refused; nothing was changed"
    tally = result.tally
    if result.outcome == FAILED and tally.unmet and not (tally.failed or result.message):
        return "failed: a requirement is not met"
    return "internal error" if result.outcome == DEFECT else words.get(result.kind, result.outcome)


def before_diff(message: str) -> str:
    """The lines of a message, joined, up to a diff and the line that introduces it."""
    lines = message.splitlines()
    diff = next((at for at, line in enumerate(lines) if line.startswith("--- ")), len(lines) + 1)
    return "; ".join(lines[: max(diff - 1, 1)])


def host_line(result: HostResult, noop: bool, command: str) -> str:
    """The result of one host in one line."""
    text = counts([result], noop, command)
    word = outcome_words(result)
    told = f" ({text})" if text else ""
    if word == OK:
        word = OK if command in AD_HOC else text or "nothing to do"
    elif word == INTERRUPTED:
        word = end_reason(result) + told
    elif result.message:
        message = one_line(before_diff(result.message), MAX_REASON)
        late = result.kind == TIMED_OUT  # its message says so
        word = f"{message if late else f'{word}: {message}'}{told}"
    elif text:
        word = text if word == FAILED and result.tally.failed else f"{word}; {text}"
    return f"{word} ({duration_text(result.seconds)})"
