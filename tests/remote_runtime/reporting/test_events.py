import base64
import json
import re
import unittest
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.changes import Change, Ended
from remote_runtime.reporting import events
from remote_runtime.reporting.events import LARGEST, EventIds, EventMaker, Outcome
from remote_runtime.reporting.masking import Mask
from remote_runtime.reporting.text_diff import unified
from tests.remote_runtime.fakes import item
from tests.texts import expect_text


class EventTest(unittest.TestCase):
    def test_secrets_of_a_resource(self) -> None:
        """They are searched once for all texts about a resource, and masked in those only."""
        maker = EventMaker(Mask())
        one, other = (
            item("file", "/a", properties={"source": "https://user:%s@x/" % password})
            for password in ("first-password", "other-password")
        )
        text = "first-password other-password"
        with mock.patch.object(events, "secrets_of", wraps=events.secrets_of) as search:
            told = [maker.labelled(each, text) for each in (one, one, other, other, one)]
        self.assertEqual(search.call_count, 3)
        for each, password in zip(told, ("other", "other", "first", "first", "other")):
            self.assertEqual(re.findall("[a-z]+(?=-password)", each), [password])

    def test_ids(self) -> None:
        """Ids sort as they were made, within a millisecond and after the clock stepped back."""
        times = [5.0, 5.0, 5.0, 4.0, 5.001, 6.0]
        ids = EventIds(iter(times).__next__)
        made = [ids.next() for _ in times]
        self.assertEqual(made, sorted(made))
        self.assertEqual(len(set(made)), len(times))
        self.assertEqual({len(i) for i in made}, {26})

    def test_shape(self) -> None:
        """An event has exactly the fields of the reference, with a UTC time and nanoseconds."""
        outcome = Outcome(item("exec", "x", alias="y", properties={"command": "true"}))
        outcome.changed = True
        event = EventMaker(Mask()).make(outcome, False, 0.5)
        self.assertEqual(
            sorted(event),
            sorted(
                "protocol event_id timestamp type name alias provider requested_ensure "
                "final_ensure duration properties status changes error changed refreshed failed "
                "skipped noop unmet_requirements".split()
            ),
        )
        self.assertTrue(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z\Z", event["timestamp"]))
        self.assertEqual((event["duration"], event["status"]), (500000000, "changed"))

    def test_what_has_nothing_to_mask(self) -> None:
        """It is found out by its text, and the event is the same as one that was masked."""
        changes = [Change("content", "sha256:00", None, "+listen = 1\n"), Change("mode", "0600", 1)]
        given = {"content": {"$blob": "00", "size": 1}, "mode": "0644", "list": ["a", 1, None]}
        plain = Outcome(item("file", "/f", alias="f", properties=given))
        failed = Outcome(item("exec", "make -C /x", properties={"command": "make"}))
        failed.fail("exit code 1", "line of output")
        failed.ended = Ended(1, "out\n", "err\n")
        url = Outcome(item("file", "/f", properties=dict(given, source="https://a:b@h/f")))
        query = Outcome(item("file", "/f", properties=dict(given, source="/x?token=t0ken")))
        header = Outcome(item("exec", "x", properties={"environment": ["Authorization: Basic x"]}))
        redacted = Outcome(item("file", "/f", redact_hash=True, properties=given))
        for outcome, is_plain in (
            (plain, True),
            (failed, True),
            (url, False),
            (query, False),
            (header, False),
            (redacted, False),
        ):
            outcome.changes = changes
            event, text = EventMaker(Mask()).make_text(outcome, False, 0.5)
            self.assertEqual(bool(text), is_plain, outcome.item)
            if text:
                self.assertEqual(json.loads(text), event)
            other, none = EventMaker(Mask(["nowhere in it"])).make_text(outcome, False, 0.5)
            self.assertEqual(none, "")
            for one in (event, other):
                del one["event_id"], one["timestamp"]
            self.assertEqual(event, other)

    def test_sensitive(self) -> None:
        """Of a sensitive resource no value, change, diff or output is left in its event."""
        outcome = Outcome(
            item("file", "/f", sensitive=True, properties={"content": "top secret", "mode": "0600"})
        )
        outcome.changes = [Change("content", "old one", "top secret", "+top secret")]
        outcome.fail("could not write top secret", "line of output")
        text = json.dumps(EventMaker(Mask()).make(outcome, False, 0))
        for leak in ("top secret", "old one", "line of output"):
            self.assertNotIn(leak, text)
        self.assertIn("0600", text)

    def test_effects(self) -> None:
        """What else a change takes away is in the event where there is any, and masked."""
        outcome = Outcome(item("user", "bob"))
        self.assertNotIn("effects", EventMaker(Mask()).make(outcome, True, 0))
        outcome.effects = [{"kind": "path", "name": "/home/s3cret!", "state": "absent"}]
        event = EventMaker(Mask(["s3cret!"])).make(outcome, True, 0)
        (effect,) = event["effects"]
        self.assertEqual((effect["kind"], effect["state"]), ("path", "absent"))
        self.assertNotIn("s3cret!", json.dumps(event))

    def test_url(self) -> None:
        """The login and the tokens of a URL are hidden in it, and told in another form too."""
        url = "https://me:p4ssw0rd@h/x?sig=dG9rZW4tb2YtdXJs"
        outcome = Outcome(item("archive", "/a", properties={"url": url}))
        basic = base64.b64encode(b"me:p4ssw0rd").decode()
        outcome.fail("401: sent Basic %s for p4ssw0rd" % basic, "token dG9rZW4tb2YtdXJs")
        text = json.dumps(EventMaker(Mask()).make(outcome, False, 0))
        for leak in ("p4ssw0rd", basic[:8], basic[-8:], "dG9rZW4"):
            self.assertNotIn(leak, text)
        self.assertIn("https://[masked]@h/x?sig=[masked]", text)

    def test_secret_property(self) -> None:
        """The value of a secret property is hidden wherever it stands."""
        properties = {"password": "s3cret!", "url": "http://h/s3cret!"}
        outcome = Outcome(item("archive", "/a", secrets=("password",), properties=properties))
        outcome.fail("got 401 with s3cret!")
        self.assertNotIn("s3cret", json.dumps(EventMaker(Mask()).make(outcome, False, 0)))

    def test_requested_ensure(self) -> None:
        """A resource that does not say its ensure has its type's, also when it was skipped."""
        for kind, wanted in (("service", "running"), ("file", "present"), ("no-such", "present")):
            outcome = Outcome(item(kind, "/x"))
            outcome.skipped = True
            event = EventMaker(Mask()).make(outcome, False, 0)
            self.assertEqual(event["requested_ensure"], wanted)

    def test_labels(self) -> None:
        """The run's secrets are hidden in what names a resource and its state, sensitive or not."""
        for sensitive in (False, True):
            outcome = Outcome(
                item("package", "p-s3cret!", alias="a-s3cret!", sensitive=sensitive,
                     properties={"ensure": "1-s3cret!"})
            )  # fmt: skip
            outcome.final_ensure = "1-s3cret!"
            outcome.unmet = ["exec#s3cret!"]
            event = EventMaker(Mask(["s3cret!"])).make(outcome, False, 0)
            self.assertNotIn("s3cret", json.dumps(event))
            self.assertEqual(event["alias"], "a-[masked]")

    def test_no_hash_of_a_secret(self) -> None:
        """Of content that holds a secret no hash is told, neither the new one nor the former."""
        old, new = "sha256:" + "a" * 64, "sha256:" + "b" * 64
        wanted = {"$blob": "b" * 64, "size": 12}
        cases: List[Dict[str, Any]] = [
            {"redact_hash": True, "properties": {"content": wanted}},
            {"deferred_render": True, "properties": {"content": "pin s3cret!"}},
        ]
        for fields in cases:
            outcome = Outcome(item("file", "/f", **fields))
            outcome.changes = [Change("content", old, new, "too large: %s" % old)]
            text = json.dumps(EventMaker(Mask(["s3cret!"])).make(outcome, False, 0))
            self.assertNotIn("aaaa", text)
            self.assertNotIn("bbbb", text)
        shown = Outcome(item("file", "/f", properties={"content": wanted}))
        shown.changes = outcome.changes
        self.assertIn(new, json.dumps(EventMaker(Mask(["s3cret!"])).make(shown, False, 0)))

    def test_a_former_secret(self) -> None:
        """Lines that a masked line takes the place of are masked too, others stay."""
        before = b"a = 1\n\n\n\n\nkey = f0rmer!\nend\n"
        after = b"a = 2\n\n\n\n\nkey = s3cret!\nend\n"
        outcome = Outcome(item("file", "/f"))
        outcome.changes = [Change("content", "x", "y", unified(before, after, "/f"))]
        event = EventMaker(Mask(["s3cret!"])).make(outcome, False, 0)
        expect_text(event["changes"][0]["diff"], self)

    def test_too_large(self) -> None:
        """An event that would not fit a frame loses its diff before anything else."""
        outcome = Outcome(item("file", "/f"))
        outcome.changes = [Change("content", "a", "b", "\x01" * LARGEST)]
        event = EventMaker(Mask()).make(outcome, False, 0)
        self.assertLess(len(json.dumps(event)), LARGEST)
        self.assertIn("omitted", event["changes"][0]["diff"])

    def test_status(self) -> None:
        """Failed goes before skipped, skipped before changed, changed before stable."""
        outcome = Outcome(item("file", "/f"))
        seen = [outcome.status]
        for name in ("changed", "skipped", "failed"):
            setattr(outcome, name, True)
            seen.append(outcome.status)
        self.assertEqual(seen, ["stable", "changed", "skipped", "failed"])
