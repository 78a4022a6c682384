import os
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.resources.mount.resource import Resource
from remote_runtime.system.files import Files
from remote_runtime.system.kernel import mounts
from tests.remote_runtime.fakes import DirectoryTest, context, item, one
from tests.remote_runtime.host.kinds import run
from tests.texts import expect_text

ROOT = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
ROOT_USER = os.geteuid() == 0
RUNS = "remote_runtime.host.machine.commands.Commands.run"


class MountTest(DirectoryTest):
    """On tables that are files, with the programs behind the port."""

    def setUp(self) -> None:
        super().setUp()
        self.ran: List[List[str]] = []
        for name in ("etc", "self"):
            os.mkdir(self.path(name))
        patches: List[Any] = [
            mock.patch.object(mounts, "PROC", self.root),
            mock.patch.object(mounts, "ETC", self.path("etc")),
            mock.patch.object(mounts, "LOADED", self.path("loaded")),
            mock.patch("os.geteuid", return_value=0),
            mock.patch(RUNS, self.performed),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.write("etc/fstab", b"/dev/sda1 / ext4 defaults 0 1\n")
        self.point = self.path("point")
        os.mkdir(self.point)
        self.mounted("")

    def mounted(self, line: str) -> None:
        self.write("self/mountinfo", (ROOT + line).encode())

    def line(self, source: str = "tmpfs", flags: str = "rw", system: str = "rw") -> str:
        return "2 1 0:9 / %s %s - tmpfs %s %s\n" % (self.point, flags, source, system)

    def performed(self, argv: Any) -> None:
        """As the programs leave it: what is asked for."""
        self.ran.append(list(argv))
        if argv[0] == "umount":
            self.mounted("")
        elif argv[0] == "mount":
            words = argv[argv.index("-o") + 1].split(",") if "-o" in argv else []
            flags = [word for word in words if word in ("ro", "nodev", "noexec", "nosuid")]
            system = [word for word in words if word.startswith("size=")]
            self.mounted(self.line("tmpfs", ",".join(["rw"] + flags), ",".join(["rw"] + system)))

    def event(self, noop: bool = False, **properties: Any) -> Dict[str, Any]:
        wanted = item("mount", self.point, properties=properties)
        return one(run(Resource, wanted, noop=noop))

    def both(self, **properties: Any) -> Dict[str, Any]:
        """The event of a push, whose preview says the same and runs nothing."""
        before = list(self.ran), self.read("etc/fstab"), self.read("self/mountinfo")
        preview = self.event(noop=True, **properties)
        now = list(self.ran), self.read("etc/fstab"), self.read("self/mountinfo")
        self.assertEqual(now, before)
        event = self.event(**properties)
        self.assertEqual(preview["error"], event["error"])
        self.assertEqual(preview["changes"], event["changes"])
        return event

    def test_a_preview_reads_mounts_and_table_once(self) -> None:
        """Until an action is called, which a preview in a push sees."""
        ctx = context(noop=True)
        reads = mock.patch.object(mounts, "_mounted", side_effect=mounts._mounted)
        reads_table = mock.patch.object(Files, "read", autospec=True, side_effect=Files.read)
        with reads as read, reads_table as read_table:
            found = [ctx.planned().mounts.at(self.point) for _ in range(3)]
            self.assertEqual((found, read.call_count), ([None] * 3, 1))
            tables = {ctx.planned().mounts.table() for _ in range(3)}
            self.assertEqual((len(tables), read_table.call_count), (1, 1))
            self.mounted(self.line())
            ctx.has_acted()
            self.assertIsNotNone(ctx.planned().mounts.at(self.point))

    def test_a_password_of_others(self) -> None:
        """A password in the table is in no event, and stays where only another field changes."""
        line = "//s/x %s cifs username=u,password=secret,ro 0 0\n" % self.point
        for properties in ({"nofail": True}, {"options": "ro,vers=3.0"}, {"pass": 2}):
            self.write("etc/fstab", line.encode())
            given = dict(properties, ensure="present", device="//s/x", type="cifs")
            for noop in (True, False):
                self.assertNotIn("secret", str(self.event(noop=noop, **given)), given)
            kept = b"password=secret" in self.read("etc/fstab")
            self.assertEqual(kept, "options" not in properties)

    def test_mounted(self) -> None:
        """The entry is written and the file system mounted; then it is stable, in other words
        too."""
        wanted = {"device": "tmpfs", "type": "tmpfs", "options": "size=1m,nodev,nofail"}
        event = self.both(**wanted)
        self.assertEqual(event["changes"][0]["to"], "mounted")
        self.assertEqual(
            self.ran,
            [["mount", "-t", "tmpfs", "-o", "size=1m,nodev", "tmpfs", self.point]],
        )
        self.assertIn(b"tmpfs\tsize=1m,nodev,nofail\t0\t0\n", self.read("etc/fstab"))
        self.assertEqual(self.both(**wanted)["status"], "stable")
        other = dict(wanted, options="nodev,defaults,size=1024k", nofail=True)
        self.assertEqual(self.both(**other)["changes"][0]["what"], "options")
        self.assertEqual(self.both(device="tmpfs")["status"], "stable")

    def test_other_options(self) -> None:
        """They are changed while it is mounted, also where the table is right and the mount is
        not."""
        self.mounted(self.line())
        self.write("etc/fstab", b"tmpfs %s tmpfs ro,nosuid 0 0\n" % self.point.encode())
        event = self.both(device="tmpfs", type="tmpfs", options="nosuid,ro")
        self.assertEqual([c["what"] for c in event["changes"]], ["active_options"])
        self.assertEqual(self.ran, [["mount", "-o", "remount,nosuid,ro", "tmpfs", self.point]])
        self.both(device="tmpfs", type="tmpfs", options="defaults")
        self.assertEqual(self.ran[-1], ["mount", "-o", "remount,rw,suid", "tmpfs", self.point])

    def test_gone(self) -> None:
        """Unmounted and no entry; without device, ``unmounted`` leaves the entry."""
        self.mounted(self.line())
        entry = b"tmpfs %s tmpfs\n# kept\n" % self.point.encode()
        self.write("etc/fstab", entry)
        self.both(ensure="unmounted")
        self.assertEqual(self.ran, [["umount", self.point]])
        self.assertEqual(self.read("etc/fstab"), entry)
        self.assertEqual(self.both(ensure="unmounted")["status"], "stable")
        self.assertEqual(self.both(ensure="absent")["changes"][0]["from"], "unmounted")
        self.assertEqual(self.read("etc/fstab"), b"# kept\n")
        self.assertEqual(self.both(ensure="absent")["status"], "stable")

    def test_a_replacement_that_fails(self) -> None:
        """What was mounted before is mounted again; where that fails, too, the error says so."""
        wanted: Dict[str, Any] = {"device": "new", "type": "ramfs", "options": "mode=0700"}
        failing: List[str] = ["new"]

        def performed(argv: Any) -> None:
            self.performed(argv)
            if argv[0] == "mount" and argv[-2] in failing:
                self.mounted("")
                raise ResourceError("it went wrong", "resource.exec")

        table = self.read("etc/fstab")
        entry = b"other %s tmpfs nodev,size=2m 0 0\n" % self.point.encode()
        again = ["mount", "-t", "tmpfs", "-o", "nodev,noexec", "other", self.point]
        listed = ["mount", "-t", "tmpfs", "-o", "nodev,size=2m", "other", self.point]
        for lines, before in ((table, again), (table + entry, listed)):
            self.write("etc/fstab", lines)
            self.mounted(self.line("other", "nodev,noexec"))
            self.ran.clear()
            with mock.patch(RUNS, side_effect=performed):
                event = self.event(**wanted)
            expect_text(event["error"][0], self)
            self.assertNotIn("nothing is mounted", event["error"][0])
            self.assertEqual([words[0] for words in self.ran], ["umount", "mount", "mount"])
            self.assertEqual(self.ran[-1], before)
            self.assertEqual(self.read("etc/fstab"), lines)
        failing.append("other")
        self.mounted(self.line("other"))
        with mock.patch(RUNS, side_effect=performed):
            event = self.event(**wanted)
        told = "it went wrong; nothing is mounted at %s now" % self.point
        self.assertIn(told, event["error"][0])
        self.write("etc/fstab", table)
        self.mounted(self.line("other").replace(" / ", " /part ", 1))
        self.ran.clear()
        with mock.patch(RUNS, side_effect=performed):
            self.assertIn(told, self.event(**wanted)["error"][0])
        self.assertEqual([words[0] for words in self.ran], ["umount", "mount"])

    def test_what_others_change_meanwhile(self) -> None:
        """What somebody mounted or wrote since it was read is left as it is, with an error."""
        apply, remove = Resource.apply, Resource.remove
        wanted: Dict[str, Any] = {"device": "tmpfs", "type": "tmpfs", "options": "nodev"}
        entry = b"theirs %s tmpfs ro 0 0\n" % self.point.encode()

        def mounts_theirs() -> None:
            self.mounted(self.line("theirs"))

        def writes_theirs() -> None:
            self.write("etc/fstab", entry)

        for before in ("", self.line("tmpfs", "ro"), self.line("other")):
            for meddle in (mounts_theirs, writes_theirs):
                for given in (wanted, {"ensure": "absent"}, {"ensure": "unmounted"}):
                    self.write("etc/fstab", b"old %s tmpfs nosuid 0 0\n" % self.point.encode())
                    self.mounted(before)
                    self.ran.clear()
                    with mock.patch.multiple(
                        Resource,
                        apply=lambda r, *at, step=meddle: (step(), apply(r, *at))[1],
                        remove=lambda r, *at, step=meddle: (step(), remove(r, *at))[1],
                    ):
                        event = self.event(**given)
                    if event["status"] == "stable":
                        self.assertEqual((before, given), ("", {"ensure": "unmounted"}))
                        continue
                    told = "was changed by another process at the same time"
                    self.assertIn(told, event["error"][0])
                    self.assertEqual(self.ran, [])

    def test_a_mount_that_fails_halfway(self) -> None:
        """What the failed program has mounted is unmounted again, and the table stays as it was."""
        table = self.read("etc/fstab")

        def performed(argv: Any) -> None:
            self.performed(argv)
            if argv[0] == "mount":
                raise ResourceError("mount: exit code 32", "resource.command")

        with mock.patch(RUNS, side_effect=performed):
            event = self.event(device="tmpfs", type="tmpfs", options="nodev")
        self.assertIn("mount: exit code 32", event["error"][0])
        self.assertEqual([words[0] for words in self.ran], ["mount", "umount"])
        self.assertEqual(self.read("etc/fstab"), table)

    def test_what_others_mount_at_the_same_time(self) -> None:
        """What was mounted over it is unmounted again, and the table stays as it was."""
        table = self.read("etc/fstab")

        def performed(argv: Any) -> None:
            self.performed(argv)
            over = self.line().replace("2 1 0:9", "3 2 0:10")
            self.mounted(self.line("theirs") + (over if argv[0] == "mount" else ""))

        with mock.patch(RUNS, side_effect=performed):
            event = self.event(device="tmpfs", type="tmpfs", options="nodev")
        told = "the mount at %s was changed by another process" % self.point
        self.assertIn(told, event["error"][0])
        self.assertEqual([words[0] for words in self.ran], ["mount", "umount"])
        self.assertEqual(self.read("etc/fstab"), table)
        self.assertIn("theirs", self.read("self/mountinfo").decode())

    def test_the_table_only(self) -> None:
        """``present`` mounts nothing, and leaves what is mounted."""
        self.both(ensure="present", device="LABEL=x", type="ext4")
        self.mounted(self.line("other"))
        event = self.both(ensure="present", device="LABEL=x", type="ext4")
        self.assertEqual((event["status"], event["final_ensure"]), ("stable", "present"))
        self.assertEqual(self.ran, [])

    def test_what_is_refused(self) -> None:
        """Before anything is changed, in a preview too."""
        before = self.read("etc/fstab")
        refused = (
            ({"device": self.path("no"), "options": "bind"}, "does not exist"),
            ({"device": "UUID=x-x", "type": "ext4"}, "the device UUID=x-x does not exist"),
            ({"device": self.write("file"), "options": "bind"}, "must be a file"),
        )
        for properties, error in refused:
            self.assertIn(error, self.both(**properties)["error"][0])
        self.mounted(self.line() + "3 2 0:8 / %s/in rw - tmpfs x rw\n" % self.point)
        expect_text(self.both(ensure="absent")["error"][0], self)
        self.mounted(self.line())
        with mock.patch("os.geteuid", return_value=1000):
            self.assertIn("only root", self.both(ensure="unmounted")["error"][0])
        self.assertEqual(self.read("etc/fstab"), before)
        self.assertEqual(self.ran, [])

    def test_systemd(self) -> None:
        """It reads the table again where that is newer than what it has read."""
        self.write("loaded")
        os.utime(self.path("loaded"), (1000, 1000))
        self.write("etc/fstab", b"tmpfs %s tmpfs\n" % self.point.encode())
        self.mounted(self.line())

        def reload(port: Any) -> None:
            self.ran.append(["reload"])
            os.utime(self.path("loaded"))

        for target, new in (
            ("remote_runtime.host.machine.mounts.Mounts.reload", reload),
            ("remote_runtime.host.command_ports.CommandReader.require", mock.DEFAULT),
        ):
            patch: Any = mock.patch(target, new)
            patch.start()
            self.addCleanup(patch.stop)
        event = self.both(device="tmpfs", type="tmpfs")
        self.assertEqual([c["what"] for c in event["changes"]], ["fstab_loaded"])
        self.assertEqual(self.ran, [["reload"]])
        self.assertEqual(self.both(device="tmpfs", type="tmpfs")["status"], "stable")

    def test_a_point_behind_a_symlink(self) -> None:
        """The kernel knows it by its own path, the table by its name."""
        os.symlink("point", self.path("link"))
        wanted = item("mount", self.path("link"), properties={"device": "tmpfs", "type": "tmpfs"})
        for status in ("changed", "stable"):
            self.assertEqual(one(run(Resource, wanted))["status"], status)
        self.assertEqual(self.ran, [["mount", "-t", "tmpfs", "tmpfs", self.point]])
        self.assertIn(self.path("link").encode() + b"\ttmpfs", self.read("etc/fstab"))

    def test_a_link_of_another_user(self) -> None:
        """It leads to nothing that is not that user's: not to what root has mounted."""
        if not ROOT_USER:
            self.skipTest("only root makes a link of another user")
        os.mkdir(self.path("home"))
        link = self.path("home/data")
        os.symlink(self.point, link)
        for path in (self.path("home"), link):
            os.chown(path, 12345, 12345, follow_symlinks=False)
        self.mounted(self.line("other"))
        for properties in (
            {"device": "tmpfs", "type": "tmpfs", "options": "size=1m"},
            {"ensure": "unmounted"},
            {"ensure": "absent"},
        ):
            for noop in (True, False):
                event = one(run(Resource, item("mount", link, properties=properties), noop=noop))
                self.assertIn("link", event["error"][0])
                self.assertIn("12345", event["error"][0])
        self.assertEqual(self.ran, [])

    def test_a_link_to_what_the_host_needs(self) -> None:
        """It is not unmounted by another name, nor replaced."""
        os.symlink("/usr", self.path("link"))
        self.mounted("2 1 8:2 / /usr rw - ext4 /dev/sda2 rw\n")
        for properties in (
            {"ensure": "unmounted"},
            {"ensure": "absent"},
            {"device": "tmpfs", "type": "tmpfs"},
        ):
            wanted = item("mount", self.path("link"), properties=properties)
            for noop in (True, False):
                (error, *_) = one(run(Resource, wanted, noop=noop))["error"]
                self.assertIn("/usr cannot be unmounted; the host needs it", error)
        self.assertEqual(self.ran, [])

    def test_on_demand(self) -> None:
        """What systemd mounts as soon as somebody goes there counts as mounted."""
        options = "x-systemd.automount,noauto"
        line = "LABEL=x %s ext4 %s 0 0\n" % (self.point, options)
        self.write("etc/fstab", line.encode())
        self.mounted("2 1 0:9 / %s rw - autofs systemd-1 rw\n" % self.point)
        event = self.both(device="LABEL=x", type="ext4", options=options)
        self.assertEqual((event["status"], self.ran), ("stable", []))

    def test_rules(self) -> None:
        """What no host can do without stays; each mistake is about its property."""
        for name in ("/", "/proc", "/usr"):
            for ensure in ("absent", "unmounted"):
                found = Resource.check(name, {"ensure": ensure, "force": True})
                self.assertEqual([key for key, _ in found], ["name"])
        for properties, key in (
            ({}, ""),
            ({"device": "srv/x", "options": "bind"}, "device"),
            ({"device": "x", "options": "ro,remount"}, "options"),
            ({"type": "swap", "options": "bind"}, "options"),
            ({"device": "//s/x", "type": "cifs", "options": "username=u,password=p"}, "options"),
            ({"device": "//s/x", "type": "cifs", "options": "PASS=p,password2=q"}, "options"),
            ({"device": "//s/x", "type": "cifs", "options": "ro,user=u%p"}, "options"),
        ):
            self.assertEqual([one for one, _ in Resource.check("/x", properties)], [key])
        allowed = {"device": "//s/x", "type": "cifs", "options": "credentials=/root/of-x"}
        self.assertEqual(Resource.check("/x", allowed), [])
        self.assertEqual(Resource.check("/swapfile", {"type": "swap"}), [])
        self.assertEqual(Resource.check("/x", {"ensure": "unmounted"}), [])
