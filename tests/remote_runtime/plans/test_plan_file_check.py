import os
import shutil
import tempfile
import unittest
from typing import Any, Dict, List

from remote_runtime.changes import Change
from remote_runtime.content import Bytes
from remote_runtime.effects import PackageEffect, PathEffect, UnitEffect
from remote_runtime.errors import HostError, ProtocolError
from remote_runtime.plans.plan_file_check import (
    LENGTH,
    OPERATION,
    Binding,
    Observer,
    PushPreview,
    parse,
)
from remote_runtime.reporting.events import EventMaker, Outcome
from remote_runtime.reporting.masking import Mask
from tests.remote_runtime.controller import Target
from tests.remote_runtime.fakes import (
    GROUP,
    OWNER,
    DirectoryTest,
    item,
)
from tests.texts import expect_text

SALT = "ab" * 16
SERIAL = "cd" * 16


class RehearsalTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.state = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, self.state)

    def run_plan(self, *resources: Dict[str, Any], **settings: Any) -> Target:
        target = Target(self.path("ccm.lock"), self.state, ())
        target.push(*resources, **settings)
        return target

    def want(self, name: str, **properties: Any) -> Dict[str, Any]:
        wanted = dict({"owner": OWNER, "group": GROUP, "mode": "0644"}, **properties)
        return {"type": "file", "name": self.path(name), "properties": wanted}

    def binding(self, *resources: Dict[str, Any]) -> Dict[str, Any]:
        """What a preview of these resources says to hold a push to."""
        events = self.run_plan(*resources, noop=True, binding={"salt": SALT}).events
        return {
            "salt": SALT,
            "serial": SERIAL,
            "observed": [event["observed"] for event in events],
            "certain": [n for n, e in enumerate(events) if e["prediction"] == "certain"],
        }

    def refusal(self, target: Target) -> Dict[str, Any]:
        self.assertEqual(target.events, [])
        error: Dict[str, Any] = target.of("done")[0]["error"]
        return error

    def test_digests_only_when_asked(self) -> None:
        """Only a preview that is kept tells digests, the same each time, others for other salts."""
        plan = [self.want("a", content="x"), self.want("b", content="x")]
        self.assertNotIn("observed", self.run_plan(*plan, noop=True).events[0])
        first, again = self.binding(*plan), self.binding(*plan)
        self.assertEqual(first, again)
        self.assertEqual(len(set(first["observed"])), 2)
        other = self.run_plan(*plan, noop=True, binding={"salt": "00" * 16}).events
        self.assertNotEqual(other[0]["observed"], first["observed"][0])

    def test_operations_of_a_preview(self) -> None:
        """The event of a change has what the overlay recorded; that of a push has nothing."""
        plan = [self.want("a", content="x"), self.want("gone", ensure="absent")]
        events = self.run_plan(*plan, noop=True).events
        operation = {"kind": "path", "name": self.path("a"), "state": "file"}
        self.assertEqual(events[0]["operations"], [operation])
        self.assertNotIn("operations", events[1])
        self.assertNotIn("operations", self.run_plan(*plan).events[0])

    def test_as_planned(self) -> None:
        """A host that is as it was observed is changed, and the plan is used up there."""
        plan = [self.want("a", content="x"), self.want("gone", ensure="absent")]
        self.write("gone", b"old")
        binding = self.binding(*plan)
        target = self.run_plan(*plan, binding=binding)
        self.assertEqual([e["status"] for e in target.events], ["changed", "changed"])
        self.assertNotIn("observed", target.events[0])
        again = self.refusal(self.run_plan(*plan, binding=binding))
        self.assertEqual(again["kind"], "plan.refused.used")

    def test_drift_refuses(self) -> None:
        """What is no longer as observed is named, nothing is changed, and the plan stays usable."""
        plan = [self.want("a", content="x"), self.want("b", content="new", mode="0600")]
        self.write("b", b"old")
        os.chmod(self.path("b"), 0o644)
        binding = self.binding(*plan)
        os.chmod(self.path("b"), 0o640)
        error = self.refusal(self.run_plan(*plan, binding=binding))
        self.assertEqual(error["kind"], "plan.refused.drifted")
        told = "the host has drifted since the plan was created: file#%s (mode is 0640)"
        self.assertTrue(error["message"].startswith(told % self.path("b")), error["message"])
        self.assertFalse(os.path.exists(self.path("a")))
        self.assertNotIn("plans", os.listdir(self.state))
        os.chmod(self.path("b"), 0o644)
        events = self.run_plan(*plan, binding=binding).events
        self.assertEqual([e["status"] for e in events], ["changed", "changed"])

    def test_a_diff_stands_apart_from_the_hint(self) -> None:
        """The diff of what drifted ends before the line that says what to do."""
        plan = [self.want("a", content="planned\n")]
        self.write("a", b"old\n")
        binding = self.binding(*plan)
        self.write("a", b"drifted\n")
        lines = self.refusal(self.run_plan(*plan, binding=binding))["message"].split("\n")
        self.assertIn("+planned", lines)
        self.assertTrue(lines[-1].startswith("(nothing was changed"), lines)

    def test_what_a_file_that_goes_holds_is_observed(self) -> None:
        """A file that was edited since is not removed."""
        plan = [self.want("gone", ensure="absent")]
        self.write("gone", b"old")
        binding = self.binding(*plan)
        self.write("gone", b"new")
        error = self.refusal(self.run_plan(*plan, binding=binding))
        self.assertEqual(error["kind"], "plan.refused.drifted")
        self.assertEqual(self.read("gone"), b"new")

    def test_as_desired_already_is_fine(self) -> None:
        """Somebody did it meanwhile: that is no drift."""
        plan = [self.want("a", content="x"), self.want("b", content="x")]
        binding = self.binding(*plan)
        self.write("a", b"x")
        os.chmod(self.path("a"), 0o644)
        events = self.run_plan(*plan, binding=binding).events
        self.assertEqual([e["status"] for e in events], ["stable", "changed"])

    def test_a_part_that_was_put_right_is_fine(self) -> None:
        """Somebody set the mode as it is to be: the content that the plan changes still is."""
        plan = [self.want("a", content="x", mode="0600")]
        self.write("a", b"old")
        os.chmod(self.path("a"), 0o644)
        binding = self.binding(*plan)
        os.chmod(self.path("a"), 0o600)
        events = self.run_plan(*plan, binding=binding).events
        self.assertEqual([c["what"] for c in events[0]["changes"]], ["content"])

    def test_a_file_that_was_made_otherwise_is_drift(self) -> None:
        """Where the plan makes a file, one that holds something else is not overwritten."""
        plan = [self.want("a", content="x")]
        binding = self.binding(*plan)
        self.write("a", b"theirs")
        os.chmod(self.path("a"), 0o644)
        error = self.refusal(self.run_plan(*plan, binding=binding))
        self.assertIn("file#%s (content differs)" % self.path("a"), error["message"])
        self.assertEqual(self.read("a"), b"theirs")

    def test_what_follows_from_a_drift_is_not_named(self) -> None:
        """A command that the edited file would fire has not drifted itself."""
        fired = {
            "type": "exec",
            "name": "fired",
            "properties": {"command": "true", "refresh_only": True},
            "subscribe": ["file#%s" % self.path("a")],
        }
        plan = [self.want("a", content="x"), fired]
        self.run_plan(*plan)
        binding = self.binding(*plan)
        self.write("a", b"edited")
        error = self.refusal(self.run_plan(*plan, binding=binding))
        self.assertIn("content differs", error["message"])
        self.assertNotIn("exec#fired", error["message"])

    def test_what_a_plan_is_not_bound_to_is_no_drift(self) -> None:
        """Where no digest is given, as behind an earlier stage, anything may be found."""
        plan = [self.want("a", content="x")]
        binding = self.binding(*plan)
        self.write("a", b"other")
        events = self.run_plan(*plan, binding=dict(binding, observed=[""], certain=[])).events
        self.assertEqual([e["status"] for e in events], ["changed"])

    def test_what_was_stable_and_would_change_is_drift(self) -> None:
        """A plan that changes nothing of a file lets nothing of it be changed."""
        plan = [self.want("a", content="x")]
        self.run_plan(*plan)
        binding = self.binding(*plan)
        self.write("a", b"edited")
        error = self.refusal(self.run_plan(*plan, binding=binding))
        told, *diff = error["message"].split("\n")
        self.assertIn("file#%s (content differs)" % self.path("a"), told)
        self.assertNotIn("sha256", error["message"])
        self.assertIn("-edited", diff)
        self.assertIn("+x", diff)
        self.assertEqual(self.read("a"), b"edited")

    def test_other_resources_are_refused(self) -> None:
        """A run with more or fewer turns than were planned changes nothing."""
        binding = self.binding(self.want("a", content="x"), self.want("b", content="x"))
        error = self.refusal(self.run_plan(self.want("a", content="x"), binding=binding))
        self.assertEqual(error["kind"], "plan.refused.drifted")

    def upset(self, name: str) -> Dict[str, Any]:
        """An exec that edits a file."""
        command = "printf edited > %s" % self.path(name)
        return {
            "type": "exec", "name": "x", "provider": "shell", "properties": {"command": command},
        }  # fmt: skip

    def test_certain_or_not_at_all(self) -> None:
        """What an earlier resource of the run upsets fails unacted where the plan was certain."""
        plan = [self.upset("b"), self.want("b", content="new")]
        self.write("b", b"old")
        os.chmod(self.path("b"), 0o644)
        binding = self.binding(*plan)
        binding["certain"] = [0, 1]
        events = self.run_plan(*plan, binding=binding).events
        self.assertEqual([e["status"] for e in events], ["changed", "failed"])
        expect_text(events[1]["error"][0], self)
        self.assertEqual(self.read("b"), b"edited")

    def test_what_is_not_certain_acts(self) -> None:
        """A prediction that was no promise is no obstacle."""
        plan = [self.upset("b"), self.want("b", content="new")]
        binding = self.binding(*plan)
        binding["certain"] = [0]
        events = self.run_plan(*plan, binding=binding).events
        self.assertEqual([e["status"] for e in events], ["changed", "changed"])

    def test_an_unwritable_state_refuses(self) -> None:
        """Where it cannot be noted that a plan is used, it is not carried out."""
        plan = [self.want("a", content="x")]
        binding = self.binding(*plan)
        with open(os.path.join(self.state, "plans"), "w"):
            pass
        error = self.refusal(self.run_plan(*plan, binding=binding))
        self.assertEqual(error["kind"], "plan.refused.unrecorded")
        self.assertFalse(os.path.exists(self.path("a")))

    def test_a_broken_binding(self) -> None:
        """A member of another kind is an error of the protocol."""
        with self.assertRaisesRegex(ProtocolError, "binding.observed must be"):
            parse({"salt": SALT, "observed": "x"})

    def told(self, observed: List[str], secrets: Any = ()) -> str:
        """Why a rehearsal of a change from s3cret to new refuses."""
        trial = PushPreview(
            Binding(SALT, SERIAL, observed, ()), Observer(SALT), EventMaker(Mask(secrets))
        )
        outcome = Outcome(item("file", "/x"))
        outcome.changed = True
        outcome.changes = [Change("owner", "s3cret", "new")]
        trial.ended(outcome, True, 0.1)
        with self.assertRaises(HostError) as caught:
            trial.require_no_drift()
        return caught.exception.message

    def test_drift_is_told_masked(self) -> None:
        """What is found is told without the secrets of the run."""
        expect_text(self.told(["00"]), self)
        self.assertNotIn("s3cret", self.told(["00"], ["s3cret"]))


