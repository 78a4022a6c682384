import json
import unittest
from typing import Any, Dict, List

from remote_runtime.cancellation import Cancelled
from remote_runtime.changes import Action, Change, Missing, Unknowable
from remote_runtime.effects import PathEffect, UnknownEffect, everything
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from tests.remote_runtime.fakes import (
    Script,
    ScriptRegistry,
    close,
    context,
    engine,
    item,
    one,
    run_items,
)
from tests.texts import expect_text


def error() -> ResourceError:
    return ResourceError("no good", output="tail of stderr")


class EngineTest(unittest.TestCase):
    def run_names(self, *items: Any, **options: Any) -> Dict[str, Any]:
        scripts: Dict[str, Script] = {}
        for entry in items:
            for one_of in (entry, *entry.children):
                scripts.setdefault(one_of.name, Script())
        scripts.update(options.pop("scripts", {}))
        self.scripts = scripts
        events = run_items(list(items), ScriptRegistry(**scripts), **options)
        json.dumps(events)
        return {event["name"]: event for event in events}

    def test_control(self) -> None:
        """An item that is not managed is skipped, and whoever requires it goes on."""
        events = self.run_names(item("t", "a", managed=False), item("t", "b", require=("t#a",)))
        self.assertEqual(events["a"]["status"], "skipped")
        self.assertEqual(events["b"]["status"], "changed")
        self.assertEqual(self.scripts["a"].acted, 0)

    def test_selection(self) -> None:
        """What a selection leaves out says so, stands in nobody's way and fires nothing."""
        events = self.run_names(
            item("t", "a", left_out="only", require=("t#none",), alias="first"),
            item("t", "b", require=("t#a", "t#first")),
            item("t", "c", subscribe=("t#a",)),
        )
        self.assertEqual((events["a"]["status"], events["a"]["left_out"]), ("skipped", "only"))
        self.assertEqual(events["a"]["unmet_requirements"], [])
        self.assertEqual((events["b"]["status"], events["c"]["refreshed"]), ("changed", False))
        self.assertNotIn("left_out", events["b"])
        self.assertEqual(self.scripts["a"].acted, 0)

    def test_what_a_part_leaves_undone(self) -> None:
        """A preview says how that stands which is left out and needed; nothing of it counts."""
        broken = Script(observe=error())
        events = self.run_names(
            item("t", "a", left_out="only", needed=True),
            item("t", "settled", left_out="only", needed=True),
            item("t", "b", left_out="only", needed=True),
            item("t", "d", left_out="only"),
            item("t", "c", require=("t#a",), subscribe=("t#a", "t#b")),
            noop=True,
            scripts={"settled": Script(stable=True), "b": broken},
        )
        stands = {name: event.get("left_as") for name, event in events.items()}
        self.assertEqual(
            stands,
            {"a": "differs", "settled": "as_desired", "b": "unknown", "d": None, "c": None},
        )
        self.assertEqual([events[name]["status"] for name in "abd"], ["skipped"] * 3)
        self.assertEqual((events["a"]["changed"], events["a"]["changes"]), (False, []))
        self.assertEqual((events["b"]["error"], events["c"]["refreshed"]), ([], False))
        self.assertEqual(events["c"]["prediction"], "certain")
        self.assertEqual([script.acted for script in self.scripts.values()], [0] * 5)

    def test_a_child_that_a_part_leaves_undone(self) -> None:
        """One that is made of others stands as the worst of those that are needed."""
        settled = item("t", "settled", left_out="tags", needed=True)
        other = item("t", "other", left_out="tags")
        away = item("t", "away", left_out="tags", needed=True, managed=False)
        differs = item("t", "differs", left_out="tags", needed=True)
        fields: Dict[str, Any] = {"left_out": "tags", "applies": "x.yaml"}
        events = self.run_names(
            item("t", "one", children=(settled, other, away), **fields),
            item("t", "two", children=(settled, differs), **fields),
            item("t", "three", children=(other,), **fields),
            noop=True,
            scripts={"settled": Script(stable=True), "differs": Script(passive=True)},
        )
        stands = [events[name].get("left_as") for name in ("one", "two", "three")]
        self.assertEqual(stands, ["as_desired", "differs", None])

    def test_what_a_push_leaves_out_is_not_looked_at(self) -> None:
        """Outside of a preview what is left out is not even observed."""
        events = self.run_names(item("t", "a", left_out="skip", needed=True))
        self.assertNotIn("left_as", events["a"])

    def test_control_of_what_is_left_out(self) -> None:
        """What control leaves out anyway is not said to be left out by a selection."""
        events = self.run_names(item("t", "a", left_out="tags", managed=False))
        self.assertEqual(events["a"]["status"], "skipped")
        self.assertNotIn("left_out", events["a"])

    def test_left_out_composite(self) -> None:
        """A composite that is left out has one event; who requires what is in it goes on."""
        child = item("t", "child", left_out="skip", alias="inner")
        events = self.run_names(
            item("t", "whole", left_out="skip", applies="x.yaml", children=(child,)),
            item("t", "b", require=("t#child", "t#inner", "t#whole")),
        )
        self.assertEqual(list(events), ["whole", "b"])
        self.assertEqual(events["b"]["status"], "changed")

    def test_left_out_after_its_turn(self) -> None:
        """Where a resource is defined twice and is left out once, it is its turn that counts."""
        events = self.run_names(
            item("t", "a"),
            item("t", "a", left_out="tags", alias="again"),
            item("t", "b", require=("t#a",)),
            item("t", "c", require=("t#again",)),
            scripts={"a": Script(act=error())},
        )
        self.assertEqual(events["b"]["unmet_requirements"], ["t#a"])
        self.assertEqual(events["c"]["unmet_requirements"], ["t#again"])

    def test_require(self) -> None:
        """Requiring what failed skips, by alias too, and so does requiring what was skipped so."""
        events = self.run_names(
            item("t", "a", alias="first"),
            item("t", "b", require=("t#first", "t#c")),
            item("t", "c", require=("t#b",)),
            item("t", "d"),
            scripts={"a": Script(act=error())},
        )
        self.assertEqual(events["b"]["unmet_requirements"], ["t#first", "t#c"])
        self.assertEqual(events["c"]["unmet_requirements"], ["t#b"])
        self.assertEqual(events["d"]["status"], "changed")

    def test_latest_event(self) -> None:
        """It is the latest event of a resource that counts."""
        shared = Script(act=error())
        first, again = item("t", "a"), item("t", "a", alias="again")
        events: List[Dict[str, Any]] = []

        class Healing(ScriptRegistry):
            def create(self, wanted: Any, prepare: bool = True) -> object:
                if wanted.alias:
                    shared.behaviour = {}
                return shared

        events = run_items(
            [first, again, item("t", "a", require=("t#a",), alias="third")], Healing()
        )
        self.assertEqual([e["status"] for e in events], ["failed", "changed", "changed"])

    def test_failure(self) -> None:
        """A failure carries its text and the tail of the output, and the run goes on."""
        events = self.run_names(item("t", "a"), item("t", "b"), scripts={"a": Script(act=error())})
        self.assertEqual(events["a"]["error"], ["no good", "tail of stderr"])
        self.assertFalse(events["a"]["changed"])
        self.assertEqual(events["b"]["status"], "changed")

    def test_fail_on_error(self) -> None:
        """With fail_on_error nothing after the first failure runs or gets an event."""
        events = self.run_names(
            item("t", "a"), item("t", "b"), fail_on_error=True, scripts={"a": Script(act=error())}
        )
        self.assertEqual(list(events), ["a"])

    def test_defect(self) -> None:
        """A defect in a provider fails its resource with its place, and the run goes on."""
        events = self.run_names(
            item("t", "a"), item("t", "b"), scripts={"a": Script(observe=ZeroDivisionError("oops"))}
        )
        self.assertRegex(
            events["a"]["error"][0], r"resource\.defect: .*ZeroDivisionError: oops \(fakes"
        )
        self.assertEqual(events["b"]["status"], "changed")

    def test_unsettled(self) -> None:
        """A resource that is not as desired after acting has failed, with the reason."""
        events = self.run_names(item("t", "a"), scripts={"a": Script(unsettled="still 3")})
        expect_text(events["a"]["error"], self)
        self.assertTrue(events["a"]["changed"])

    def test_subscribe(self) -> None:
        """subscribe fires on a change and not on what is stable."""
        events = self.run_names(
            item("t", "a"),
            item("t", "b"),
            item("t", "fired", subscribe=("t#a",)),
            item("t", "idle", subscribe=("t#b",)),
            item("t", "either", subscribe=("t#b", "t#a")),
            item("t", "unheeding", subscribe=("t#a",)),
            scripts={
                "b": Script(stable=True),
                "fired": Script(stable=True),
                "idle": Script(stable=True),
                "either": Script(stable=True),
                "unheeding": Script(unheeding=True),
            },
        )
        self.assertEqual(
            (events["unheeding"]["changed"], events["unheeding"]["refreshed"]), (True, False)
        )
        self.assertEqual((events["fired"]["changed"], events["fired"]["refreshed"]), (True, True))
        self.assertEqual((events["idle"]["changed"], events["idle"]["refreshed"]), (False, False))
        self.assertTrue(events["either"]["refreshed"])

    def test_subscribe_to_what_changed_at_an_earlier_turn(self) -> None:
        """subscribe fires when any turn of the resource has changed it, though a later one found it
        as desired; in a preview, too."""
        for noop in (False, True):
            once = Script()
            once.behaviour["look"] = lambda once=once: once.behaviour.update(
                stable=len(once.refreshed) > 1
            )
            events = self.run_names(
                item("t", "shared", index=0, alias="other"),
                item("t", "shared", index=1, alias="other"),
                item("t", "by_name", index=2, subscribe=("t#shared",)),
                item("t", "by_alias", index=3, subscribe=("t#other",)),
                scripts={
                    "shared": once,
                    "by_name": Script(stable=True),
                    "by_alias": Script(stable=True),
                },
                noop=noop,
            )
            self.assertEqual(events["shared"]["status"], "stable")
            self.assertTrue(events["by_name"]["refreshed"])
            self.assertTrue(events["by_alias"]["refreshed"])
            if noop:
                self.assertEqual(events["by_name"]["prediction"], "certain")

    def test_what_changed_counts_behind_a_reboot(self) -> None:
        """The record for the run behind a reboot says that a resource changed, whatever its latest
        turn came to."""
        once = Script()
        once.behaviour["look"] = lambda: once.behaviour.update(stable=len(once.refreshed) > 1)
        items = [
            item("t", "a", index=0),
            item("t", "a", index=1),
            item("t", "b", index=2, subscribe=("t#a",)),
        ]
        registry, ctx = ScriptRegistry(a=once), context(items)
        self.addCleanup(close, ctx)
        ran = engine(ctx, registry, [])
        ran.run(items[:2])
        self.assertTrue(ran.record(items)["resources"]["t#a"]["changed"])

    def test_noop_subscribe(self) -> None:
        """In noop noop events fire, and a resource that is not in noop is never fired by one."""
        fired, real = Script(stable=True), Script(stable=True)
        events = self.run_names(
            item("t", "a", noop=True),
            item("t", "fired", noop=True, subscribe=("t#a",)),
            item("t", "real", subscribe=("t#a",)),
            scripts={"fired": fired, "real": real},
        )
        self.assertTrue(events["fired"]["refreshed"])
        self.assertEqual(events["real"]["status"], "stable")

    def test_what_a_push_leaves_alone(self) -> None:
        """In a preview, too, the event of a resource of a noop child says so where it tells of a
        change."""
        events = self.run_names(
            item("t", "a", noop=True),
            item("t", "b"),
            item("t", "c", noop=True),
            scripts={"c": Script(stable=True)},
            noop=True,
        )
        self.assertEqual([events[name].get("always_noop") for name in "abc"], [True, None, None])

    def test_noop(self) -> None:
        """Noop describes and does not act; its prediction is certain."""
        events = self.run_names(item("t", "a"), noop=True)
        self.assertEqual(self.scripts["a"].acted, 0)
        expect_text(events["a"]["noop_message"], self)
        self.assertEqual(events["a"]["prediction"], "certain")
        self.assertEqual(len(events["a"]["changes"]), 1)

    def read_in_fog(self, level: str, **behaviour: Any) -> Dict[str, Any]:
        """The event of a resource that reads what an earlier one may change."""
        fog = UnknownEffect(Uncertainty(level, "t#a may change it"), everything)
        ctx = context(noop=True)
        script = Script(look=lambda: ctx.record_read("unit", "x.service"), **behaviour)
        scripts = ScriptRegistry(a=Script(effects=[fog]), b=script)
        return run_items([item("t", "a"), item("t", "b", 1)], scripts, noop=True, shared=ctx)[1]

    def test_what_is_read_in_fog(self) -> None:
        """A prediction is as sure as the reads it is made of, a stable one included."""
        for stable in (True, False):
            for level in (ASSUMED, UNKNOWN):
                event = self.read_in_fog(level, stable=stable)
                self.assertEqual((event["prediction"], event["changed"]), (level, not stable))
                expect_text(event["prediction_reason"], self)

    def test_a_failure_read_in_fog(self) -> None:
        """What an earlier pending change may mend is unknown, not failed."""
        event = self.read_in_fog(ASSUMED, unsettled="")
        self.assertEqual(event["prediction"], ASSUMED)
        missing = Missing("there is no unit x.service")

        def look() -> None:
            ctx.record_read("unit", "x.service", False)
            raise missing

        ctx = context(noop=True)
        fog = UnknownEffect(Uncertainty(ASSUMED, "t#a may change it"), everything)
        scripts = ScriptRegistry(a=Script(effects=[fog]), b=Script(look=look))
        event = run_items([item("t", "a"), item("t", "b", 1)], scripts, noop=True, shared=ctx)[1]
        self.assertEqual((event["failed"], event["prediction"]), (False, UNKNOWN))
        expect_text(event["prediction_reason"], self)

    def test_no_provider_before_an_earlier_change(self) -> None:
        """What lets a provider manage it may be about to come: unknown, failed if nothing is."""

        class Unmanageable(ScriptRegistry):
            def create(self, wanted: Item, prepare: bool = True) -> Any:
                if wanted.name == "b":
                    ctx.record_read("path", "/usr/bin/tool", False)
                    raise refused
                return super().create(wanted)

        refused: ResourceError = ResourceError("no provider can", kind="resource.provider")
        unknowable = Unknowable("what t#a makes of it is not known")
        fog = UnknownEffect(Uncertainty(ASSUMED, "t#a may change it"), everything)
        for error, effects, expected in (
            (refused, [fog], (False, UNKNOWN, "no provider can; t#a may change it")),
            (unknowable, [], (False, UNKNOWN, "what t#a makes of it is not known")),
            (refused, [], (True, "certain", "")),
        ):
            refused, ctx = error, context(noop=True)
            scripts = Unmanageable(a=Script(effects=effects), b=Script(stable=True))
            items = [item("t", "a"), item("t", "b", 1)]
            event = run_items(items, scripts, noop=True, shared=ctx)[1]
            told = (event["failed"], event["prediction"], event.get("prediction_reason", ""))
            self.assertEqual(told, expected)

    def test_what_gates_a_prediction(self) -> None:
        """It is never surer than what it requires or subscribes to; a command may fail."""
        ways: List[Dict[str, Any]] = [{"require": ("t#a",)}, {"subscribe": ("t#a",)}]
        for fields in ways:
            events = self.run_names(
                item("t", "a"),
                item("t", "b", **fields),
                noop=True,
                scripts={"a": Script(chancy=True), "b": Script()},
            )
            self.assertEqual(events["a"]["prediction"], "certain")
            told = events["b"]["prediction"], events["b"]["prediction_reason"]
            self.assertEqual(told, (ASSUMED, "if t#a succeeds"))
            scripts = {"a": Script(observe=Unknowable("who knows")), "b": Script(stable=True)}
            events = self.run_names(
                item("t", "a"), item("t", "b", **fields), noop=True, scripts=scripts
            )
            self.assertEqual(events["b"]["prediction"], UNKNOWN)

    def test_what_a_failure_would_keep_from_its_turn(self) -> None:
        """Where a run ends with the first failure, what is behind a command is as sure as that."""
        for fields, prediction in (
            ({"chancy": True}, ASSUMED),
            ({"chancy": True, "stable": True}, "certain"),
            ({"observe": Unknowable("who knows")}, UNKNOWN),
            ({}, "certain"),
        ):
            for ends in (True, False):
                wanted = prediction if ends else "certain"
                child = self.apply(item("t", "a"), item("t", "b"), fail_on_error=ends)
                scripts = {"a": Script(**fields)}
                events = self.run_names(child, item("t", "c"), scripts=scripts, noop=True)
                told = [events[name]["prediction"] for name in "bc"]
                self.assertEqual(told, [wanted, "certain"])
                events = self.run_names(
                    self.apply(item("t", "a")), item("t", "c"),
                    scripts=scripts, noop=True, fail_on_error=ends,
                )  # fmt: skip
                self.assertEqual(events["c"]["prediction"], wanted)

    def test_what_only_waits(self) -> None:
        """An action of a type that is passive changes nothing, and what subscribes is not fired."""
        for noop in (False, True):
            after = Script(stable=True)
            events = self.run_names(
                item("t", "a"),
                item("t", "b", subscribe=("t#a",)),
                noop=noop,
                scripts={"a": Script(passive=True), "b": after},
            )
            self.assertEqual((events["a"]["status"], after.refreshed), ("stable", [False]))

    def test_what_an_unknown_action_leaves_is_unknown(self) -> None:
        """Nothing that depends on it is surer."""
        ctx = context(noop=True)

        class Supposing(Script):
            def assumed_actions(self, refresh: bool) -> List[Action]:
                return [Action("x", lambda: None, (), [PathEffect("/no/such", "file")])]

        first = Supposing(observe=Unknowable("why"))
        scripts = ScriptRegistry(a=first, b=Script(look=lambda: ctx.files.status("/no/such")))
        event = run_items([item("t", "a"), item("t", "b", 1)], scripts, noop=True, shared=ctx)[1]
        self.assertEqual(event["prediction"], UNKNOWN)
        self.assertIn("t#a", event["prediction_reason"])

    def test_what_may_act_after_all_leaves_doubt(self) -> None:
        """A resource that cannot be read before an earlier change may change what it manages."""
        ctx = context(noop=True)
        first = Script(observe=Unknowable("why"))
        doubt = UnknownEffect(Uncertainty(UNKNOWN, "not known"), everything)
        for name, value in (("assumed_actions", []), ("unknown_effects", [doubt])):
            setattr(first, name, lambda *given, value=value: value)
        scripts = ScriptRegistry(a=first, b=Script(look=lambda: ctx.files.status("/no/such")))
        events = run_items([item("t", "a"), item("t", "b", 1)], scripts, noop=True, shared=ctx)
        self.assertEqual([event["status"] for event in events], ["stable", "changed"])
        self.assertEqual([event["prediction"] for event in events], [UNKNOWN, UNKNOWN])

    def test_a_rehearsal_fails_a_preview(self) -> None:
        """What can be found out without changing anything is found out in noop, and only there."""

        def refuse() -> None:
            raise ResourceError("read-only")

        for noop in (True, False):
            script = Script(preflight=refuse)
            events = self.run_names(item("t", "a"), noop=noop, scripts={"a": script})
            self.assertEqual(events["a"]["failed"], noop)

    def test_what_comes_before_what_fails(self) -> None:
        """A preview has the changes that a push makes before the step that is sure to fail."""

        def refuse() -> None:
            raise ResourceError("read-only")

        class Steps(Script):
            def actions(self, state: Any, refresh: bool) -> Any:
                steps = [("one", None), ("two", refuse), ("three", None)]
                return [
                    Action(name, fails or (lambda: None), [Change(name, "a", "b")], [], fails)
                    for name, fails in steps
                ]

        for noop in (True, False):
            event = self.run_names(item("t", "a"), noop=noop, scripts={"a": Steps()})["a"]
            self.assertEqual([change["what"] for change in event["changes"]], ["one"])
            self.assertEqual((event["failed"], event["changed"]), (True, True))

    def test_missing(self) -> None:
        """What nothing pending may provide fails, in noop and for real."""
        missing = Missing("there is no unit x.service")
        for noop in (True, False):
            events = self.run_names(
                item("t", "a"), noop=noop, scripts={"a": Script(observe=missing)}
            )
            expect_text(events["a"]["error"], self)

    def test_deferred_error(self) -> None:
        """A template that failed fails its resource when its turn comes, if it is managed."""
        events = self.run_names(
            item("t", "a", deferred_error="content: no such path (site.yaml:3:1)"),
            item("t", "b", deferred_error="x", managed=False),
        )
        expect_text(events["a"]["error"], self)
        self.assertEqual(events["b"]["status"], "skipped")

    def test_deferred_render(self) -> None:
        """Deferred properties are asked for at the resource's turn and stand in its event."""
        events = run_items(
            [item("t", "a", deferred_render=True, sensitive=False)],
            ScriptRegistry(a=Script()),
            render=lambda i: {"content": "rendered"},
        )
        self.assertEqual(one(events)["properties"], {"content": "rendered"})

    def test_deferred_render_of_a_pending_file(self) -> None:
        """A template that reads what is yet to be written gives an unknown prediction in noop."""

        def render(wanted: object) -> Dict[str, Any]:
            raise Unknowable("/etc/x does not exist")

        items = [item("t", "a"), item("t", "b", deferred_render=True)]
        scripts = ScriptRegistry(a=Script(), b=Script())
        events = run_items(items, scripts, noop=True, render=render)
        self.assertEqual((events[1]["prediction"], events[1]["failed"]), ("unknown", False))

    def apply(self, *children: Any, **fields: Any) -> Item:
        """The item of a child manifest."""
        return item("apply", "p", applies="p.yaml", children=children, **fields)

    def test_children(self) -> None:
        """An item that applies is what its children came to, and its event follows theirs."""
        parent = self.apply(item("t", "a"), item("t", "b"))
        events = self.run_names(
            parent,
            item("t", "after", subscribe=("apply#p",)),
            scripts={"a": Script(), "b": Script(stable=True), "after": Script(stable=True)},
        )
        self.assertEqual(list(events), ["a", "b", "p", "after"])
        self.assertEqual(events["p"]["provider"], "script")
        self.assertEqual((events["p"]["status"], events["p"]["changes"]), ("changed", []))
        self.assertTrue(events["after"]["refreshed"])

    def test_stable_children(self) -> None:
        """Of children that are all as desired comes a stable event, fired or not."""
        parent = self.apply(item("t", "b"), subscribe=("t#a",))
        scripts = {"b": Script(stable=True)}
        events = self.run_names(item("t", "a"), parent, scripts=scripts)
        self.assertEqual((events["p"]["status"], events["p"]["refreshed"]), ("stable", True))

    def test_skipped_child(self) -> None:
        """What is skipped in the child neither changes nor fails the item that applies it."""
        parent = self.apply(item("t", "off", managed=False), item("t", "b"))
        scripts = {"off": Script(), "b": Script(stable=True)}
        events = self.run_names(parent, scripts=scripts)
        self.assertEqual((events["off"]["status"], events["p"]["status"]), ("skipped", "stable"))

    def test_failed_child(self) -> None:
        """A failed child fails the item, which then has not changed, and its siblings go on."""
        parent = self.apply(item("t", "bad"), item("t", "good"))
        events = self.run_names(
            parent,
            item("t", "after", require=("apply#p",)),
            scripts={"bad": Script(act=error()), "good": Script()},
        )
        self.assertEqual((events["p"]["failed"], events["p"]["changed"]), (True, False))
        expect_text(events["p"]["error"], self)
        self.assertEqual(events["good"]["status"], "changed")
        self.assertEqual(events["after"]["unmet_requirements"], ["apply#p"])

    def test_broken_child(self) -> None:
        """A child that could not be planned fails its item, when only checks are run as well."""
        for monitor_only in (False, True):
            parent = self.apply(deferred_error="cannot read p.yaml")
            events = self.run_names(parent, item("t", "after"), monitor_only=monitor_only)
            expect_text(events["p"]["error"], self)
            self.assertFalse(events["after"]["failed"])

    def test_noop_child(self) -> None:
        """A child in noop is previewed, and its event says what would happen and how surely."""
        for script, prediction in (
            (Script(), "certain"),
            (Script(observe=Unknowable("why")), UNKNOWN),
        ):
            first = Script()
            parent = self.apply(item("t", "a", noop=True), item("t", "b", noop=True), noop=True)
            events = self.run_names(parent, item("t", "c"), scripts={"a": first, "b": script})
            told = events["p"]
            self.assertEqual(
                (told["noop"], told["noop_message"]), (True, "Would have applied changes")
            )
            self.assertEqual(told["prediction"], prediction)
            self.assertEqual((first.acted, events["c"]["noop"]), (0, False))

    def test_what_a_noop_child_leaves(self) -> None:
        """Its resources see and fire one another and nobody else, in a preview of the whole too."""
        seen = []
        for noop in (True, False):
            ctx = context(noop=noop)

            def look(ctx: Any = ctx) -> None:
                seen.append(ctx.files.is_there("/no/such"))

            planned = Script(effects=[PathEffect("/no/such", "file")])
            inner, outer = Script(stable=True, look=look), Script(stable=True, look=look)
            parent = self.apply(
                item("t", "a", noop=True),
                item("t", "inner", noop=True, subscribe=("t#a",)),
                noop=True,
            )
            after = item("t", "outer", subscribe=("t#a", "apply#p"))
            scripts = ScriptRegistry(a=planned, inner=inner, outer=outer, p=Script(stable=True))
            events = run_items([parent, after], scripts, noop=noop, shared=ctx)
            self.assertEqual([e["refreshed"] for e in events], [False, True, False, False])
        self.assertEqual(seen, [True, False] * 2)

    def test_doubt_over_what_a_noop_child_leaves(self) -> None:
        """What cannot fire a resource leaves its prediction as it is."""
        uncertain = Script(observe=Unknowable("why"))
        parent = self.apply(item("t", "a", noop=True), noop=True)
        after = item("t", "after", subscribe=("apply#p", "t#a"))
        events = self.run_names(parent, after, scripts={"a": uncertain}, noop=True)
        self.assertEqual(events["after"]["prediction"], "certain")
        self.assertFalse(events["after"]["refreshed"])

    def test_child_that_is_only_checked(self) -> None:
        """health_check_only holds for the items that carry it, and the run goes on."""
        parent = self.apply(item("t", "a", monitor_only=True), monitor_only=True)
        events = self.run_names(parent, item("t", "b"))
        self.assertEqual(self.scripts["a"].acted, 0)
        self.assertTrue(events["p"]["health_check_only"])
        self.assertNotIn("health_check_only", events["b"])

    def test_health_check_of_a_failed_resource(self) -> None:
        """The checks of a resource that failed run as well; in noop and when skipped none does."""
        checks = ({"command": "sh -c 'echo down; exit 2'", "name": "up"},)
        broken = Script(act=ResourceError("no"))
        resource = item("script", "a", health_checks=checks)
        event = one(run_items([resource], ScriptRegistry(a=broken)))
        self.assertEqual(event["error"], ["no", "health check 'up': CRITICAL after 1 try: down"])
        self.assertEqual([check["status"] for check in event["health_check"]], ["CRITICAL"])
        self.assertNotIn("health_check", one(run_items([resource], ScriptRegistry(a=broken), True)))

    def test_health_check_of_an_apply(self) -> None:
        """The checks of an item that applies run once its children have."""
        check = {"command": "/bin/sh -c 'echo down; exit 2'"}
        events = self.run_names(self.apply(item("t", "a"), health_checks=(check,)))
        self.assertEqual(events["p"]["health_check"][0]["status"], "CRITICAL")
        self.assertTrue(events["p"]["failed"])

    def test_children_of_a_skipped_parent(self) -> None:
        """A skipped item with children emits no events of them; requiring one is answered."""
        parent = self.apply(item("t", "child"), managed=False)
        events = self.run_names(
            parent, item("t", "after", require=("t#child",)), scripts={"after": Script()}
        )
        self.assertEqual(list(events), ["p", "after"])
        self.assertEqual(events["after"]["status"], "changed")

    def test_child_stops(self) -> None:
        """fail_on_error of a child ends that child only."""
        parent = self.apply(item("t", "bad"), item("t", "never"), fail_on_error=True)
        scripts = {"bad": Script(act=error()), "after": Script()}
        events = self.run_names(parent, item("t", "after"), scripts=scripts)
        self.assertEqual(list(events), ["bad", "p", "after"])
        expect_text(events["p"]["error"], self)

    def test_interrupted_child(self) -> None:
        """A run that is cancelled within a child has an event of the child and of what applies it,
        and none after them."""
        events: List[Dict[str, Any]] = []
        child = item("t", "a", 1)
        parent = self.apply(child, item("t", "never", 2))
        items = [parent, item("t", "after", 3)]
        shared = context(items)
        scripts = ScriptRegistry(a=Script(act=Cancelled("ctrl-c")), p=Script())
        with self.assertRaises(Cancelled):
            engine(shared, scripts, events).run(items)
        self.assertEqual([event["name"] for event in events], ["a", "p"])
        self.assertEqual([event["error"] for event in events], [["interrupted: ctrl-c"]] * 2)

    def test_manifest_of_a_child(self) -> None:
        """An event says which child manifest its resource stands in."""
        events = self.run_names(self.apply(item("t", "a", manifest="p.yaml")))
        self.assertEqual(events["a"]["manifest"], "p.yaml")
        self.assertNotIn("manifest", events["p"])

    def interrupted(self, script: Script) -> Dict[str, Any]:
        """The only event of two items, of which the first is cancelled."""
        items = [item("t", "a"), item("t", "b")]
        shared = context(items)
        events: List[Dict[str, Any]] = []
        with self.assertRaises(Cancelled):
            engine(shared, ScriptRegistry(a=script), events).run(items)
        return one(events)

    def test_interrupted(self) -> None:
        """A cancelled run has the event of the resource at work and none after it."""
        event = self.interrupted(Script(act=Cancelled("ctrl-c")))
        self.assertEqual((event["error"], event["changed"]), (["interrupted: ctrl-c"], False))

    def test_interrupted_after_the_change(self) -> None:
        """What was changed before the run was cancelled stands in the event that says so."""
        script: Any = Script()

        def unachieved(state: object) -> str:
            raise Cancelled("ctrl-c")

        script.unachieved = unachieved
        event = self.interrupted(script)
        self.assertEqual((event["error"], event["status"]), (["interrupted: ctrl-c"], "failed"))
        self.assertEqual(
            (event["changed"], event["changes"]), (True, [{"what": "x", "from": 1, "to": 2}])
        )

    def test_mask_of_a_turn(self) -> None:
        """What a sensitive resource says while it works is masked, and only while it works."""
        items = [item("t", "a", sensitive=True, properties={"token": "abcdef"})]
        said = []
        shared = context(items, on_notice=lambda level, text: said.append(text))
        script: Any = Script()
        script.act = lambda: shared.notice("info", "using abcdef")
        run_items(items, ScriptRegistry(a=script), shared=shared)
        shared.notice("info", "abcdef")
        self.assertEqual(said, ["using [masked]", "abcdef"])
