"""A preview cannot change the host, whatever a type calls."""

import os
import unittest
from typing import Any, Callable, Dict, List, Tuple

from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.errors import CcmError, ResourceError
from remote_runtime.host.accounts import Accounts
from remote_runtime.host.command_ports import Commands, of_command
from remote_runtime.host.crontab_ports import Crontabs
from remote_runtime.host.file_ports import Files, NewAttributes
from remote_runtime.host.kernel_ports import Kernel
from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.mount_ports import Mounts
from remote_runtime.host.ports import HostReader
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.provider import Provider
from remote_runtime.system.kernel.fstab import Entry
from remote_runtime.system.kernel.mounts import MountEntry
from remote_runtime.system.read_only_files import ReadOnly
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import DirectoryTest, context
from tests.remote_runtime.host.kinds import kind_of, run, thing

READS = {
    *("digest", "number", "is_removable", "require_file_place", "require_parent"),
    *("require_free", "require_kind", "require_known"),
    *("listing", "is_directory", "followed", "links", "mount_points"),
    *(
        "lstat",
        "stat",
        "real",
        "read",
        "entries",
        "remaining",
        "uid",
        "gid",
        "find",
        "user",
        "group",
    ),
    *("group_name", "login_keys"),
    "tries",  # of the last command
    *("user_name", "groups_of", "logins", "exists", "is_created", "require_start"),
    *("at", "table", "is_source", "is_swap", "is_stale", "require_mountable", "refresh"),
    *("value", "is_known", "is_loaded", "settings", "require_loadable"),
    *("text", "require_own"),
    *("look", "holds"),  # guards of the user, which look in previews, too
    *("require", "words", "require_movable", "existing_user", "require_user"),
}
ENTRY = Entry("tmpfs", "/mnt", "tmpfs", "size=4k", "0", "0")
MOUNTED = MountEntry("0:7", "/", "/mnt", ("rw",), "tmpfs", "tmpfs")
RUNS = ("run", "execute")
OURS = {"uid": os.geteuid(), "gid": os.getegid()}


def accounts() -> List[Any]:
    """What the files of accounts hold, and a parameter of the kernel."""
    found = []
    databases = ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow")
    for path in (*databases, "/proc/sys/kernel/domainname"):
        if os.access(path, os.R_OK):
            with open(path, "rb") as file:
                times = 0 if path.startswith("/proc/") else os.stat(path).st_mtime_ns
                found.append((file.read(), times))
    return found


def writes_of(port: Any) -> List[str]:
    """The methods of a port that change something."""
    return sorted(n for n in dir(port) if not n.startswith("_") and n not in READS)


def held(root: str) -> Dict[str, Any]:
    """All that is below a directory."""
    found = {}
    for directory, directories, names in os.walk(root):
        for path in [directory] + [os.path.join(directory, name) for name in directories + names]:
            status = os.lstat(path)
            found[path] = (status.st_mode, status.st_uid, status.st_mtime_ns, status.st_ctime_ns)
    return found


class SafetyTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("file", b"x")
        os.mkdir(self.path("empty"))
        os.mkdir(self.path("bare"))
        os.mkdir(self.path("tree"))
        self.write("tree/file", b"x")
        os.symlink("file", self.path("link"))

    def attacks(self, files: Any) -> List[Tuple[str, Callable[[], object]]]:
        """A call of each method of the files that writes, with what would change something."""
        at = self.path
        new = NewAttributes(at("file"), "file", mode=0o604, **OURS)
        return [
            ("write", lambda: files.write(at("file"), b"y", mode=0o600)),
            ("write", lambda: files.write(at("new"), b"y", mode=0o600)),
            ("rewrite", lambda: files.rewrite(at("file"), b"z")),
            ("mkdir", lambda: files.mkdir(at("made"), 0o755)),
            ("put", lambda: files.put(at("file"), Text("w"), mode=0o600, **OURS)),
            ("make_directory", lambda: files.make_directory(at("a/b"), 0o755)),
            ("set_mode", lambda: files.set_mode(at("file"), 0o640)),
            ("symlink", lambda: files.symlink("new", at("link"))),
            ("symlink", lambda: files.symlink("new", at("empty"), replace=True)),
            ("set_attributes", lambda: files.set_attributes(at("file"), 0o600, -1, -1)),
            (
                "set_directory_attributes",
                lambda: files.set_directory_attributes(at("bare"), 0o711, **OURS),
            ),
            ("set_all_attributes", lambda: files.set_all_attributes([new])),
            ("back_up", lambda: files.back_up(at("file"), at(".file.~1~"))),
            ("unlink", lambda: files.unlink(at("file"))),
            ("rmdir", lambda: files.rmdir(at("bare"))),
            ("copy_tree", lambda: files.copy_tree(at("tree"), at("copy"), mode=0o755, **OURS)),
            ("remove_tree", lambda: files.remove_tree(at("tree"))),
        ]

    def attacks_on_the_rest(self, host: Any) -> List[Tuple[str, Callable[[], object]]]:
        """The same of accounts and the kernel, of which the tests change none of this machine."""
        accounts: Any = getattr(host, "accounts", None)
        return [
            ("add_user", lambda: accounts.add_user("ccm-evil", {"home": self.path("home")})),
            ("change_user", lambda: accounts.change_user("ccm-evil", {"shell": "/bin/x"})),
            ("change_user", lambda: accounts.change_user("nobody", {"password": "x"})),
            ("remove_user", lambda: accounts.remove_user("nobody")),
            ("add_group", lambda: accounts.add_group("ccm-bad")),
            ("set_gid", lambda: accounts.set_gid("nogroup", 4711)),
            ("remove_group", lambda: accounts.remove_group("nogroup")),
            ("mount", lambda: host.mounts.mount(ENTRY)),
            ("remount", lambda: host.mounts.remount(MOUNTED, ENTRY)),
            ("unmount", lambda: host.mounts.unmount(MOUNTED)),
            ("swap_on", lambda: host.mounts.swap_on(self.path("file"), "sw")),
            ("swap_off", lambda: host.mounts.swap_off(self.path("file"))),
            ("reload", lambda: host.mounts.reload()),
            ("load", lambda: host.kernel.load("dummy")),
            ("unload", lambda: host.kernel.unload("dummy")),
            ("set_value", lambda: host.kernel.set_value("kernel/domainname", "ccm-bad")),
            ("set_text", lambda: host.crontabs.set_text("root", "# ccm-bad\n")),
        ]

    def test_each_port_in_each_way(self) -> None:
        """Every method that writes is called in the preview of a malicious type, in each of its
        methods, and no byte changes; in a push each of them does change something."""
        self.assertEqual(
            {name for name, _ in self.attacks(None) + self.attacks_on_the_rest(None)} | {*RUNS},
            set().union(*map(writes_of, (Files, Commands, Accounts, Kernel, Mounts, Crontabs))),
        )
        before = held(self.root), accounts()

        def attack(host: Any) -> None:
            for _, call in self.attacks(host.files) + self.attacks_on_the_rest(host):
                try:
                    call()
                except (ResourceError, AttributeError):
                    pass
            touch = "touch " + self.path("touched")
            for call in (
                lambda: host.commands.run(touch.split()),
                lambda: host.commands.execute(of_command(touch, {}, "posix")),
            ):
                try:
                    call()
                except (ResourceError, AttributeError):
                    pass

        def read(host: HostReader) -> None:
            attack(host)

        kind = kind_of(read, attack, {"a": 1})
        for properties in ({}, {"ensure": "absent"}):
            for event in run(kind, thing("a", **properties), thing("b", **properties), noop=True):
                self.assertTrue(event["noop"])
        self.assertEqual((held(self.root), accounts()), before)
        ctx = context()
        host = machine(ctx)
        for name, call in self.attacks(host.files):
            now = held(self.root)
            call()
            self.assertNotEqual(held(self.root), now, name)

    def test_readers_have_no_writes(self) -> None:
        """What ``read`` gets has no method that writes, neither in a push nor in a preview."""
        seen: List[Any] = []
        for noop in (False, True):
            run(kind_of(lambda host: seen.append(host), desired={}), thing(), noop=noop)
        self.assertGreaterEqual(len(seen), 2)
        for host in seen:
            ports = [host.files, host.accounts, host.commands, host.kernel, host.mounts]
            for port in [*ports, host.crontabs]:
                self.assertEqual(set(writes_of(port)) & {"write", "unlink", "run"}, set())

    def test_no_way_from_the_overlay_to_a_door_that_writes(self) -> None:
        """Of all that can be reached from an overlay, no door to files opens for writing."""
        ctx = context(noop=True)
        with ctx.for_resource(thing(), True):
            host = Overlay(ctx.overlay_with(()), "thing#x")
        seen: Dict[int, Any] = {}
        waiting: List[Any] = [host]
        while waiting:
            found = waiting.pop()
            if id(found) in seen or isinstance(found, (str, bytes, int, float, type(None))):
                continue
            seen[id(found)] = found
            if isinstance(found, dict):
                waiting += list(found.values())
            elif isinstance(found, (list, tuple, set)):
                waiting += list(found)
            elif hasattr(found, "__dict__") and type(found).__module__.startswith("remote_runtime"):
                waiting += list(vars(found).values())
        from remote_runtime.system.files import Files as Adapter

        adapters = [found for found in seen.values() if isinstance(found, Adapter)]
        self.assertTrue(adapters)
        self.assertEqual([adapter for adapter in adapters if not isinstance(adapter, ReadOnly)], [])

    def test_a_provider_cannot_write_in_a_preview_either(self) -> None:
        """``context.files`` opens for reading only, before anything is planned and after."""
        path = self.write("kept", b"x")

        class Writing(Provider):
            def unsupported_reason(self, properties: Any) -> str:
                self.context.files.remove(path)
                return ""

        provider = Writing(context(noop=True))
        for _ in range(2):
            with self.assertRaisesRegex(CcmError, "must not change the host"):
                provider.unsupported_reason({})
            effect = PathEffect(self.path("planned"), "absent")
            provider.context.expect([effect], Uncertainty(), "file#planned")
        self.assertTrue(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
