import os
import unittest
import unittest.mock
from typing import Any, List, Sequence

from remote_runtime.base import ActionStateType, Change, Diff, StateType, Unknowable
from remote_runtime.effects import Below, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host.command_ports import of_command
from remote_runtime.managed_resources import managed_class
from remote_runtime.managed_resources.managed_resource import ManagedResource
from remote_runtime.provider import Provider
from remote_runtime.reporting.masking import MASKED
from remote_runtime.tasks import Task, TaskStateType
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from tests.remote_runtime.fakes import DirectoryTest, context, item, one, run_items
from tests.remote_runtime.host.kinds import Kinds, kind_of, run, thing
from tests.texts import expect_text


def told(event: Any) -> List[Any]:
    return [(change["what"], change["from"], change["to"]) for change in event["changes"]]


class Note(StateType):
    """A file of one line, and its mode."""

    noun = "note"

    def read(self, host: Any) -> Any:
        node = host.files.lstat(self.name)
        if node is None:
            return None
        text = host.files.read(self.name).decode()
        return {"text": text, "mode": "%04o" % node.mode}

    def desired(self) -> Any:
        return {"text": self.properties["text"], "mode": "0644"}

    def apply(self, host: Any, diff: Diff) -> None:
        host.files.write(self.name, self.properties["text"].encode(), mode=0o644)

    def remove(self, host: Any) -> None:
        host.files.unlink(self.name)


class Both(object):
    """Makes notes by one registry and all else by another."""

    def __init__(self, notes: Kinds, others: Kinds) -> None:
        self.notes, self.others = notes, others

    def create(self, wanted: Any, prepare: bool = True) -> Any:
        return (self.notes if wanted.type == "note" else self.others).create(wanted)


