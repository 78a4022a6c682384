import os
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.resources.module.resource import Resource
from remote_runtime.resources.sysctl.resource import Resource as Sysctl
from remote_runtime.system.kernel import modules, parameters
from tests.remote_runtime.fakes import DirectoryTest, context, item, one, run_items
from tests.remote_runtime.host.kinds import Kinds, run


class ModuleTest(DirectoryTest):
    """On a kernel that is a directory, with ``modprobe`` behind the port."""

    def setUp(self) -> None:
        super().setUp()
        patches: List[Any] = [
            mock.patch.object(parameters, "ETC", self.path("etc")),
            mock.patch.object(parameters, "PROC", self.path("sys")),
            mock.patch.object(modules, "PROC", self.root),
            mock.patch.object(modules, "LIBRARY", self.path("lib")),
            mock.patch("os.geteuid", return_value=0),
            mock.patch("remote_runtime.host.machine.kernel.Kernel._run", self.modprobe),
            mock.patch("remote_runtime.host.preview.kernel.Kernel._require_program"),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.write("modules", b"used 1 1 other, Live 0x0\nfree 1 0 - Live 0x0\n")
        release = os.path.join("lib", os.uname().release)
        os.makedirs(self.path(release))
        self.write(os.path.join(release, "modules.dep"), b"kernel/dummy.ko:\nkernel/other.ko:\n")
        self.write(os.path.join(release, "modules.builtin"), b"kernel/ext4.ko\n")
        os.mkdir(self.path("etc"))

    def modprobe(self, *words: str) -> None:
        lines = self.read("modules").decode().splitlines(True)
        lines = [line for line in lines if line.split()[0] != words[-1]]
        new = [] if "-r" in words else ["%s 1 0 - Live 0x0\n" % words[-1]]
        self.write("modules", "".join(lines + new).encode())

    def both(self, name: str, **properties: Any) -> Dict[str, Any]:
        """The event of a push, whose preview says the same."""
        wanted = item("module", name, properties=properties)
        preview, event = (one(run(Resource, wanted, noop=noop)) for noop in (True, False))
        self.assertEqual(preview["error"], event["error"])
        self.assertEqual(preview["changes"], event["changes"])
        return event

    def text(self, name: str) -> bytes:
        return self.read("etc/" + name).partition(b"\n")[2]

    def test_a_module(self) -> None:
        """It is loaded after its options are written, and at each start; then it is stable."""
        self.assertTrue(self.both("dummy", options="a=1  b=2")["changed"])
        self.assertIn(b"dummy", self.read("modules"))
        self.assertEqual(self.text("modules-load.d/ccm-dummy.conf"), b"dummy\n")
        self.assertEqual(self.text("modprobe.d/ccm-dummy.conf"), b"options dummy a=1 b=2\n")
        self.assertEqual(self.both("dummy", options="a=1 b=2")["status"], "stable")
        self.assertTrue(self.both("dummy")["changed"])
        self.assertFalse(os.path.exists(self.path("etc/modprobe.d/ccm-dummy.conf")))

    def test_gone(self) -> None:
        """It is unloaded, and blacklisted if that is asked for; then it is stable."""
        run(Resource, item("module", "dummy", properties={}))
        self.assertTrue(self.both("dummy", ensure="absent", blacklist=True)["changed"])
        self.assertNotIn(b"dummy", self.read("modules"))
        self.assertEqual(self.text("modprobe.d/ccm-dummy.conf"), b"blacklist dummy\n")
        self.assertFalse(os.path.exists(self.path("etc/modules-load.d/ccm-dummy.conf")))
        self.assertEqual(self.both("dummy", ensure="absent", blacklist=True)["status"], "stable")
        self.assertTrue(self.both("dummy", ensure="absent")["changed"])
        self.assertEqual(self.both("dummy", ensure="absent")["status"], "stable")

    def test_what_is_refused(self) -> None:
        """In a preview too: an unknown one, one in use, one that is built in, a container."""
        self.assertIn("has no module nowhere", self.both("nowhere", options="a=1")["error"][0])
        self.assertFalse(os.path.exists(self.path("etc/modprobe.d/ccm-nowhere.conf")))
        self.assertIn("in use by other", self.both("used", ensure="absent")["error"][0])
        self.assertIn("built into", self.both("ext4", ensure="absent")["error"][0])
        self.assertFalse(self.both("ext4")["failed"])
        os.mkdir(self.path("self"))
        self.write("self/status", b"CapEff: 0\n")
        self.assertIn("it may be a container", self.both("dummy")["error"][0])
        self.assertFalse(self.both("dummy", live=False)["failed"])
        self.assertNotIn(b"dummy", self.read("modules"))
        self.assertEqual(
            [key for key, _ in Resource.check("a", {"options": "a=1 ; rm"})], ["options"]
        )

    def test_its_parameters_come_with_it(self) -> None:
        """A preview does not call a parameter unknown that a planned module may bring."""
        os.mkdir(self.path("sys"))
        things = [
            item("module", "dummy", properties={}),
            item("sysctl", "net.dummy.x", 1, properties={"value": 1}),
        ]
        ctx = context(things, noop=True)

        class Both(object):
            def create(self, wanted: Any, prepare: bool = True) -> Any:
                kind = Resource if wanted.type == "module" else Sysctl
                return Kinds(ctx, kind).create(wanted)

            suppose = create

        events = run_items(things, Both(), shared=ctx)
        self.assertEqual([event["failed"] for event in events], [False, False])
        self.assertEqual(events[1]["prediction"], "unknown")
        self.assertIn("module#dummy may bring it", events[1]["prediction_reason"])
