"""The files of a unit that a service manages, on a recorded host with an /etc of its own."""

import os
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.resources.service.resource import Resource
from remote_runtime.units import managed_unit_files, unit
from tests.remote_runtime.fakes import DirectoryTest
from tests.texts import expect_text

from .plan import Plan, RecordedHost

RUN = "[Service]\nExecStart=/bin/sleep 9\n"
WANTED = RUN + "[Install]\nWantedBy=multi-user.target\n"


class EtcTest(DirectoryTest):
    """An /etc of its own for units."""

    def setUp(self) -> None:
        super().setUp()
        for where, name, value in (
            (managed_unit_files, "DIRECTORY", self.root),
            (unit, "is_below", lambda path, _: path.startswith(self.root)),
        ):
            patched = mock.patch.object(where, name, value)
            patched.start()
            self.addCleanup(patched.stop)

    def plan(self, name: str = "ccm-daemon", **properties: Any) -> Plan:
        return Plan(RecordedHost(), (name, properties))


class TextsTest(EtcTest):
    def records(self, plan: Plan, refresh: bool = False) -> List[Any]:
        (resource,) = plan.resources
        actions = resource.actions(resource.observe(), refresh)
        return [(c.what, c.before, c.after) for each in actions for c in each.changes]

    def test_a_drop_in(self) -> None:
        """Settings are one file, whose change restarts what runs; the second time none differs."""
        settings = {
            "Service": {"MemoryMax": "1G", "ExecStart": ["", "/bin/a b"], "Nice": 5},
            "Unit": {"StopWhenUnneeded": True},
        }
        plan = self.plan(settings=settings)
        self.assertEqual(
            plan.carry_out(),
            [
                "systemctl daemon-reload --system",
                "systemctl restart --system ccm-daemon.service",
            ],
        )
        self.assertEqual(
            self.read("ccm-daemon.service.d/ccm.conf").decode(),
            "[Service]\nMemoryMax=1G\nExecStart=\nExecStart=/bin/a b\nNice=5\n\n"
            "[Unit]\nStopWhenUnneeded=yes\n",
        )
        mode = os.stat(self.path("ccm-daemon.service.d")).st_mode & 0o777
        self.assertEqual(mode, 0o755)
        self.assertEqual(self.plan(settings=settings).messages(), [""])
        self.assertEqual(self.records(self.plan(settings=settings)), [])

    def test_messages(self) -> None:
        """Preview and push have the same records, and the preview writes nothing."""
        plan = self.plan(settings={"Service": {"Nice": 5}})
        expect_text(plan.messages(), self)
        self.assertEqual(os.listdir(self.root), [])
        with plan.noop():
            told = self.records(plan)
        self.assertEqual(told, self.records(plan))
        self.assertEqual([what for what, _, _ in told], ["settings", "ensure"])
        self.assertEqual(told[0][1], None)
        self.assertTrue(told[0][2].startswith("sha256:"))
        stopped = self.plan("ccm-app@1", ensure="stopped", settings={"Service": {"Nice": 5}})
        expect_text(stopped.messages(), self)
        expect_text(plan.messages(refresh=True), self)

    def test_no_settings(self) -> None:
        """The drop-in goes, and files next to it stay."""
        os.mkdir(self.path("ccm-daemon.service.d"))
        self.write("ccm-daemon.service.d/ccm.conf", b"[Service]\nNice=5\n")
        self.write("ccm-daemon.service.d/other.conf", b"")
        plan = self.plan(settings={})
        expect_text(plan.messages(), self)
        plan.carry_out()
        self.assertEqual(os.listdir(self.path("ccm-daemon.service.d")), ["other.conf"])
        self.assertEqual(self.plan(settings={}).messages(), [""])

    def test_no_settings_in_place_of_a_link(self) -> None:
        """A link at the place of the drop-in goes, and what it names stays."""
        os.mkdir(self.path("ccm-daemon.service.d"))
        self.write("elsewhere.conf", b"[Service]\nNice=5\n")
        os.symlink(self.path("elsewhere.conf"), self.path("ccm-daemon.service.d/ccm.conf"))
        plan = self.plan(settings={})
        expect_text(plan.messages(), self)
        self.assertEqual(self.records(plan)[0], ("settings", "symlink", None))
        plan.carry_out()
        self.assertEqual(os.listdir(self.path("ccm-daemon.service.d")), [])
        self.assertTrue(os.path.exists(self.path("elsewhere.conf")))
        self.assertEqual(self.plan(settings={}).messages(), [""])

    def test_a_private_unit_file(self) -> None:
        """Its difference is not shown, and it stays private; of others it is shown."""
        for mode, after, shown in (
            (0o600, 0o600, False),
            (0o640, 0o640, False),
            (0o666, 0o644, True),
        ):
            path = self.path("ccm-daemon.service")
            self.write("ccm-daemon.service", RUN.encode() + b"Environment=TOKEN=hush\n")
            os.chmod(path, mode)
            plan = self.plan(unit=RUN)
            (resource,) = plan.resources
            change = resource.actions(resource.observe(), False)[0].changes[0]
            self.assertEqual("hush" in (change.diff or ""), shown, oct(mode))
            plan.carry_out()
            self.assertEqual(self.read("ccm-daemon.service").decode(), RUN)
            self.assertEqual(os.stat(path).st_mode & 0o777, after, oct(mode))

    def test_links_that_an_earlier_unit_left(self) -> None:
        """They would enable the new unit: with ``enable: false`` the first push removes them."""
        unit = WANTED + "Alias=ccm-other.service\n"
        for link, word in (
            ("multi-user.target.wants/nosuch.service", ", would have disabled"),
            ("a.service.requires/nosuch.service", ", would have disabled"),
            ("ccm-other.service", ", would have disabled"),
            ("multi-user.target.wants/ccm-app@1.service", ""),
            ("ccm-third.service", ""),
            ("third.service.d/nosuch.service", ""),
        ):
            path = self.path(link)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink("/gone/nosuch.service", path)
            plan = self.plan("nosuch", ensure="stopped", unit=unit, enable=False)
            self.assertEqual(plan.messages(), ["Would have written the unit file" + word], link)
            os.remove(path)

    def test_a_unit_that_is_not_there_yet(self) -> None:
        """Its text makes it; whether it can be enabled is in the text."""
        for text, message in (
            (WANTED, "Would have written the unit file, would have started, would have enabled"),
            (RUN, "Would have written the unit file, would have started"),
        ):
            plan = self.plan("nosuch", unit=text, enable=True)
            self.assertEqual([each for each, _, _ in self.records(plan)][:2], ["unit", "ensure"])
            (resource,) = plan.resources
            actions = resource.actions(resource.observe(), False)
            self.assertEqual(resource.describe(actions), message)
            actions[0].call()
            self.assertEqual(self.read("nosuch.service").decode(), text)

    def test_a_reload_is_not_enough(self) -> None:
        """A service whose unit changes is restarted, also where it is to be reloaded."""
        plan = self.plan(unit=RUN, reload=True)
        self.assertEqual(self.records(plan, refresh=True)[1:], [("ensure", "running", "restarted")])

    def test_a_link_and_a_directory(self) -> None:
        """A link is replaced, a directory refused."""
        os.symlink("/nowhere", self.path("ccm-daemon.service"))
        self.plan(unit=RUN).carry_out()
        self.assertFalse(os.path.islink(self.path("ccm-daemon.service")))
        os.remove(self.path("ccm-daemon.service"))
        os.mkdir(self.path("ccm-daemon.service"))
        with self.assertRaises(Exception) as caught:
            self.plan(unit=RUN).messages()
        self.assertIn("is a directory", str(caught.exception))

    def test_a_masked_unit(self) -> None:
        """Its text does not take a mask away without a word."""
        with self.assertRaises(Exception) as caught:
            self.plan("ccm-pkg01", unit=RUN, ensure="stopped").messages()
        self.assertIn("is masked", str(caught.exception))

    def test_what_is_claimed(self) -> None:
        """Other resources that want the same paths otherwise are found."""
        self.assertEqual(
            Resource.managed_paths("app", {"unit": RUN, "settings": {}}),
            [
                (self.path("app.service"), True),
                (self.path("app.service.d/ccm.conf"), False),
            ],
        )

    def test_bad_input(self) -> None:
        """What systemd would not read is refused by property."""
        rows: List[Dict[str, Any]] = [
            {"unit": "ExecStart=/bin/true"},
            {"unit": "[Service]\n\0"},
            {"settings": {"service": {"Nice": 1}}},
            {"settings": {"Service]": {"Nice": 1}}},
            {"settings": {"Service": "Nice=1"}},
            {"settings": {"Service": None}},
            {"settings": {"Service": {"Ni ce": 1}}},
            {"settings": {"Service": {"Nice=1\nUser": "x"}}},
            {"settings": {"Service": {"Nice": "1\nUser=root"}}},
            {"settings": {"Service": {"Nice": None}}},
            {"settings": {"Service": {"Nice": {"a": 1}}}},
            {"settings": {"Service": {"Nice": [["a"]]}}},
            {"settings": {"Service": {"ExecStart": "/bin/a \\"}}},
        ]
        for row in rows:
            self.assertEqual(len(Resource.managed_paths("app", row)), 1)
            self.assertEqual([key for key, _ in Resource.check("app", row)], list(row), row)
        masked = {"ensure": "stopped", "masked": True, "unit": RUN}
        self.assertEqual([key for key, _ in Resource.check("app", masked)], ["masked"])
        for fine in ({"unit": "{{ text }}"}, {"settings": {"Service": "{{ Data.x }}"}}):
            self.assertEqual(Resource.check("app", fine), [])
