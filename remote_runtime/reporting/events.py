"""Creates transaction events (target): the result of one resource, without secrets."""

import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from remote_runtime.changes import Change, Ended
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item
from remote_runtime.registry import resource_class
from remote_runtime.reporting.masking import MASKED, Mask, credentials_in, strings_of
from remote_runtime.stdlib_light import json_text
from remote_runtime.uncertainty import Uncertainty

if TYPE_CHECKING:
    from remote_runtime.effects import Effect

PROTOCOL = "io.choria.ccm.v1.transaction.event"
BUCKETS = ("failed", "skipped", "changed")  # and stable is in none of these
MAX_OUTPUT_LENGTH = 16 << 10
LARGEST = 900 << 10  # bytes of JSON text; a frame of the target holds 1 MiB
_MAX_NAME_LENGTH = 1000  # characters of a name of an effect
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHIFTS = range(125, -1, -5)
_SURE = Uncertainty()
_PLAIN = ("ensure", "owner", "group", "mode", "provider")  # never what is sensitive


class EventIds(object):
    """ULIDs in the order of creation, even within a millisecond or if the clock is set back."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> str:
        """Return the next ID: 26 characters, with 48 bits of time and 80 random bits."""
        return encode_id(self.advance())

    def advance(self) -> int:
        """The next ID as a number."""
        now = int(self._clock() * 1000)
        if now <= self._last >> 80:
            self._last += 1
        else:
            # The top random bit stays clear, so that counting up never runs into the time.
            self._last = now << 80 | int.from_bytes(os.urandom(10), "big") >> 1
        return self._last

    def follow(self) -> int:
        """The number after the last one, regardless of the time; the event with that number has its
        own time.
        """
        self._last += 1
        return self._last


def encode_id(number: int) -> str:
    """The 26 characters of an ID."""
    return "".join([_ALPHABET[number >> shift & 31] for shift in _SHIFTS])


def timestamp(seconds: float) -> str:
    """A time in RFC 3339 format, in UTC with microseconds."""
    return timestamp_of(int(seconds * 1e6))


def timestamp_of(microseconds: int) -> str:
    """The same for an integer."""
    whole, rest = divmod(microseconds, 1000000)
    return "%s.%06dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)), rest)


class Outcome(object):
    """The lifecycle's result for one resource, from which its event is created."""

    provider = ""
    final_ensure = ""
    observed: Any = None  # as its type reports it, for a plan file that is being written
    noop_message = ""
    prediction = ""
    prediction_reason = ""
    resource: Any = None  # as its type has it, of a push
    found: Optional[Dict[str, Any]] = None  # for drift: the state that identifies it
    failing: Optional[int] = None  # in noop: how many actions it takes before one fails
    due_since = ""  # the id of the run that left a refresh of it undone
    gate = _SURE  # in noop: that of the resource or condition that fires this one or lets it run
    passing = _SURE  # in noop: that over whether it fails, or its health checks, which do not run
    ended: Optional[Ended] = None
    tries = 0  # that it took, of a resource that was allowed several
    longest = MAX_OUTPUT_LENGTH  # maximum characters of a command's output
    acted = False  # its action succeeded, regardless of its health checks
    health_only = False
    left_out = ""  # the option of a selection that leaves it out
    left_as = ""  # in noop: the state of a skipped resource that a selected one needs
    changed = False
    refreshed = False
    failed = False
    skipped = False

    def __init__(self, item: Item) -> None:
        self.item = item  # with its deferred properties, once they are rendered
        self.provenance: Dict[str, str] = {}
        self.drift: Dict[str, Any] = {}  # of a resource that is not as it was applied last
        self.changes: List[Change] = []
        self.effects: List[Dict[str, str]] = []  # in noop, what no change of it names
        self.recorded: "Sequence[Effect]" = ()  # in noop, its effects on the host
        self.health: List[Dict[str, Any]] = []
        self.errors: List[str] = []
        self.outputs: List[str] = []  # ends of stderr, reported after the errors
        self.unmet: List[str] = []

    @classmethod
    def restored(cls, item: Item, status: str) -> "Outcome":
        """An outcome whose event was sent before a reboot; only its category is known."""
        outcome = cls(item)
        if status in BUCKETS:
            setattr(outcome, status, True)
        return outcome

    def fail(self, message: str, output: str = "") -> None:
        """Record the reason why the resource failed, with the end of its command's output."""
        self.failed = True
        self.errors.append(message)
        if output:
            self.outputs.append(output)

    def skip(self, unmet: List[str]) -> None:
        """Record that it was skipped because of these requirements, or because it is
        not managed.
        """
        self.skipped = True
        self.unmet = unmet

    def leave_out(self, option: str) -> None:
        """Record that it was skipped because of this option of a selection."""
        self.skipped = True
        self.left_out = option

    @property
    def status(self) -> str:
        """The single category of the resource's result."""
        if self.failed:
            return "failed"
        return "skipped" if self.skipped else "changed" if self.changed else "stable"


