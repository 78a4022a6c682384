import itertools
import json
import unittest
from typing import Any, Dict

from remote_runtime.protocol.unchanged_batch import UnchangedBatch, UnchangedEvent
from remote_runtime.protocol.unchanged_events import implied_members, whole_events
from remote_runtime.reporting.event_reporter import unplanned_of
from remote_runtime.reporting.events import EventMaker, Outcome, encode_id
from remote_runtime.reporting.masking import Mask
from tests.remote_runtime.fakes import item

# What the characters of an id are in base 32, as ``int`` has it.
DIGITS = str.maketrans("ABCDEFGHJKMNPQRSTVWXYZ", "abcdefghijklmnopqrstuv")
SECRETS = ["s3cret"]
ITEMS = [
    item("file", "/f", properties={"ensure": "present", "mode": "0644"}),
    item("file", "/f", properties={"owner": "root"}, alias="f", manifest="child.yaml"),
    item("file", "/s3cret/f", properties={"ensure": "s3cret"}, alias="s3cret"),
    item("file", "/f", properties={"content": "s3cret"}, sensitive=True),
    item("file", "/f", properties={"password": "hidden!"}, secrets=("password",)),
    item("file", "/f", properties={"content": {"$blob": "ab" * 32, "size": 2}}, redact_hash=True),
    item("archive", "/a", properties={"url": "https://me:p4ssw0rd@h/x", "n": [1, {"2": None}]}),
    item("archive", "/a", properties={"url": "HTTPS://token123@h", "x": "http://h/?a=b&key=s"}),
    item("archive", "/a", properties={"headers": {"Authorization": "Basic x"}, "b": "c=d"}),
    item("exec", "curl -H 'proxy-AUTHORIZATION: Bearer x'", manifest="http://me:pass@h/m"),
    item("scaffold", "/t", properties={"source": {"$tree": "folder", "files": []}}),
    item("exec", "x", properties={"command": "true"}),
    item("file", "/large", properties={"ensure": "present", "text": "x" * (1 << 20)}),
]


def expanded(made: Outcome, *, whole: Dict[str, Any], maker: EventMaker, text: str) -> Any:
    """The event that is made of a turn whose event would be ``whole``."""
    said = unplanned_of(made, False, maker)
    assert said is not None
    number = int(whole["event_id"].translate(DIGITS), 32)
    batch = UnchangedBatch()
    batch.add(UnchangedEvent(1, number, 1795390122.775418, 500, made.item.index, said))
    message = {**json.loads(json.dumps(batch.take())), "at": 1795390122775418}
    (event,) = whole_events(message, [implied_members(made.item, maker, text)])
    return event


class ExpansionTest(unittest.TestCase):
    def test_as_if_it_had_been_sent_whole(self) -> None:
        """An event that is made of a turn is member for member the one that would have come, with
        and without the text of the plan at hand."""
        for one, final in itertools.product(ITEMS, ("present", "1.2", "s3cret", "")):
            made = Outcome(one)
            made.provider, made.final_ensure, made.prediction = "posix", final, "certain"
            texts = "", json.dumps(one.entry()) + one.manifest
            for secrets, text in itertools.product(([], SECRETS), texts):
                maker = EventMaker(Mask(secrets))
                whole = maker.make(made, False, 5e-7)
                whole["timestamp"] = "2026-11-22T23:28:42.775418Z"
                event = expanded(made, whole=whole, maker=maker, text=text)
                with self.subTest(one=one.id, final=final, secrets=secrets):
                    self.assertEqual(json.dumps(event), json.dumps(whole), msg=one)

    def test_ids_and_times_go_on(self) -> None:
        """Each event has the id behind the one before it, and ends its duration later."""
        maker = EventMaker(Mask())
        rows = [[0, 9000, "posix"], [1, 2500, "posix"], [2, 600, "posix"]]
        message = {"id": 41, "at": 1000000, "noop": False, "prediction": "", "rows": rows}
        implied = [implied_members(ITEMS[0], maker)] * 3
        events = list(whole_events(message, implied))
        self.assertEqual([e["event_id"] for e in events], [encode_id(n) for n in (41, 42, 43)])
        self.assertEqual([e["duration"] for e in events], [9000, 2500, 600])
        ends = [e["timestamp"].partition(".")[2] for e in events]
        self.assertEqual(ends, ["000000Z", "000002Z", "000003Z"])
        self.assertEqual(events, list(whole_events(message, implied)))