class ManagedResourceTest(DirectoryTest):
    def test_created(self) -> None:
        """Preview and push tell the same, and the second push nothing."""
        note = item("note", self.path("a"), properties={"text": "x"})
        preview = one(run(Note, note, noop=True))
        expect_text(preview["noop_message"], self)
        self.assertEqual(preview["prediction"], "certain")
        push = one(run(Note, note))
        changes = [("ensure", "absent", "present"), ("text", None, "x"), ("mode", None, "0644")]
        self.assertEqual((told(preview), told(push)), (changes, changes))
        self.assertEqual(one(run(Note, note))["status"], "stable")
        self.assertEqual(self.read("a"), b"x")

    def test_only_what_differs(self) -> None:
        """An update tells the keys that differ."""
        note = item("note", self.write("a", b"old", 0o644), properties={"text": "new"})
        for noop in (True, False):
            self.assertEqual(told(one(run(Note, note, noop=noop))), [("text", "old", "new")])

    def test_a_type_that_removes_nothing(self) -> None:
        """The author of the type is told; preview and push fail alike."""

        class Kept(Note):
            remove = StateType.remove

        note = item("note", self.write("a", b"old"), properties={"ensure": "absent"})
        for noop in (True, False):
            event = one(run(Kept, note, noop=noop))
            self.assertEqual(event["status"], "failed")
            self.assertIn("defines no method remove", str(event))
        self.assertEqual(self.read("a"), b"old")

    def test_removed(self) -> None:
        """With ``ensure: absent``; what is not there is stable."""
        note = item("note", self.write("a", b"old"), properties={"ensure": "absent"})
        preview = one(run(Note, note, noop=True))
        expect_text(preview["noop_message"], self)
        self.assertEqual(one(run(Note, note))["final_ensure"], "absent")
        self.assertEqual(one(run(Note, note))["status"], "stable")

    def test_later_ones_see_it(self) -> None:
        """What is recorded counts for the next resource, and for certain."""
        notes = [item("note", self.path("a"), at, properties={"text": "x"}) for at in (0, 1)]
        events = run(Note, *notes, noop=True)
        self.assertEqual([event["status"] for event in events], ["changed", "stable"])
        self.assertEqual({event["prediction"] for event in events}, {"certain"})

    def test_a_failure_is_foretold(self) -> None:
        """What the machine would refuse is an error of the preview, in the same words."""
        note = item("note", self.path("no", "a"), properties={"text": "x"})
        events = [one(run(Note, note, noop=noop)) for noop in (True, False)]
        self.assertEqual(events[0]["error"], events[1]["error"])
        expect_text(events[0]["error"][0], self)

    def test_what_a_failure_that_may_not_come_leaves(self) -> None:
        """If an earlier change may help, what the resource would leave is unknown, not missing."""

        class Copy(StateType):
            """A note at another place than its name says, from one that may come."""

            def read(self, host: Any) -> Any:
                return {} if host.files.exists(self.properties["path"]) else None

            def desired(self) -> Any:
                return {}

            def apply(self, host: Any, diff: Diff) -> None:
                text = host.files.read(self.properties["source"])
                host.files.write(self.properties["path"], text, mode=0o644)

        source, kept = self.path("come", "x"), self.path("note.conf")
        named = ("note", kept), ("other", self.path("z")), (self.path("d"), self.path("d", "y"))
        for name, path in named:
            copy = item("copy", name, properties={"source": source, "path": path})
            ctx = context([copy], noop=True)
            fog = UnknownEffect(Uncertainty(UNKNOWN, "why"), Below(self.path("come")))
            ctx.expect([fog], Uncertainty(), "git#come")
            event = one(run_items([copy], Kinds(ctx, Copy), shared=ctx))
            self.assertEqual((event["status"], event["prediction"]), ("changed", UNKNOWN))
            with ctx.for_resource(item("file", path, 1), noop=True):
                ctx.files.exists(path)
                self.assertEqual(ctx.uncertainty.level, UNKNOWN, name)
            with ctx.for_resource(item("file", "/srv/elsewhere", 2), noop=True):
                ctx.files.exists("/srv/elsewhere")
                self.assertEqual(ctx.uncertainty.level, "", name)

    def test_not_achieved(self) -> None:
        """A type that does not bring about what it wants fails, in the preview too."""

        class Lazy(Note):
            def apply(self, host: Any, diff: Diff) -> None:
                host.files.write(self.name, b"other", mode=0o644)

        note = item("note", self.path("a"), properties={"text": "x"})
        events = [one(run(Lazy, note, noop=noop)) for noop in (True, False)]
        wanted = "desired state not achieved: text is 'other', not 'x'"
        self.assertEqual([event["error"] for event in events], [[wanted], [wanted]])

    def test_a_program_leaves_doubt(self) -> None:
        """Nobody can tell what it does, unless it says what it affects."""

        def kind(**options: Any) -> Any:
            return kind_of(apply=lambda host: host.commands.run(["true"], **options))

        note = item("note", self.write("a", b"x", 0o644), 1, properties={"text": "x"})
        for options, expected in (
            ({}, "assumed"),
            ({"affects": [self.root]}, "assumed"),
            ({"affects": ["/srv/elsewhere"]}, "certain"),
        ):
            ctx = context([thing(), note], noop=True)
            both = Both(Kinds(ctx, Note), Kinds(ctx, kind(**options)))
            events = run_items([thing(), note], both, shared=ctx)
            self.assertEqual([e["prediction"] for e in events], ["certain", expected])

    def test_a_program_that_fails(self) -> None:
        """Its exit code and the tail of its output are told."""
        kind = kind_of(apply=lambda host: host.commands.run(["sh", "-c", "echo no >&2; exit 3"]))
        event = one(run(kind, thing()))
        self.assertIn("sh: exit code 3", event["error"][0])
        self.assertIn("no", event["error"][1])

    def test_secrets(self) -> None:
        """A secret key's values stand in no record."""
        state = {"password": "old"}
        kind = kind_of(
            read=lambda host: dict(state),
            apply=lambda host: state.update(password="new"),
            desired={"password": "new"},
        )
        kind.secret = ("password",)
        event = one(run(kind, thing()))
        self.assertEqual(told(event), [("password", MASKED, MASKED)])
        self.assertEqual(one(run(kind, thing(), status_only=True))["properties"], {})
        stays = kind_of(read=lambda host: {"password": "old"}, desired={"password": "new"})
        stays.secret = ("password",)
        wanted = "desired state not achieved: password differs from the desired state"
        self.assertEqual(one(run(stays, thing()))["error"], [wanted])

    def test_unsupported(self) -> None:
        """A host that lacks something fails the resource with the reason."""
        kind: Any = kind_of()
        kind.unsupported = lambda self, host: "no systemd here"
        expect_text(one(run(kind, thing()))["error"], self)

    def test_refresh(self) -> None:
        """Only a type that defines it is refreshed; preview and push tell it alike."""
        refreshed: List[str] = []

        class Fresh(Note):
            def refresh(self, host: Any) -> None:
                refreshed.append(self.name)

        note = item("note", self.write("a", b"x", 0o644), properties={"text": "x"})
        ctx = context()
        for kind, expected in (
            (Note, []),
            (Fresh, ["Would have refreshed the note via subscribe"]),
        ):
            resource = ManagedResource(kind, note, Provider(ctx), ctx)
            actions = resource.actions(resource.observe(), True)
            self.assertEqual([action.message for action in actions], expected)
            for action in actions:
                action.call()
        self.assertEqual(refreshed, [note.name])

    def test_a_kept_plan(self) -> None:
        """Its digest is of what decides; drift is told by what is desired."""
        note = item("note", self.write("a", b"x", 0o644), properties={"text": "y"})
        ctx = context()
        resource = ManagedResource(Note, note, Provider(ctx), ctx)
        state = resource.observe()
        self.assertEqual(resource.observation(state), {"text": "x", "mode": "0644"})
        found = {"text": "x", "mode": "0644", "ensure": "present"}
        self.assertEqual(resource.drift_state(), found)
        self.assertEqual(resource.found(), found)

    def test_a_look_up(self) -> None:
        """Any type can answer; one that does not define it has no answers."""

        class Known(Note):
            def answers(self, host: Any) -> Any:
                return {"text": host.files.read(self.name).decode()}

        note, ctx = item("note", self.write("a", b"x")), context()
        answers = [ManagedResource(k, note, Provider(ctx), ctx).answer() for k in (Known, Note)]
        self.assertEqual(answers, [{"text": "x"}, None])

    def test_what_is_remembered(self) -> None:
        """What is remembered of a turn is what it found at its end, without another look."""
        note = item("note", self.write("a", b"x", 0o644), properties={"text": "x"})
        ctx = context()
        for kind in (Note, Steps):
            resource = managed_class(kind)(kind, note, Provider(ctx), ctx)
            resource.state_left = resource.observe()
            with unittest.mock.patch.object(kind, "read", side_effect=AssertionError):
                found = {"text": "x", "mode": "0644", "ensure": "present"}
                self.assertEqual(resource.drift_state(), found)