class EventMaker(object):
    """Creates the events of one run; ``mask`` hides the run's secrets."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self.ids = EventIds()
        self._secrets_of: Tuple[Optional[Item], List[str]] = (None, [])  # of the latest item

    def _mask_of(self, item: Item) -> Mask:
        if self._secrets_of[0] is not item:
            self._secrets_of = item, secrets_of(item)
        mask = self._mask.extended(self._secrets_of[1])
        return mask.extended((), item.redact_hash or _holds_secret(item, mask))

    def labelled(self, item: Item, text: str) -> str:
        """A text about a resource in addition to its properties, masked as in its event."""
        return self.label(item)(text)

    def label(self, item: Item) -> Callable[[str], str]:
        """The same for several texts about a resource."""
        return self._label(item, self._mask_of(item))

    def make(self, outcome: Outcome, noop: bool, duration: float) -> Dict[str, Any]:
        """Return the event of one resource; ``duration`` is in seconds."""
        return self.make_text(outcome, noop, duration)[0]

    def make_text(
        self, outcome: Outcome, noop: bool, duration: float
    ) -> Tuple[Dict[str, Any], str]:
        """The event, and its JSON text if known.

        For most events, a search of the text shows that nothing must be masked.
        """
        item, about = outcome.item, (self.ids.next(), timestamp(time.time()), duration, noop)
        if self._mask.is_empty and not (item.sensitive or item.redact_hash or item.deferred_render):
            event = _event(outcome, about, _AS_IT_IS, _AS_IT_IS.text)
            text = json_text.dumps(event)
            if self.leaves_plain(item, text):
                return event, text
        mask = self._mask_of(item)
        return _event(outcome, about, mask, self._label(item, mask)), ""

    def of_plan(self, item: Item, text: str) -> Dict[str, Any]:
        """The members of such an event that follow from the plan; ``text`` is their JSON text.

        For most resources, a search of the text shows that nothing must be masked.
        """
        if self.leaves_plain(item, text):
            return _of_plan(item, _AS_IT_IS, _AS_IT_IS.text)
        mask = self._mask_of(item)
        return _of_plan(item, mask, self._label(item, mask))

    def leaves_plain(self, item: Item, text: str) -> bool:
        """Return whether nothing in an item is masked, by its JSON ``text``."""
        return self._mask.passes(text) and not (item.secrets or item.sensitive or item.redact_hash)

    def _label(self, item: Item, mask: Mask) -> Callable[[str], str]:
        """Masks the identity of a resource: a sensitive resource's identity is shown, without
        secrets of the run.
        """
        return (self._mask if item.sensitive else mask).text


class _AsItIs(object):
    """Replaces a mask if there is nothing to mask."""

    def text(self, text: str) -> str:
        """Return the text unchanged."""
        return text

    def value(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


_AS_IT_IS: Any = _AsItIs()


def _event(
    outcome: Outcome, about: Tuple[str, str, float, bool], mask: Mask, label: Callable[[str], str]
) -> Dict[str, Any]:
    item, (number, at, duration, noop) = outcome.item, about
    of_plan = _of_plan(item, mask, label)
    event: Dict[str, Any] = {
        "protocol": PROTOCOL,
        "event_id": number,
        "timestamp": at,
        "type": item.type,
        "name": of_plan.pop("name"),
        "provider": outcome.provider,
        "requested_ensure": of_plan.pop("requested_ensure"),
        "final_ensure": label(outcome.final_ensure),
        "duration": int(duration * 1e9),
        "properties": of_plan.pop("properties"),
        "status": outcome.status,
        "changes": [_change(c, item.sensitive, mask) for c in outcome.changes],
        "error": _errors(outcome, item.sensitive, mask),
        "changed": outcome.changed,
        "refreshed": outcome.refreshed,
        "failed": outcome.failed,
        "skipped": outcome.skipped,
        "noop": noop,
        "unmet_requirements": [label(reference) for reference in outcome.unmet],
    }
    event.update(of_plan)
    event.update(_optional(item, outcome, mask))
    return _bounded(event)


def _of_plan(item: Item, mask: Mask, label: Callable[[str], str]) -> Dict[str, Any]:
    event = {
        "type": item.type,
        "name": label(item.name),
        "requested_ensure": label(requested_of(item)),
        "properties": _properties(item, mask),
    }
    if item.alias:
        event["alias"] = label(item.alias)
    if item.manifest:
        event["manifest"] = label(item.manifest)
    return event


def requested_of(item: Item) -> str:
    """The desired state; the default of the type if the resource does not set it."""
    ensure = item.properties.get("ensure")
    if ensure is not None:
        return str(ensure)
    try:
        return resource_class(item.type).default_ensure
    except ResourceError:
        return "present"  # a type that this runtime does not have; that has failed the resource


def secrets_of(item: Item) -> List[str]:
    """The values of one resource that no sink may show."""
    if item.sensitive:
        chosen: Sequence[str] = [k for k in item.properties if k not in _PLAIN]
    else:
        chosen = item.secrets
    values = strings_of([_of_user(item.properties.get(key)) for key in chosen]) if chosen else []
    if item.control:
        values += strings_of(list(item.control)) if item.sensitive else []
        return values + credentials_in((item.name, item.properties, item.control))
    return values + credentials_in((item.name, item.properties))


def _optional(item: Item, outcome: Outcome, mask: Mask) -> Dict[str, Any]:
    extra = _predicted(item, outcome, mask)
    if outcome.drift:
        extra["drift"] = mask.value(outcome.drift)
    if outcome.left_out:
        extra["left_out"] = outcome.left_out
    if outcome.left_as:
        extra["left_as"] = outcome.left_as
    if outcome.due_since:
        extra["due_since"] = outcome.due_since
    if outcome.ended is not None:
        extra.update(_of_command(outcome, outcome.ended, mask))
    if outcome.tries:
        extra["tries"] = outcome.tries
    if outcome.health:
        extra["health_check"] = mask.value(outcome.health)
    if outcome.health_only:
        extra["health_check_only"] = True
    return extra


def _predicted(item: Item, outcome: Outcome, mask: Mask) -> Dict[str, Any]:
    """Return the prediction of a preview about a resource."""
    extra: Dict[str, Any] = {}
    if outcome.noop_message:
        extra["noop_message"] = mask.text(outcome.noop_message)
    if outcome.prediction:
        extra["prediction"] = outcome.prediction
    if outcome.prediction_reason:
        extra["prediction_reason"] = mask.text(outcome.prediction_reason)
    if outcome.effects:
        extra["effects"] = [_masked(one, mask) for one in outcome.effects]
    if outcome.recorded:
        from remote_runtime.reporting.operations import operations

        details = [_masked(one, mask) for one in operations(outcome.recorded)]
        extra.update({"operations": details} if details else {})
    if item.noop and (outcome.status != "stable" or outcome.prediction_reason):
        extra["always_noop"] = True
    return extra


def _masked(effect: Dict[str, str], mask: Mask) -> Dict[str, str]:
    """Its texts, masked before they are shortened, because half of a secret would not be
    recognized.
    """
    return {key: mask.text(text)[:_MAX_NAME_LENGTH] for key, text in effect.items()}


def _of_command(outcome: Outcome, ended: Ended, mask: Mask) -> Dict[str, Any]:
    """Return the exit code, if there is one, and the output, with standard error at the end."""
    details: Dict[str, Any] = {}
    if ended.code is not None and ended.code >= 0:
        details["exit_code"] = ended.code
    end = "\n" if ended.stdout and ended.stderr and not ended.stdout.endswith("\n") else ""
    output = ended.before + ended.stdout + end + ended.stderr
    if output:
        hidden = outcome.item.sensitive
        details["output"] = MASKED if hidden else _tail(mask.text(output), outcome.longest)
    return details


def _tail(output: str, longest: int) -> str:
    """The end of the output, in complete masked lines, because half of a secret would not
    be found.
    """
    if len(output) <= longest:
        return output
    kept = output[-longest:]
    kept = kept[kept.find("\n") + 1 :]
    return "[... %d characters omitted ...]\n%s" % (len(output) - len(kept), kept)


def _properties(item: Item, mask: Mask) -> Dict[str, Any]:
    shown: Dict[str, Any] = {}
    for key, value in item.properties.items():
        hidden = key in item.secrets or (item.sensitive and key not in _PLAIN)
        shown[key] = MASKED if hidden and value is not None else mask.value(_of_user(value))
    return shown


def _of_user(value: Any) -> Any:
    """A property's value as the user wrote it, if the plan has a complete tree instead."""
    return value["$tree"] if isinstance(value, dict) and "$tree" in value else value


