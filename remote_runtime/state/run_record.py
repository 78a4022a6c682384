"""The outcomes of one run, which the host stores in case the controller loses the connection
(target).

A record is a log below the state directory, ``runs/RECEIPT``. One line is written before a resource
is changed and one after it has run, each with one call. The log is therefore complete up to its
last line at any time and survives a kill of the runtime. It starts with the first change: a run
that changes nothing leaves none, unless its controller does not confirm the end of the run.

To survive a power failure, the log is synced ahead: a ``reserve`` line contains the last resource
whose change may start before the next sync, so one sync is enough for ``RESERVED`` resources. After
a reboot, those of them without an outcome count as interrupted. If a line cannot be written, a
``gap`` line replaces it: the lines before it are valid, and nothing is known about all other
resources.

Resources are identified by their index in the plan, which the controller has. A record contains no
content, only names of states, exit codes and masked reasons for failures. The file is locked during
its run.
"""

import os
import time
from typing import Any, Callable, Dict, List, NamedTuple, Sequence

from remote_runtime.errors import CcmError
from remote_runtime.plan_item import Item
from remote_runtime.protocol.channel import Channel
from remote_runtime.reporting.event_reporter import EventReporter
from remote_runtime.reporting.events import EventMaker, Outcome, requested_of
from remote_runtime.stdlib_light import json_text
from remote_runtime.system.process.process_identity import boot
from remote_runtime.system.state_directory import RUNS
from remote_runtime.system.state_store import StateError, StateStore

MAX_RECORDS = 8
CONFIRMED_WITHIN = 5.0  # seconds
LARGEST = 4 << 20  # bytes of a record
MAX_TEXT_LENGTH = 300  # characters of a reason or a label
MAX_TEXTS = 20  # of a list
RESERVED = 16  # resources between two syncs
MAX_LINE_LENGTH = 16 << 10  # characters
MESSAGE = 128 << 10  # characters of outcomes in one message, which has to fit a frame

RUNNING, ENDED, CUT, NONE, UNUSABLE = "running", "ended", "cut", "none", "unusable"


class _Ended(NamedTuple):
    """A resource that has run, ``at`` the time when it ended."""

    outcome: Outcome
    noop: bool
    seconds: float
    at: float


class RunRecord(object):
    """The record of the current run; only the thread of the run calls its methods.

    ``receipt`` identifies it for the controller, ``last`` is the greatest index of the plan. If the
    state cannot be written, the run continues without a record.
    """

    def __init__(self, directory: str, receipt: str, last: int, event_builder: EventMaker) -> None:
        self._memory = StateStore(directory)
        self._receipt = receipt
        self._last = last
        self._reserved = -1  # the greatest index whose change may start before the next sync
        self._maker = event_builder
        self._ended: List[_Ended] = []  # not yet written; a run without changes writes none
        self._waiting: List[str] = []  # lines after these
        self._descriptor = -1
        self._size = 0
        self._off = not is_receipt(receipt)

    def begin(self, items: Sequence[Item]) -> None:
        """Record that these resources are about to be changed."""
        self._waiting += [json_text.dumps({"begin": item.index}) for item in items]
        latest = max(item.index for item in items)
        sync = latest > self._reserved
        if sync:
            self._reserved = max(latest, min(latest + RESERVED - 1, self._last))
            reserved = {"reserve": self._reserved, "from": items[0].index, "boot": boot()}
            self._waiting.append(json_text.dumps(reserved))
        self._write(sync)

    def ended(self, outcome: Outcome, noop: bool, seconds: float) -> None:
        """Record that a resource has run."""
        self._ended.append(_Ended(outcome, noop, seconds, time.time()))
        if self._descriptor >= 0:
            self._write()

    def close(self) -> None:
        """Record that the run is over and there are no more changes."""
        self._waiting.append(json_text.dumps({"end": True}))
        if self._descriptor >= 0:
            self._write(sync=True)

    def keep(self) -> None:
        """Leave a record even if nothing changed, because the controller did not confirm
        the end.
        """
        self._write(sync=True)

    def settle(self, channel: Channel) -> None:
        """Wait until the controller confirms the end, if that decides whether to ``keep``."""
        if self._descriptor < 0 and not channel.await_bye(CONFIRMED_WITHIN):
            self.keep()

    def reporting(self, reporter: EventReporter) -> Callable[[Outcome, bool, float], None]:
        """The receiver of an outcome, which records it and then reports it to the controller."""

        def ended(outcome: Outcome, noop: bool, seconds: float) -> None:
            self.ended(outcome, noop, seconds)
            reporter.ended(outcome, noop, seconds)

        return ended

    def _result(self, ended: "_Ended") -> Dict[str, Any]:
        outcome, item = ended.outcome, ended.outcome.item
        label = self._maker.label(item)

        def short(text: str) -> str:
            return label(text)[:MAX_TEXT_LENGTH]

        record: Dict[str, Any] = {
            "index": item.index,
            "status": outcome.status,
            "at": int(ended.at * 1e6),
            "duration": int(ended.seconds * 1e9),
            "provider": outcome.provider[:MAX_TEXT_LENGTH],
            "requested": short(requested_of(item)),
            "final": short(outcome.final_ensure),
        }
        for name in ("changed", "refreshed", "failed", "skipped", "health_only"):
            if getattr(outcome, name):
                record[name] = True
        if ended.noop:
            record["noop"] = True
        if outcome.ended is not None and (outcome.ended.code or -1) >= 0:
            record["exit_code"] = outcome.ended.code
        if outcome.left_out:
            record["left_out"] = outcome.left_out
        if outcome.unmet:
            record["unmet"] = [short(name) for name in outcome.unmet[:MAX_TEXTS]]
        if outcome.errors:
            record["error"] = "" if item.sensitive else short(outcome.errors[0].partition("\n")[0])
        if outcome.health:
            record["health"] = [
                {
                    "name": short(str(check["name"])),
                    "status": check["status"],
                    "tries": check["tries"],
                }
                for check in outcome.health[:MAX_TEXTS]
            ]
        return record

    def _write(self, sync: bool = False) -> None:
        if self._off:
            return
        lines = [json_text.dumps(self._result(ended)) for ended in self._ended] + self._waiting
        text = "".join([line + "\n" for line in lines]).encode("ascii")
        try:
            if self._descriptor < 0:
                self._memory.prune(RUNS, MAX_RECORDS - 1, self._receipt)
                self._descriptor, self._size = self._memory.open_log(RUNS, self._receipt)
            del self._ended[:], self._waiting[:]
            if self._size + len(text) > LARGEST or os.write(self._descriptor, text) != len(text):
                self._give_up()
                return
            self._size += len(text)
            if sync:
                os.fsync(self._descriptor)
        except (OSError, StateError):
            self._give_up()

    def _give_up(self) -> None:
        """Keep the record, marked as incomplete. On a full disk, this uses the space of the latest
        lines; without any space, the record becomes unusable."""
        self._off = True
        mark = b"\n" + json_text.dumps({"gap": True}).encode("ascii") + b"\n"
        for size in (self._size, max(0, self._size - len(mark)), 0):
            try:
                if self._descriptor >= 0:
                    os.ftruncate(self._descriptor, size)
                    if size and os.write(self._descriptor, mark) == len(mark):
                        os.fsync(self._descriptor)
                        return
            except OSError:
                continue