class Steps(TaskStateType):
    """The same, one task after the other."""

    def read(self, host: Any) -> Any:
        return dict(Note(self.name, self.properties).read(host), ensure="present")

    def left(self, host: Any, found: Any = None) -> Any:
        return found or self.read(host)


class Tasks(TaskStateType):
    """Does these, one after the other."""

    acts: Sequence[Any] = ()

    def read(self, host: Any) -> Any:
        return {}

    def tasks(self, host: Any, found: Any) -> List[Task]:
        changes = [Change("task", None, "done")]
        return [Task("Would have done", act, changes) for act in self.acts]


class TaskTest(DirectoryTest):
    """A state type that does one task after the other."""

    def previewed(self, *acts: Any) -> List[Any]:
        """The events of a preview of these tasks, and of a resource behind them; what is below
        ``fog`` is not known."""

        class Acting(Tasks):
            """Those."""

        Acting.acts = acts
        ctx = context(noop=True)
        fog = UnknownEffect(Uncertainty(UNKNOWN, "why"), Below(self.path("fog")))
        ctx.expect([fog], Uncertainty(), "git#fog")
        items = [
            item("tasks", "a"),
            item("note", self.path("b"), 1, properties={"text": "x"}),
        ]
        kinds: Any = Both(Kinds(ctx, Note), Kinds(ctx, Acting))
        return run_items(items, kinds, noop=True, shared=ctx)

    def test_a_failure_stays_certain(self) -> None:
        """What a later task reads does not make it less so."""

        def refuse(host: Any) -> None:
            raise ResourceError("read-only")

        def read(host: Any) -> None:
            host.files.lstat(self.path("fog/x"))

        event = self.previewed(refuse, read)[0]
        self.assertEqual((event["failed"], event["error"]), (True, ["read-only"]))

    def test_what_cannot_be_predicted_may_change_anything(self) -> None:
        """Later resources are assumed, as after a command."""

        def unknown(host: Any) -> None:
            raise Unknowable("only the push knows")

        first, later = self.previewed(unknown)
        self.assertEqual((first["prediction"], later["prediction"]), (UNKNOWN, ASSUMED))
        expect_text(later["prediction_reason"], self)


class Touch(ActionStateType):
    """Makes a file with a command where there is none."""

    done = "touched"
    asked: List[str] = []

    @property
    def refresh_only(self) -> bool:
        return bool(self.properties.get("refresh_only"))

    def due(self, host: Any) -> bool:
        self.asked.append(self.name)
        return not host.files.exists(self.name)

    def desired(self) -> Any:
        return {"path": self.name}

    def act(self, host: Any) -> None:
        command = of_command("touch %s" % self.name, {}, "posix")
        host.commands.execute(command, creates=self.name)