def _holds_secret(item: Item, mask: Mask) -> bool:
    """Return whether content that was rendered on demand contains text to mask."""
    content = item.properties.get("content") if item.deferred_render else None
    return isinstance(content, str) and mask.text(content) != content


def _change(change: Change, sensitive: bool, mask: Mask) -> Dict[str, Any]:
    if not sensitive:
        record = {key: mask.value(value) for key, value in change.record().items()}
        if MASKED in (record.get("diff") or ""):
            record["diff"] = _without_former_secrets(record["diff"])
        if record.get("diff"):
            from remote_runtime.reporting.text_diff import visible

            record["diff"] = visible(record["diff"])
        return record
    if change.what in _PLAIN:
        return change._replace(diff=None).record()
    return Change(change.what, MASKED, MASKED, None if change.diff is None else MASKED).record()


def _without_former_secrets(diff: str) -> str:
    """Mask the lines that a masked line of a diff replaces: they may contain the earlier secret."""
    out: List[str] = []
    block: List[str] = []
    begun = False
    for line in diff.split("\n") + [" "]:
        begun = begun or line.startswith("@@")  # behind the names of the two sides
        if begun and line[:1] in ("-", "+", "\\"):
            block.append(line)
            continue
        if any(MASKED in one for one in block if one[:1] == "+"):
            block = ["-" + MASKED if one[:1] == "-" else one for one in block]
        out += block + [line]
        block = []
    return "\n".join(out[:-1])


