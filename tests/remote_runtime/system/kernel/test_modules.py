import os
from typing import Any, List
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.system.kernel import modules
from tests.remote_runtime.fakes import DirectoryTest, failure_of

LOADED = """\
nf_conntrack 172032 3 nf_nat,xt_conntrack, Live 0x0
dummy 16384 0 - Live 0x0
busy 16384 2 - Live 0x0
"""


class ModulesTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        patches: List[Any] = [
            mock.patch.object(modules, "PROC", self.root),
            mock.patch.object(modules, "LIBRARY", self.path("lib")),
            mock.patch("os.geteuid", return_value=0),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.write("modules", LOADED.encode())
        os.makedirs(self.path("lib", os.uname().release))

    def table(self, name: str, text: str) -> None:
        self.write(os.path.join("lib", os.uname().release, name), text.encode())

    def test_loaded(self) -> None:
        """By name, with what uses each."""
        found = modules.loaded()
        self.assertEqual(found["nf_conntrack"], (3, ["nf_nat", "xt_conntrack"]))
        self.assertEqual(found["dummy"], (0, []))

    def test_what_the_kernel_has(self) -> None:
        """By name with either sign, by alias, compressed or not, built in or not; without tables
        there is nothing."""
        self.assertFalse(modules.is_there("dummy") or modules.is_built_in("ext4"))
        self.table("modules.dep", "kernel/net/dummy.ko.xz:\nkernel/br-nf.ko: kernel/llc.ko\n")
        self.table("modules.alias", "# x\nalias ip_conntrack nf_conntrack\nalias pci:v0*d*sv* x\n")
        self.table("modules.builtin", "kernel/fs/ext4/ext4.ko\n")
        for name in ("dummy", "br_nf", "br-nf", "ip-conntrack"):
            self.assertTrue(modules.is_there(name), name)
        self.assertFalse(modules.is_there("dumm"))
        self.assertTrue(modules.is_built_in("ext4"))
        self.assertFalse(modules.is_built_in("dummy"))
        self.assertIn("has no module dumm", str(failure_of(modules.require_there, "dumm")))

    def test_who_may(self) -> None:
        """Root with the capability; a container is told as one."""
        os.mkdir(self.path("self"))
        self.write("self/status", b"Name: x\nCapEff:\t000001ffffffffff\n")
        modules.require_loading("dummy")
        self.write("self/status", b"CapEff:\t00000000fdecafff\n")
        error = failure_of(modules.require_loading, "dummy")
        self.assertIn("it may be a container", str(error))
        self.assertIn("live: false", error.hint)
        with mock.patch("os.geteuid", return_value=1000):
            self.assertIn("only root", str(failure_of(modules.require_loading, "dummy")))

    def test_in_use(self) -> None:
        """A module that is used stays, and its users are named."""
        found = modules.loaded()
        modules.require_unused("dummy", found["dummy"])
        for name, users in (("nf_conntrack", "nf_nat, xt_conntrack"), ("busy", "2 users")):
            with self.assertRaises(ResourceError) as raised:
                modules.require_unused(name, found[name])
            self.assertIn("in use by " + users, str(raised.exception))