def is_receipt(text: Any) -> bool:
    """Return whether the text is a valid name of a record."""
    return isinstance(text, str) and len(text) == 32 and not text.strip("0123456789abcdef")


def report(channel: Channel, directory: str, receipts: Sequence[str], busy: bool) -> None:
    """Send the records of these runs to the controller; ``busy``: see ``past_messages``."""
    memory = StateStore(directory)
    for receipt in receipts[:MAX_RECORDS]:
        if is_receipt(receipt):
            for message in past_messages(memory, receipt, busy):
                channel.send(message, now=True)


def past_messages(memory: StateStore, receipt: str, busy: bool) -> List[Dict[str, Any]]:
    """The record of an earlier run, as messages for the controller.

    ``busy``: another run is active here, and it may be that run.
    """
    try:
        lines, at_work = memory.read_log(RUNS, receipt, LARGEST + MAX_LINE_LENGTH)
    except CcmError:
        return [_past(receipt, UNUSABLE)]
    if lines is None:
        # If no record can be written, a missing record means nothing.
        absent = NONE if memory.is_writable() else UNUSABLE
        return [_past(receipt, RUNNING if busy else absent)]
    read = _Read(lines)
    state = RUNNING if at_work and not read.ended else ENDED if read.ended else CUT
    results = read.results
    last = dict(_past(receipt, UNUSABLE if read.gap else state), started=read.interrupted())
    messages, size = [_past(receipt, "")], 0
    for result in results:
        length = len(json_text.dumps(result))
        if size + length > MESSAGE:
            messages.append(_past(receipt, ""))
            size = 0
        messages[-1]["results"].append(result)
        size += length
    return (messages if results else []) + [last]


def _past(receipt: str, state: str) -> Dict[str, Any]:
    return {"t": "past", "receipt": receipt, "state": state, "results": [], "started": []}


class _Read(object):
    """The content of a record's lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.results: List[Dict[str, Any]] = []
        self.ended = self.gap = False
        self._begun: List[int] = []
        self._reserved: Dict[str, Any] = {}
        for text in lines:
            entry = _entry(text)
            if isinstance(entry.get("index"), int):
                self.results.append(entry)
            elif isinstance(entry.get("begin"), int):
                self._begun.append(entry["begin"])
            elif isinstance(entry.get("reserve"), int) and isinstance(entry.get("from"), int):
                self._reserved = entry
            elif entry.get("end"):
                self.ended = True
            elif entry.get("gap"):
                self.gap = True

    def interrupted(self) -> List[int]:
        """The resources that may have been running when the run was interrupted, in order."""
        begun = set(self._begun)
        if self._reserved and self._reserved.get("boot") != boot() and not self.ended:
            # A power cut may have lost their lines.
            begun.update(range(self._reserved["from"], self._reserved["reserve"] + 1))
        return sorted(begun - {result["index"] for result in self.results})


def _entry(text: str) -> Dict[str, Any]:
    """A line of a record; empty if a power failure damaged it."""
    try:
        document = json_text.loads(text) if len(text) <= MAX_LINE_LENGTH else None
    except (ValueError, RecursionError):
        document = None
    return document if isinstance(document, dict) else {}