class ActionTest(DirectoryTest):
    """A state type that acts and has no state of its own."""

    def setUp(self) -> None:
        super().setUp()
        Touch.asked = []

    def resource(self, **properties: Any) -> Any:
        ctx = context()
        touch = item("touch", self.path("a"), properties=properties)
        return managed_class(Touch)(Touch, touch, Provider(ctx), ctx)

    def test_due(self) -> None:
        """It acts once; preview and push tell the same, and it is asked once in each."""
        touch = item("touch", self.path("a"))
        for noop in (True, False):
            event = one(run(Touch, touch, noop=noop))
            self.assertEqual(told(event), [("path", None, touch.name)])
            self.assertEqual((event["final_ensure"], event["changed"]), ("present", True))
        self.assertEqual((len(Touch.asked), self.read("a")), (2, b""))
        self.assertEqual(one(run(Touch, touch))["status"], "stable")

    def test_a_preview(self) -> None:
        """What it creates counts for later ones."""
        touches = [item("touch", self.path("a"), at) for at in (0, 1)]
        events = run(Touch, *touches, noop=True)
        expect_text(events[0]["noop_message"], self)
        self.assertEqual([event["status"] for event in events], ["changed", "stable"])
        self.assertEqual([event["prediction"] for event in events], ["certain", "certain"])

    def test_refresh(self) -> None:
        """A subscription acts without a question; without one, ``refresh_only`` rests."""
        rests = self.resource(refresh_only=True)
        self.assertEqual(rests.actions(rests.observe(), False), [])
        messages = [action.message for action in rests.actions(rests.observe(), True)]
        expect_text(messages, self)
        self.assertEqual(rests.assumed_actions(False), [])
        self.assertEqual(Touch.asked, [])

    def test_status(self) -> None:
        """It is absent where it is due, and leaves nothing that could drift."""
        self.assertEqual(self.resource().found(), {"ensure": "absent"})
        self.write("a")
        self.assertEqual(self.resource().found(), {"ensure": "present"})
        self.assertEqual(self.resource().drift_state(), {})


class RefusalTest(DirectoryTest):
    """The overlay refuses what the machine refuses, in the same words."""

    def refused(self, call: Any) -> List[str]:
        words = [self.refusal(call, noop) for noop in (True, False)]
        self.assertEqual(words[0], words[1])
        return words

    def refusal(self, call: Any, noop: bool) -> str:
        done: List[int] = []

        def read(host: Any) -> Any:
            return {"done": 1} if done else None

        def apply(host: Any) -> None:
            call(host)
            done.append(1)

        event = one(run(kind_of(read, apply, {"done": 1}), thing(), noop=noop))
        return event["error"][0] if event["error"] else ""

    def test_kinds(self) -> None:
        """What is at a path and may not be replaced."""
        self.write("file", b"x")
        os.mkdir(self.path("full"))
        self.write("full/a", b"x")
        os.mkdir(self.path("empty"))
        at = self.path
        for call, expected in (
            (lambda h: h.files.symlink("x", at("file")), "is a file"),
            (lambda h: h.files.symlink("x", at("file"), replace=True), "is a file"),
            (lambda h: h.files.symlink("x", at("empty")), "is a directory"),
            (lambda h: h.files.symlink("x", at("full"), replace=True), "not empty: it contains a"),
            (lambda h: h.files.symlink("x", at("file", "a")), "is not a directory"),
            (lambda h: h.files.symlink("x", at("n" * 300)), "the name is too long"),
            (lambda h: h.files.symlink("\u00e9" * 3000, at("new")), "the name is too long"),
            (lambda h: h.files.write(at("empty"), b"", mode=0o600), "is a directory"),
            (lambda h: h.files.mkdir(at("file"), 0o755), "is a file"),
            (lambda h: h.files.mkdir(at("no", "a"), 0o755), "does not exist"),
            (lambda h: h.files.unlink(at("empty")), "is a directory"),
            (lambda h: h.files.unlink(at("file"), kind="symlink"), "is a file"),
            (lambda h: h.files.rmdir(at("full")), "not empty"),
            (lambda h: h.files.rmdir(at("file")), "is a file"),
            (lambda h: h.files.remove_tree(at("file")), "is a file"),
            (lambda h: h.files.remove_tree("/"), "cannot be removed"),
            (lambda h: h.files.set_attributes(at("no"), 0o644, -1, -1), "does not exist"),
            (lambda h: h.commands.run(["ccm-no-such-program"]), "ccm-no-such-program"),
        ):
            self.assertIn(expected, self.refused(call)[0])

    def test_what_is_as_wanted(self) -> None:
        """Nothing to remove is no failure."""
        at = self.path
        for call in (
            lambda h: h.files.unlink(at("no")),
            lambda h: h.files.rmdir(at("no")),
            lambda h: h.files.remove_tree(at("no", "a")),
        ):
            self.assertEqual(self.refused(call), ["", ""])

    def test_what_fails_leaves_nothing(self) -> None:
        """A link that cannot be swapped in leaves the old one, and nothing beside it."""
        from unittest import mock

        os.symlink("old", self.path("a"))

        def apply(host: Any) -> None:
            host.files.symlink("new", self.path("a"))

        with mock.patch("os.rename", side_effect=OSError(28, "No space")):
            event = one(run(kind_of(apply=apply), thing()))
        expect_text(event["error"][0], self)
        self.assertEqual((os.listdir(self.root), os.readlink(self.path("a"))), (["a"], "old"))


if __name__ == "__main__":
    unittest.main()
