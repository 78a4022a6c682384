import json
import unittest
from typing import Any, Dict, List, Optional, cast

from remote_runtime.changes import Change, Ended
from remote_runtime.protocol.channel import Channel
from remote_runtime.protocol.unchanged_batch import MAX_TEXT_LENGTH, UnchangedEvent, Unplanned
from remote_runtime.reporting.event_reporter import EventReporter, unplanned_of
from remote_runtime.reporting.events import EventMaker, Outcome
from remote_runtime.reporting.masking import Mask
from tests.remote_runtime.fakes import item


class FakeChannel(object):
    """Keeps what is sent; ``gathers`` as the test has it."""

    def __init__(self) -> None:
        self.sent: List[Dict[str, Any]] = []
        self.results: List[UnchangedEvent] = []
        self.gathers = False

    def settled(self) -> None:
        pass

    def send(self, message: Dict[str, Any]) -> None:
        self.sent.append(message)

    def send_text(self, text: str) -> None:
        self.sent.append(json.loads(text))

    def send_unchanged(self, step: UnchangedEvent) -> None:
        self.results.append(step)


def outcome(changed: bool = False) -> Outcome:
    made = Outcome(item("file", "/f", properties={"ensure": "present"}, index=3))
    made.provider, made.final_ensure, made.changed = "posix", "present", changed
    return made


class EventReporterTest(unittest.TestCase):
    def setUp(self) -> None:
        self.channel = FakeChannel()
        self.reporter = EventReporter(cast(Channel, self.channel), EventMaker(Mask()))

    def test_in_the_order_of_the_run(self) -> None:
        """Numbers and ids count through events and turns; only what did something is an event."""
        for changed in (False, False, True, False):
            self.reporter.ended(outcome(changed), False, 0.5)
            self.channel.gathers = not changed
        (event,), results = self.channel.sent, self.channel.results
        self.assertEqual((event["seq"], [step.seq for step in results]), (3, [1, 2, 4]))
        self.assertEqual(results[1].number, results[0].number + 1)
        self.assertEqual(results[0][3:5], (500000000, 3))
        self.assertEqual(self.reporter.events, 4)
        self.assertEqual(self.reporter.tally, {"stable": 3, "changed": 1})

    def test_a_preview_did_nothing(self) -> None:
        """What a preview tells is no part of what the run is logged for."""
        self.reporter.ended(outcome(), True, 0.5)
        self.reporter.ended(outcome(True), True, 0.5)
        self.assertEqual(self.reporter.tally, {})

    def test_whole(self) -> None:
        """Where each event is to be whole nothing is gathered."""
        self.reporter.whole = True
        self.reporter.ended(outcome(), False, 0.5)
        self.assertEqual((len(self.channel.sent), self.channel.results), (1, []))


SAID = Unplanned("posix", None, None, False, "")


def outcome_of(**fields: Any) -> Outcome:
    """What a turn came to that left a file as it was."""
    properties = fields.pop("properties", {"ensure": "present", "mode": "0644"})
    found = Outcome(item("file", "/f", properties=properties, **fields.pop("item", {})))
    found.provider = "posix"
    found.final_ensure = "present"
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def told(noop: bool = False, secrets: Any = (), **fields: Any) -> Optional[Unplanned]:
    return unplanned_of(outcome_of(**fields), noop, EventMaker(Mask(secrets)))


def brief(**fields: Any) -> Unplanned:
    """The same of a resource that needs no event."""
    found = told(**fields)
    assert found is not None
    return found


class UnplannedTest(unittest.TestCase):
    def test_only_what_the_plan_does_not_say(self) -> None:
        """Of a resource that is as its plan has it, its provider and whether it is a preview."""
        self.assertEqual(told(), SAID)
        preview = Unplanned("posix", None, None, True, "certain")
        self.assertEqual(told(noop=True, prediction="certain"), preview)

    def test_the_states(self) -> None:
        """A final state that is not the desired one, and a desired one that is the type's own."""
        latest = {"ensure": "latest"}
        self.assertEqual(brief(properties=latest, final_ensure="1.2").final_ensure, "1.2")
        self.assertEqual(brief(final_ensure="").final_ensure, "")
        self.assertEqual(brief(properties={}).requested_ensure, "present")
        self.assertIsNone(brief(properties={}).final_ensure)

    def test_a_final_state_is_masked(self) -> None:
        """What is told beside the plan is masked as an event is."""
        self.assertEqual(brief(secrets=["s3cret"], final_ensure="s3cret").final_ensure, "[masked]")
        secret: Dict[str, Any] = {"properties": {"ensure": "x", "u": "https://me:p4ssw0rd@h"}}
        self.assertEqual(brief(final_ensure="p4ssw0rd", **secret).final_ensure, "[masked]")

    def test_a_desired_state_of_the_type_is_masked(self) -> None:
        """A secret may be what a type calls its state: an event shows that nowhere."""
        masked = told(secrets=["present"], properties={})
        self.assertEqual(masked.requested_ensure if masked else "", "[masked]")
        self.assertIsNone(masked.final_ensure if masked else "")

    def test_whatever_else_there_is_to_tell_needs_an_event(self) -> None:
        """Changes, failures, skips, checks, doubts and all else are told whole."""
        for more in (
            {"failed": True},
            {"skipped": True},
            {"changed": True},
            {"refreshed": True},
            {"noop_message": "Would wait"},
            {"prediction": "assumed"},
            {"prediction": "unknown"},
            {"prediction": "certain", "prediction_reason": "x"},
            {"drift": {"by": "you"}},
            {"due_since": "run-0"},
            {"ended": Ended(0, "", "")},
            {"tries": 2},
            {"changes": [Change("mode", "0600", "0644")]},
            {"health": [{"name": "up", "status": "OK", "tries": 1, "output": ""}]},
            {"health_only": True},
            {"errors": ["no"]},
            {"left_as": "differs"},
            {"provider": "x" * (MAX_TEXT_LENGTH + 1)},
            {"final_ensure": "x" * (MAX_TEXT_LENGTH + 1)},
            {"item": {"applies": "child.yaml"}},
            {"item": {"deferred_render": True}},
            {"item": {"health_checks": ({"command": "true"},)}},
        ):
            with self.subTest(more=more):
                self.assertIsNone(told(**more))
