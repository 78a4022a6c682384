import os
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.resources.sysctl.resource import Resource
from remote_runtime.system.kernel import parameters
from tests.remote_runtime.fakes import DirectoryTest, item, one
from tests.remote_runtime.host.kinds import run
from tests.texts import expect_text

KEY = "net.ipv4.ip_forward"


class SysctlTest(DirectoryTest):
    """On a kernel and with settings that are directories."""

    def setUp(self) -> None:
        super().setUp()
        patches: List[Any] = [
            mock.patch.object(parameters, "PROC", self.path("sys")),
            mock.patch.object(parameters, "ETC", self.path("etc")),
            mock.patch.object(parameters, "BESIDE", ()),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        for key, value in (
            ("ip_forward", "0"),
            ("tcp_ecn", "2"),
            ("conf/all/forwarding", "0"),
            ("conf/all/accept_redirects", "1"),
            ("conf/default/forwarding", "0"),
            ("conf/eth0.100/rp_filter", "0"),
            ("conf/default/rp_filter", "0"),
        ):
            os.makedirs(os.path.dirname(self.path("sys/net/ipv4", key)), exist_ok=True)
            self.write("sys/net/ipv4/" + key, (value + "\n").encode())
        os.makedirs(self.path("etc"))
        self.settings = self.path("etc/sysctl.d/99-ccm.conf")

    def parameter(self, name: str, index: int = 0, **properties: Any) -> Any:
        return item("sysctl", name, index, properties=properties)

    def both(self, *items: Any) -> List[Dict[str, Any]]:
        """The events of a push, whose preview says the same."""
        previews = run(Resource, *items, noop=True)
        events = run(Resource, *items)
        for preview, event in zip(previews, events):
            self.assertEqual(preview["error"], event["error"])
            if preview["prediction"] == "certain":
                self.assertEqual(preview["changes"], event["changes"])
        return events

    def now(self, key: str) -> str:
        return self.read("sys/net/ipv4/" + key).decode().strip()

    def test_both_are_set(self) -> None:
        """The value now and at the next start; the directory is made; then it is stable."""
        event = one(self.both(self.parameter(KEY, value=1)))
        self.assertEqual(
            [(c["what"], c["from"], c["to"]) for c in event["changes"]],
            [("value", "0", "1"), ("boot", None, "1")],
        )
        self.assertEqual(self.now("ip_forward"), "1")
        self.assertTrue(self.read("etc/sysctl.d/99-ccm.conf").endswith(b"%s = 1\n" % KEY.encode()))
        self.assertEqual(one(self.both(self.parameter(KEY, value="0x1")))["status"], "stable")

    def test_several_in_one_file(self) -> None:
        """Each has its line, and none undoes another; names with dots and slashes are one."""
        events = self.both(
            self.parameter("net.ipv4.conf.eth0/100.rp_filter", value=1),
            self.parameter("net/ipv4/tcp_ecn", 1, value="1"),
            self.parameter("net/ipv4/conf/eth0.100/rp_filter", 2, value=1),
        )
        self.assertEqual([event["changed"] for event in events], [True, True, False])
        self.assertEqual(self.now("conf/eth0.100/rp_filter"), "1")
        text = self.read("etc/sysctl.d/99-ccm.conf").decode()
        lines = ["net.ipv4.conf.eth0/100.rp_filter = 1", "net/ipv4/tcp_ecn = 1"]
        self.assertEqual(text.splitlines()[1:], lines)

    def test_absent(self) -> None:
        """The line goes, with it the file that has nothing else; the kernel keeps its value."""
        run(Resource, self.parameter(KEY, value=1), self.parameter("net.ipv4.tcp_ecn", value=1))
        gone = self.parameter(KEY, ensure="absent")
        self.assertTrue(one(self.both(gone))["changed"])
        self.assertNotIn(b"ip_forward", self.read("etc/sysctl.d/99-ccm.conf"))
        self.assertEqual(self.now("ip_forward"), "1")
        self.assertEqual(one(self.both(gone))["status"], "stable")
        one(self.both(self.parameter("net.ipv4.tcp_ecn", ensure="absent")))
        self.assertFalse(os.path.exists(self.settings))

    def test_a_file_of_others(self) -> None:
        """Its other lines and its mode stay."""
        path = self.write("etc/sysctl.conf", b"# by hand\nnet.ipv4.ip_forward=0\nx.y=1", 0o640)
        one(self.both(self.parameter(KEY, value=1, file=path)))
        self.assertEqual(self.read("etc/sysctl.conf"), b"# by hand\nnet.ipv4.ip_forward = 1\nx.y=1")
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o640)
        one(self.both(self.parameter(KEY, ensure="absent", file=path)))
        self.assertEqual(self.read("etc/sysctl.conf"), b"# by hand\nx.y=1")

    def test_a_later_file_wins(self) -> None:
        """Another value in a file that comes later is refused before anything is changed."""
        self.write("etc/sysctl.conf", b"\nnet/ipv4/ip_forward = 0\n")
        event = one(self.both(self.parameter(KEY, value=1)))
        expect_text(event["error"][0], self)
        self.assertEqual(self.now("ip_forward"), "0")
        self.write("etc/sysctl.conf", b"net/ipv4/ip_forward = 0x1\n")
        self.assertFalse(one(self.both(self.parameter(KEY, value=1)))["failed"])
        self.write("etc/sysctl.conf", b"net/ipv4/ip_forward = 0\n")
        event = one(self.both(self.parameter(KEY, value=1)))
        self.assertIn("sysctl.conf:1 sets", event["error"][0])

    def test_an_earlier_file_does_not(self) -> None:
        """It is overridden."""
        os.mkdir(self.path("etc/sysctl.d"))
        self.write("etc/sysctl.d/10-x.conf", b"net.ipv4.ip_forward = 0\n")
        self.assertFalse(one(self.both(self.parameter(KEY, value=1)))["failed"])

    def test_unknown(self) -> None:
        """A misspelled name is refused with the nearest one, unless that is accepted."""
        wrong = "net.ipv4.ip_forwrd"
        event = one(self.both(self.parameter(wrong, value=1)))
        expect_text(event["error"][0], self)
        event = one(self.both(self.parameter("a.b", value=1)))
        self.assertIn("ignore_unknown: true", event["error"][0])
        accepted = self.parameter(wrong, value=1, ignore_unknown=True)
        self.assertTrue(one(self.both(accepted))["changed"])
        self.assertEqual(one(self.both(accepted))["status"], "stable")
        self.assertFalse(one(self.both(self.parameter(wrong, ensure="absent")))["failed"])

    def test_only_at_boot(self) -> None:
        """With ``live: false`` the kernel is left alone, and need not be writable."""
        access = os.access

        def closed(path: Any, *words: Any, **options: Any) -> bool:
            return not str(path).startswith(self.path("sys")) and access(path, *words, **options)

        with mock.patch("os.access", closed):
            event = one(self.both(self.parameter(KEY, value=1)))
            self.assertIn("only root may set kernel parameters", event["error"][0])
            self.assertFalse(one(self.both(self.parameter(KEY, value=1, live=False)))["failed"])
        self.assertEqual(self.now("ip_forward"), "0")

    def test_others_follow(self) -> None:
        """A preview knows what changes with a parameter, and what nobody can know."""
        events = run(
            Resource,
            self.parameter(KEY, value=1),
            self.parameter("net.ipv4.conf.all.forwarding", 1, value=1),
            self.parameter("net.ipv4.conf.all.accept_redirects", 2, value=0),
            self.parameter("net.ipv4.conf.default.rp_filter", 3, value=1),
            self.parameter("net.ipv4.conf.eth0/100.rp_filter", 4, value=1),
            noop=True,
        )
        changes = [[change["what"] for change in event["changes"]] for event in events[:4]]
        self.assertEqual(changes, [["value", "boot"], ["boot"], ["boot"], ["value", "boot"]])
        predictions = [event["prediction"] for event in events]
        self.assertEqual(predictions, ["certain"] * 4 + ["unknown"])

    def test_a_value_that_only_trying_tells(self) -> None:
        """It is assumed to be accepted."""
        event = one(run(Resource, self.parameter("net.ipv4.tcp_ecn", value=7), noop=True))
        self.assertEqual(event["prediction"], "assumed")
        expect_text(event["prediction_reason"], self)

    def test_what_is_refused(self) -> None:
        """Names without parts, and files elsewhere."""
        for name in ("net", "net..x", "net.", "a/../b", "./a"):
            self.assertEqual([key for key, _ in Resource.check(name, {"value": 1})], ["name"], name)
        for file in ("/etc/sysctl.d/x.conf", self.path("etc/x.conf"), self.settings + "/a.conf"):
            self.assertEqual([key for key, _ in Resource.check(KEY, {"file": file})], ["file"])
        for file in (self.settings, self.path("etc/sysctl.conf")):
            self.assertEqual(Resource.check(KEY, {"value": 0, "file": file}), [])
        self.assertEqual([key for key, _ in Resource.check(KEY, {"value": " "})], ["value"])
