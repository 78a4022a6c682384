from typing import Any, Dict, List, Sequence, Tuple

from remote_runtime.cancellation import HostRebooting
from remote_runtime.execution.reboot_resume import Boot
from remote_runtime.resources.reboot.resource import Resource
from remote_runtime.system.process.commands import Commands, Result
from tests.remote_runtime.fakes import DirectoryTest, context, item, one, run_items
from tests.texts import expect_text


class Programs(Commands):
    """A host whose programs a test has, by name: the exit code and what is said."""

    answers = {"systemctl": (0, "")}  # type: Dict[str, Tuple[int, str]]
    asked = []  # type: List[Sequence[str]]

    def find(self, program: str, *where: Any) -> str:
        return program if program in self.answers else ""

    def run(self, argv: Sequence[str], *more: Any, **options: Any) -> Result:
        self.asked.append(list(argv))
        code, said = self.answers[argv[0]]
        return Result(code, "", said)


def programs(**answers: Tuple[int, str]) -> Any:
    """A class of commands with an answer for each program."""
    return type("Host", (Programs,), {"answers": answers, "asked": []})


def reboot(index: int = 0, **properties: Any) -> Any:
    """A reboot that its guard asks for, unless it subscribes."""
    subscribe = tuple(properties.get("subscribe", ()))
    if not subscribe:
        properties.setdefault("onlyif", "asks")
    return item("reboot", "it%d" % index, index, properties=properties, subscribe=subscribe)


ASKS = {"asks": (0, "")}


class RebootTest(DirectoryTest):
    def test_rules(self) -> None:
        """Something has to ask for a reboot, and it is given a time."""
        self.assertEqual([key for key, _ in Resource.check("x", {})], [""])
        self.assertEqual(Resource.check("x", {"onlyif": "true"}), [])
        late = Resource.check("x", {"onlyif": "true", "timeout": "0"})
        self.assertEqual([key for key, _ in late], ["timeout"])

    def test_a_guard_for_a_shell(self) -> None:
        """What is written for a shell and gets none is told: it would never ask for a reboot."""
        guard = "test -e /run/a && test -e /run/b"
        ((key, message, _),) = Resource.warnings("x", {"onlyif": guard})
        self.assertEqual((key, "passes && to" in message), ("onlyif", True))
        self.assertEqual(Resource.warnings("x", {"onlyif": guard, "provider": "shell"}), [])
        self.assertEqual(Resource.warnings("x", {"subscribe": ["file#/a"]}), [])

    def test_nobody_asks(self) -> None:
        """A guard that fails asks for nothing."""
        event = one(run_items([reboot()], commands=programs(asks=(1, ""))))
        self.assertEqual(event["status"], "stable")

    def test_the_host_goes(self) -> None:
        """The controller is told before, and the run ends with the host: without an event."""
        items, host = [reboot(timeout="1m")], programs(systemctl=(0, ""), **ASKS)
        ctx, told = context(items, commands=host), []  # type: Any, List[Any]

        def depart(index: int, seconds: float) -> None:
            told.append((index, seconds))
            ctx.cancellation.set("signal 15")

        ctx.on_depart = depart
        with self.assertRaises(HostRebooting):
            run_items(items, shared=ctx)
        self.assertEqual(told, [(0, 60.0)])
        self.assertIn(["systemctl", "reboot"], host.asked)

    def test_a_host_that_will_not_go(self) -> None:
        """What every way to reboot says is told, and the run goes on."""
        host = programs(systemctl=(1, "Access denied"), reboot=(1, "must be superuser"), **ASKS)
        first, second = run_items([reboot(), item("exec", "asks", 1)], commands=host)
        text = "systemctl reboot: Access denied; reboot: must be superuser"
        self.assertIn("cannot reboot the host: " + text, first["error"][0])
        self.assertEqual(second["status"], "changed")

    def test_a_host_that_stays(self) -> None:
        """A host that is still there when the time is over failed to go."""
        host = programs(systemctl=(0, ""), **ASKS)
        event = one(run_items([reboot(timeout="100ms")], commands=host))
        expect_text(event["error"][0], self)

    def behind(self, items: Sequence[Any], boot: Boot, **options: Any) -> List[Dict[str, Any]]:
        """The events of what is left of a run, after the reboot."""
        ctx = context(items, commands=programs(systemctl=(0, ""), **ASKS), **options)
        ctx.boot = boot
        return run_items(items, shared=ctx)

    def test_the_host_is_back(self) -> None:
        """Behind the reboot its resource has changed, and nobody reboots again."""
        event = one(self.behind([reboot()], Boot(0, {}, ())))
        self.assertEqual((event["status"], event["changes"][0]["to"]), ("changed", "rebooted"))

    def test_another_that_asks(self) -> None:
        """One whose reasons were there before the reboot has it; a later reason needs a push."""
        ref = "file#/x"
        results = {"file#/x": _Changed()}  # type: Any
        for known, status in (((ref,), "stable"), ((), "failed")):
            items = [reboot(1, subscribe=[ref])]
            ctx = context(items, commands=programs(systemctl=(0, "")))
            ctx.boot = Boot(0, {}, known)
            event = one(run_items(items, shared=ctx, results=results))
            self.assertEqual(event["status"], status)
        self.assertIn("push again", event["error"][0])

    def test_another_that_was_asked_before(self) -> None:
        """What it subscribes to besides, and did not change, is no later reason."""
        ctx = context([reboot(1, subscribe=["file#/x", "file#/y"])])
        ctx.boot = Boot(0, {}, ("file#/x",))
        results = {"file#/x": _Changed(), "file#/y": _Unchanged()}  # type: Any
        items = [reboot(1, subscribe=["file#/x", "file#/y"])]
        event = one(run_items(items, shared=ctx, results=results))
        self.assertEqual(event["status"], "stable")

    def test_previews(self) -> None:
        """It would reboot; units and what is in memory cannot be told behind it."""
        host = programs(systemctl=(0, ""), **ASKS)
        fog = item("wait", "w", 1, properties={"file": "/run/x"})
        told = run_items([reboot(), fog], commands=host, noop=True)
        expect_text(told[0]["noop_message"], self)
        self.assertEqual((told[1]["failed"], told[1]["prediction"]), (False, "unknown"))
        expect_text(told[1]["prediction_reason"], self)
        self.assertNotIn(["systemctl", "reboot"], host.asked)

    def test_previews_of_another(self) -> None:
        """One with reasons of before would have had it; one with a later reason is not called
        stable: the push fails it."""
        before, behind = self.file("a", 0, content="a"), self.file("b", 2, content="b")
        for source, prediction in ((before, "assumed"), (behind, "unknown")):
            another = reboot(3, subscribe=[source.id])
            items = [before, reboot(1, subscribe=[before.id]), behind, another]
            event = run_items(items, noop=True)[3]
            self.assertEqual((event["failed"], event["prediction"]), (False, prediction))
        expect_text(event["prediction_reason"], self)


class _Changed(object):
    """A turn that changed something."""

    met = changed = True
    noop, apart = False, ""


class _Unchanged(_Changed):
    """A turn that found it as desired."""

    changed = False