def recording(*effects: Any, name: str = "a", unknown: bool = False) -> Outcome:
    """A package that would change so, with these operations."""
    outcome = Outcome(item("package", name))
    outcome.changed = True
    outcome.changes = [Change("ensure", "1", "2")]
    outcome.recorded = effects
    if unknown:
        outcome.effects = [{"kind": "unknown", "name": "why", "state": "unknown"}]
    return outcome


UPGRADE = PackageEffect("a", "2")
REMOVAL = PackageEffect("b", "")
RESTART = UnitEffect("a.service", active=True, ended=True)


class OperationsTest(unittest.TestCase):
    observer = Observer(SALT, "machine")

    def differing(self, planned: Outcome, now: Outcome) -> List[str]:
        return self.observer.differing(now, self.observer.digest(planned))

    def test_what_is_not_in_the_plan_differs(self) -> None:
        """The same changes with another operation are a difference, by its place in the event."""
        planned = recording(UPGRADE)
        self.assertEqual(self.differing(planned, planned), [])
        self.assertEqual(self.differing(planned, recording(UPGRADE, REMOVAL)), [OPERATION + "1"])
        self.assertEqual(self.differing(planned, recording(RESTART, UPGRADE)), [OPERATION + "0"])

    def test_what_is_done_already_may_be_missing(self) -> None:
        """A plan with more operations than are left holds."""
        whole = recording(UPGRADE, REMOVAL, RESTART)
        self.assertEqual(self.differing(whole, recording(UPGRADE)), [])
        planned = PathEffect("/x", "file", mode=0o644, uid=0, content=Bytes(b"x"))
        rest = recording(planned._replace(content=None))
        self.assertEqual(self.differing(recording(planned), rest), [])
        other = recording(planned._replace(mode=0o600))
        self.assertEqual(self.differing(recording(planned), other), [OPERATION + "0"])

    def test_the_content_of_a_path_counts(self) -> None:
        """Also where no change names it."""
        planned, now = (PathEffect("/x", "file", content=Bytes(text)) for text in (b"x", b"y"))
        self.assertEqual(self.differing(recording(planned), recording(now)), [OPERATION + "0"])

    def test_what_nobody_could_tell_is_no_difference(self) -> None:
        """A plan that did not know the operations holds, whatever is known now."""
        planned = recording(UPGRADE, unknown=True)
        self.assertEqual(self.differing(planned, recording(UPGRADE, RESTART)), [])

    def test_many_are_compared_together(self) -> None:
        """Thousands of operations need no more digests than a few."""
        many = [PathEffect("/%d" % n, "absent") for n in range(3000)]
        digest = self.observer.digest(recording(*many))
        self.assertLess(len(digest), 250 * 16)
        self.assertEqual(self.observer.differing(recording(*many), digest), [])
        more = recording(*many, PathEffect("/more", "absent"))
        self.assertEqual(self.observer.differing(more, digest), [OPERATION])

    def test_digests_reveal_nothing_without_the_machine(self) -> None:
        """Those of another machine differ, so nobody can guess a content with the plan alone."""
        planned = recording(PathEffect("/x", "file", content=Bytes(b"s3cret")))
        theirs = Observer(SALT, "other").digest(planned)
        mine = self.observer.digest(planned)
        parts = {mine[at : at + LENGTH] for at in range(0, len(mine), LENGTH)}
        self.assertFalse([part for part in parts if part in theirs])

    def told(self, *effects: Any, secrets: Any = ()) -> str:
        """Why a push of a plan refuses a host that would do all this beside an upgrade."""
        binding = Binding(SALT, SERIAL, [self.observer.digest(recording(UPGRADE))], ())
        trial = PushPreview(binding, self.observer, EventMaker(Mask(secrets)))
        trial.ended(recording(UPGRADE, *effects), True, 0.1)
        with self.assertRaises(HostError) as caught:
            trial.require_no_drift()
        return caught.exception.message

    def test_a_push_names_what_is_not_in_the_plan(self) -> None:
        """Each operation is named, without the secrets of the run, in a bounded message."""
        expect_text(self.told(REMOVAL, RESTART), self)
        self.assertNotIn("b-s3cret", self.told(PackageEffect("b-s3cret", ""), secrets=["s3cret"]))
        many = self.told(*[PackageEffect("p%d" % n, "") for n in range(40)])
        expect_text(many, self)
        paths = [PathEffect("/%d" % n, "absent") for n in range(300)]
        expect_text(self.told(*paths, REMOVAL), self)
