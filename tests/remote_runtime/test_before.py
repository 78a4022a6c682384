"""Previews of a plan behind other plans: what those would leave, and nothing else of them."""

import json
import os
from typing import Any, Dict, List

from tests.remote_runtime.controller import RuntimeTest, Target
from tests.remote_runtime.fakes import GROUP, OWNER, blob

ATTRIBUTES = {"owner": OWNER, "group": GROUP, "mode": "0644"}
SALT = "ab" * 16
VOLATILE = ("event_id", "timestamp", "duration")
SECRET = "s3cr3t-value"

Resource = Dict[str, Any]


class BeforeTest(RuntimeTest):
    def want(self, name: str, **properties: Any) -> Resource:
        wanted = dict(ATTRIBUTES, **properties)
        return {"type": "file", "name": self.path(name), "properties": wanted}

    def absent(self, name: str) -> Resource:
        return {"type": "file", "name": self.path(name), "properties": {"ensure": "absent"}}

    def shell(self, name: str, command: str = "true", **properties: Any) -> Resource:
        wanted = dict(properties, command=command)
        return {"type": "exec", "name": name, "provider": "shell", "properties": wanted}

    def preview(self, *resources: Resource, **settings: Any) -> Target:
        target = self.target()
        target.push(*resources, noop=True, **settings)
        return target

    def behind(self, first: List[Resource], *resources: Resource, **settings: Any) -> Target:
        return self.preview(*resources, before=[{"resources": first}], **settings)

    def told(self, events: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        return [{k: v for k, v in event.items() if k not in VOLATILE} for event in events]

    def refusal(self, *resources: Resource, **settings: Any) -> Dict[str, Any]:
        target = self.target()
        target.push(*resources, **settings)
        self.assertEqual(target.events, [])
        error: Dict[str, Any] = target.of("done")[0]["error"]
        return error

    def test_as_within_one_plan(self) -> None:
        """What a resource finds, and how sure that is, is the same as in one plan with the rest."""
        self.write("there", b"old\n")
        self.write("doomed", b"x")
        copy = {"type": "file", "name": self.path("copy"), "properties": dict(
            ATTRIBUTES, source=self.path("in"))}  # fmt: skip
        cases = {
            "what is made": ([self.want("in", content="new\n")], copy),
            "where nothing is": ([self.absent("in")], copy),
            "its name twice": ([self.want("copy", content="new\n"), self.want("in")], copy),
            "creates": (
                [self.want("in", content="x")],
                self.shell("x", creates=self.path("in")),
            ),
            "guard": (
                [self.absent("doomed")],
                self.shell("x", onlyif="test -e " + self.path("doomed")),
            ),
            "fog": ([self.shell("any")], self.want("there", content="old\n")),
            "failing": ([self.want("no/in", content="x")], copy),
            "failing in fog": ([self.shell("any"), self.want("no/in", content="x")], copy),
            "a child in noop": ([dict(self.want("in", content="x"), noop=True)], copy),
        }
        for what, (first, resource) in cases.items():
            whole = self.preview(*first, resource).events
            found = self.behind(first, resource).events
            self.assertEqual(self.told(found), self.told(whole[-1:]), what)
        self.assertEqual(sorted(os.listdir(self.root)), ["doomed", "there"])

    def test_the_layer_counts(self) -> None:
        """A file that an earlier plan would write is there for a later one, and only for it."""
        first = [self.want("in", content="x")]
        waits = self.shell("x", creates=self.path("in"))
        self.assertEqual(self.behind(first, waits).events[0]["status"], "stable")
        self.assertEqual(self.preview(waits).events[0]["status"], "changed")
        (event,) = self.behind([self.shell("any")], waits).events
        self.assertEqual((event["status"], event["prediction"]), ("changed", "assumed"))

    def test_an_assumption_names_the_stage(self) -> None:
        """A later stage may have the same resource, so the ID alone is not enough."""
        first = {"resources": [self.shell("any")], "stage": "one"}
        (event,) = self.preview(self.shell("any"), before=[first]).events
        told = "exec#any of stage one may change the host first"
        self.assertEqual(event["prediction_reason"], told)

    def test_names_end_at_the_plan(self) -> None:
        """What a plan requires and subscribes to stands in itself; a failure before is not its."""
        first = [self.want("a", content="x"), self.want("no/b", content="x"), self.want("c")]
        name = "file#" + self.path("a")
        follower = dict(self.shell("x", refresh_only=True), subscribe=[name])
        needy = dict(self.shell("y"), require=[name])
        target = self.preview(follower, needy, before=[{"resources": first, "fail_on_error": True}])
        follows, needs = target.events
        self.assertEqual((follows["status"], follows["refreshed"]), ("stable", False))
        self.assertEqual(needs["unmet_requirements"], [name])
        self.assertEqual(len(target.of("passed")), 2)  # nothing starts after the failure

    def test_several_in_their_order(self) -> None:
        """Each plan sees all before it; their events are neither told nor counted."""
        plans = [
            {"resources": [self.want("a", content="1"), self.want("b", source=self.path("a"))]},
            {"resources": [self.absent("a")]},
            {"resources": [self.want("c", source=self.path("b"))]},
        ]
        target = self.preview(
            self.shell("a", creates=self.path("a")),
            self.shell("c", creates=self.path("c")),
            before=plans,
            diff=True,
        )
        self.assertEqual([e["status"] for e in target.events], ["changed", "stable"])
        self.assertEqual([f["seq"] for f in target.of("event")], [1, 2])
        done = target.of("done")[0]
        self.assertEqual((done["events"], done.get("error")), (2, None))
        self.assertEqual(len(target.of("passed")), 4)

    def test_nothing_else_is_told(self) -> None:
        """A notice of an earlier plan is that of its own preview."""
        os.mkdir(self.path("d"))
        os.symlink("d", self.path("link"))
        undone = [self.want("d/x", content="x"), self.absent("link/x")]
        self.assertIn("undo each other", self.preview(*undone).of("notice")[0]["text"])
        target = self.behind(undone, self.want("y", content="y"))
        self.assertEqual((target.of("progress"), target.of("notice")), ([], []))

    def test_deferred_templates(self) -> None:
        """A template of an earlier plan is asked for by the index behind all of the plan's own."""
        target = self.target()
        target.on["render"] = lambda frame: target.send(
            {"t": "read", "id": 1, "path": self.path("in"), "limit": 9}
        )
        target.on["content"] = lambda frame: target.send(
            {"t": "rendered", "id": 3, "properties": {"content": "got it"}}
        )
        late = dict(self.want("out"), deferred_render=True)
        copy = self.want("copy", source=self.path("out"))
        child = {"type": "apply", "name": "c.yaml", "applies": "c.yaml", "children": [
            self.shell("x", creates=self.path("out"))]}  # fmt: skip
        target.push(
            child,
            noop=True,
            before=[{"resources": [self.want("in", content="data"), late, copy]}],
        )
        self.assertEqual([f["index"] for f in target.of("render")], [3])
        self.assertEqual(target.raw, [b"data"])
        self.assertEqual([e["status"] for e in target.events], ["stable", "stable"])

    def test_blobs(self) -> None:
        """The content of an earlier plan is asked for where a later one reads it, for no diff."""
        target = self.target(b"data\n")
        unread = self.want("b", content=blob(b"never\n"))
        target.push(
            self.want("copy", source=self.path("a")),
            noop=True,
            diff=True,
            before=[{"resources": [self.want("a", content=blob(b"data\n")), unread]}],
        )
        self.assertIn("+data", json.dumps(target.events[0]["changes"]))
        self.assertEqual([f["shas"] for f in target.of("want")], [[blob(b"data\n")["$blob"]]])

    def test_digests_are_of_the_own_resources(self) -> None:
        """A plan that is kept has a digest for each own event, made behind what comes first."""
        self.write("in", b"old")
        copy = self.want("copy", source=self.path("in"))
        first = [self.want("in", content="new")]
        binding = {"salt": SALT}
        (whole,) = self.preview(*first, copy, binding=binding).events[1:]
        (behind,) = self.behind(first, copy, binding=binding).events
        (alone,) = self.preview(copy, binding=binding).events
        self.assertEqual(behind["observed"], whole["observed"])
        self.assertNotEqual(behind["observed"], alone["observed"])

    def test_secrets_of_all_are_masked(self) -> None:
        """A secret of an earlier plan, of its data or of a property, leaves the target nowhere."""
        self.write("in", (SECRET + "\n").encode())
        password = dict(self.shell("y", environment=["P=pr0perty"]), secrets=["environment"])
        target = self.preview(
            self.want("copy", source=self.path("in")),
            self.shell("echo %s P=pr0perty" % SECRET),
            diff=True,
            before=[{"resources": [password], "secrets": [SECRET]}],
        )
        self.assertEqual([e["status"] for e in target.events], ["changed", "changed"])
        self.assertNotIn(SECRET, str(target.frames))
        self.assertNotIn("pr0perty", str(target.frames))

    def test_a_refresh_that_is_due(self) -> None:
        """A refresh that an earlier plan owes since a run before is in what it would leave."""
        follower = dict(
            self.shell("follow", affects=[self.path("made")], refresh_only=True),
            subscribe=["file#" + self.path("a")],
        )
        failing = dict(follower, properties=dict(follower["properties"], command="false"))
        head = {"manifest": "infra/one.yaml"}
        self.target().push(self.want("a", content="x"), failing, digest="1" * 64, **head)
        state = self.drift_state()
        looks = self.shell("x", creates=self.path("made"))
        first = {"resources": [self.want("a", content="x"), follower], "digest": "2" * 64}
        (due,) = self.preview(looks, before=[dict(first, **head)], run_id="R2").events
        self.assertEqual(due["prediction"], "assumed")
        elsewhere = [dict(first, manifest="infra/other.yaml")]
        (other,) = self.preview(looks, before=elsewhere, run_id="R2").events
        self.assertEqual(other["prediction"], "certain")
        self.assertEqual(self.drift_state(), state)

    def drift_state(self) -> List[str]:
        found = []
        for directory, _, names in os.walk(self.state):
            found += [os.path.join(directory, name) for name in names]
        return sorted("%s %d" % (path, os.stat(path).st_mtime_ns) for path in found)

    def test_only_a_preview(self) -> None:
        """A push has no plans before it, nor has one that is held to a kept plan."""
        resource = self.want("a", content="x")
        before = [{"resources": [self.want("b", content="x")]}]
        binding = {"salt": SALT, "serial": "cd" * 16}
        for settings in ({}, {"noop": True, "binding": binding}, {"binding": binding}):
            error = self.refusal(resource, before=before, **settings)
            self.assertEqual(error["kind"], "protocol.plan", settings)
            self.assertIn("only a preview", error["message"])
        wrong: List[Any] = [{}, [1], [{"resources": 1}], [{"resources": [{"type": "file"}]}]]
        for broken in wrong:
            error = self.refusal(resource, before=broken or {"a": 1}, noop=True)
            self.assertEqual(error["kind"], "protocol.plan", broken)
        self.assertEqual(os.listdir(self.root), [])
