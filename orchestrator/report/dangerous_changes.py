"""The dangerous changes of a preview, grouped across the fleet (controller)."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.fleet.store.stored_runs import ReportSource
from orchestrator.plan_files.counters import Counters
from orchestrator.plan_files.dangerous_changes import (
    ACCOUNTS,
    KINDS,
    MODES,
    PACKAGES,
    REBOOTS,
    REMOVES,
    RESTARTS,
    STOPS,
    UNKNOWN,
    Danger,
)
from orchestrator.report.action_text import UNCERTAIN
from orchestrator.report.host_names import named, on_all
from orchestrator.report.terminal.style import Style, wrapped
from orchestrator.report.text_normalization import without_host_name
from orchestrator.support.plain_text import one_line, visible

MAX_GROUPS = 5_000  # listed one by one; the counters include the rest
MAX_LINES = 14  # of the list
NOTHING_KNOWN = "none known"
MAX_WHAT = 300  # characters
_COLUMN = 20  # where the text of a line begins
VERBS = {
    PACKAGES: "remove package",
    ACCOUNTS: "remove",
    REMOVES: "remove",
    REBOOTS: "reboot",
    STOPS: "stop",
    RESTARTS: "restart",
    MODES: "widen mode",
}
_NOUNS = {
    PACKAGES: "package removal",
    ACCOUNTS: "account removal",
    REMOVES: "removal",
    REBOOTS: "reboot",
    STOPS: "stop",
    RESTARTS: "restart",
    MODES: "widened mode",
}


class Group(NamedTuple):
    """The same danger on several hosts; ``uncertainty`` is "" for a certain one.

    If the messages of these hosts differ only in their names, ``danger`` contains ``{host}``
    instead.
    """

    danger: Danger
    uncertainty: str
    hosts: list[str]

    @property
    def words(self) -> str:
        """Its text without the hosts, in one line."""
        one = self.danger
        parts = (one.what, f"due to {one.by}" if one.by else "", one.how, self.uncertainty)
        return ", ".join(visible(one_line(part, MAX_WHAT)) for part in parts if part)

    def record(self) -> dict[str, Any]:
        """The form used in a document."""
        prediction = self.uncertainty or "certain"
        return {**self.danger._asdict(), "prediction": prediction, "hosts": self.hosts}


class Dangers(Subscriber):
    """Collects the dangers of a preview, and counts them: a subscriber."""

    def __init__(self) -> None:
        self.counters = Counters()
        self._found: dict[tuple[str, ...], Group] = {}
        self._ungrouped = 0
        self._hosts = 0
        self._uncertain: set[str] = set()
        self._only_effects = 0  # resources whose changes are known

    def handle(self, event: run_events.Event) -> None:
        """Add the prediction for a resource."""
        if isinstance(event, run_events.RunStarted):
            self._hosts = len(event.hosts)
        elif isinstance(event, run_events.ResourceEvent) and event.event["noop"]:
            self._add(event.host, event.event)

    def _add(self, host: str, event: Mapping[str, Any]) -> None:
        if event["status"] == "stable" and event.get("prediction") == "certain":
            return  # as most are
        before = self.counters.values["unknown"]
        dangers = self.counters.add(host, event)
        if self.counters.values["unknown"] > before:
            self._uncertain.add(host)
            self._only_effects += event.get("prediction") != UNKNOWN
        prediction = event.get("prediction", "")
        uncertainty = prediction if prediction in UNCERTAIN else ""
        for one in dangers:
            alike = Danger(*(without_host_name(host, text) for text in one))
            key = (*alike, uncertainty)
            group = self._found.get(key)
            if group is not None:
                group.hosts.append(host)
                if group.danger not in (one, alike):
                    self._found[key] = group._replace(danger=alike)
            elif len(self._found) < MAX_GROUPS:
                self._found[key] = Group(one, uncertainty, [host])
            else:
                self._ungrouped += 1

    def groups(self) -> list[Group]:
        """Each danger once, by kind and then by the number of hosts, descending."""
        order = {kind: at for at, kind in enumerate(KINDS)}
        return sorted(
            self._found.values(), key=lambda one: (order[one.danger.kind], -len(one.hosts))
        )

    @property
    def total(self) -> str:
        """The number of each kind; "" for none."""
        values = self.counters.values
        counts = {kind: values[kind] for kind in KINDS}
        special = counts[PACKAGES] + counts[ACCOUNTS]
        counts[REMOVES] -= special
        nouns = {**_NOUNS, REMOVES: "other removal"} if special else _NOUNS
        return ", ".join(
            f"{number:,} {nouns[kind]}{'s' if number > 1 else ''}"
            for kind, number in counts.items()
            if number
        )

    @property
    def is_reportable(self) -> bool:
        """Whether anything is dangerous or unknown."""
        return bool(self.total or self.counters.values["unknown"])

    @property
    def unknown(self) -> str:
        """The unknown effects, which are not counted; "" for none."""
        values = self.counters.values
        parts = []
        if number := values["unknown"]:
            hosts = len(self._uncertain)
            where = f" on {hosts:,} host{'s' if hosts > 1 else ''}"
            resources = f"{number:,} resource{'s' if number > 1 else ''}{where}"
            only = f" (for {self._only_effects:,}, only the side effects are unknown)"
            effects = only if self._only_effects else ""
            parts.append(f"{resources} cannot be predicted in full{effects}")
        if number := values["commands"]:
            parts.append(f"{number:,} command{'s' if number > 1 else ''} would run")
        return "; ".join(parts)

    def where(self, hosts: list[str], limit: int) -> str:
        """The hosts of a group, by name in about this many characters."""
        if len(hosts) == self._hosts > 1 and len(set(hosts)) == len(hosts):
            return on_all(self._hosts)
        return f"on {named(list(dict.fromkeys(hosts)), limit)}"

    def lines(
        self, style: Style, *, everything: bool = False, uncounted: bool = True
    ) -> Iterator[str]:
        """The list as text, with a title; empty if nothing is dangerous or unknown.

        Without ``uncounted``, it has only dangerous changes, because another part reports the
        unknown effects.
        """
        if not (self.is_reportable if uncounted else self.total):
            return
        yield style("title", f"Dangerous: {self.total or NOTHING_KNOWN}")
        groups = self.groups()
        visible = groups if everything else self._bounded(groups)
        for group in visible:
            text = f"{group.words}  {self.where(group.hosts, style.width // 3)}"
            yield from _row("failed", VERBS[group.danger.kind], text, style)
        remaining = len(groups) - len(visible) + self._ungrouped
        if remaining:
            yield style("faint", f"    … {remaining:,} more; -v shows all")
        if self.unknown and uncounted:
            yield from _row("changed", "unknown effects", self.unknown, style)

    @property
    def ungrouped(self) -> int:
        """The number of dangers that are counted but in no group."""
        return self._ungrouped

    @staticmethod
    def _bounded(groups: list[Group]) -> list[Group]:
        """Some dangers of each kind, by the number of hosts, descending."""
        if len(groups) <= MAX_LINES:
            return groups
        kinds = {one.danger.kind for one in groups}
        each = max(1, MAX_LINES // len(kinds))
        taken: dict[str, int] = {}
        shown = []
        for one in groups:
            taken[one.danger.kind] = taken.get(one.danger.kind, 0) + 1
            if taken[one.danger.kind] <= each:
                shown.append(one)
        return shown


def _row(role: str, word: str, text: str, style: Style) -> Iterator[str]:
    """Yield the lines of a row: a word, and a text in a column after it."""
    first, *more = wrapped(text, style.width - _COLUMN)
    yield f"    {style(role, f'{word:<{_COLUMN - 4}}')}{first}"
    yield from (f"{'':<{_COLUMN}}{line}" for line in more)


def dangers_in(source: ReportSource) -> Dangers:
    """The dangers of a stored preview, from a plan or a run."""
    dangers = Dangers()
    for event in source.replay():
        dangers.handle(event)
    return dangers