def _errors(outcome: Outcome, sensitive: bool, mask: Mask) -> List[str]:
    errors = [mask.text(e) for e in outcome.errors]
    for output in outcome.outputs:
        # Masked, then shortened: half a secret would not be found.
        errors.append(MASKED if sensitive else mask.text(output)[-MAX_OUTPUT_LENGTH:])
    return errors


def _bounded(event: Dict[str, Any]) -> Dict[str, Any]:
    """Drop large parts, the least important first, from an event that would not fit in a frame."""

    def size() -> int:
        return len(json_text.dumps(event))

    bulky = sum([len(c.get("diff") or "") for c in event["changes"]])
    bulky += len(repr(event["properties"])) + len(repr(event["error"]))
    bulky += len(event.get("output", ""))
    # One character is at most 6 bytes of JSON text, so small ones need not be measured.
    if bulky * 6 < LARGEST // 2 and len(event["changes"]) < 1000:
        return event
    if size() > LARGEST:
        for change in event["changes"]:
            if change.get("diff"):
                change["diff"] = "omitted: the event would be too large"
    if size() > LARGEST:
        event["properties"] = {"ensure": event["requested_ensure"]}
        event["error"] = [e[:2000] for e in event["error"][:20]]
    if size() > LARGEST:
        event["changes"] = event["changes"][:100]
    return event
