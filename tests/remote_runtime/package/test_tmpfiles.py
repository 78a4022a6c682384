"""What systemd-tmpfiles makes of a package's tmpfiles.d."""

import os

from remote_runtime.packages import tmpfiles
from remote_runtime.packages.maintainer_scripts.path_commands import LookupBudget
from remote_runtime.packages.maintainer_scripts.shell import Call

from ..fakes import DirectoryTest, FakeAccounts, context


class Tmpfiles(DirectoryTest):
    def told(self, text, *words):
        path = self.write("x.conf", text.replace("ROOT", self.root).encode())
        world = context(noop=True).overlay_with([])
        words = words or ("--create", path)
        call = Call(("systemd-tmpfiles", *words), True)
        accounts = FakeAccounts({"web": 7, "root": 0})
        return tmpfiles.declared(world.files, accounts, call, LookupBudget())

    def lines(self, told):
        return [
            (effect.path[len(self.root) :], effect.kind, effect.mode, effect.uid)
            for effect in told.effects
        ]

    def test_lines_that_are_followed(self):
        """d, f, L and z: what is not there is made, with its parents; what is there is adjusted."""
        os.mkdir(self.path("old"), 0o700)
        told = self.told(
            "# x\nd ROOT/a/b 0750 web root 10d\nf ROOT/a/f - web - - some text\n"
            "L ROOT/l - - - - /else\nd ROOT/old 0711 - - -\nz ROOT/old - web - -\n"
            "z ROOT/none 0600 - - -\nd! ROOT/boot\nr ROOT/gone\n"
        )
        self.assertEqual(
            self.lines(told),
            [
                ("/a", "directory", 0o755, 0),
                ("/a/b", "directory", 0o750, 7),
                ("/a/f", "file", 0o644, 7),
                ("/l", "symlink", None, None),
                ("/old", "directory", 0o711, None),
                ("/old", "directory", None, 7),
            ],
        )
        self.assertEqual((told.effects[2].content.read(), told.open), (b"some text", []))

    def test_lines_that_leave_something_open(self):
        """Other types, patterns, unknown accounts and specifiers leave their paths open."""
        told = self.told(
            "C ROOT/c - - - - /x\nz ROOT/* 0600\nd ROOT/u - nobody-knows\nd ROOT/%H\nd= ROOT/e\n"
        )
        self.assertEqual(told.effects, [])
        paths = [path[len(self.root) :] for path in told.open]
        self.assertEqual(sorted(paths), sorted(["/c", "/*", "/u", "/\0", "/e"]))

    def test_other_calls(self):
        """All files at once are open where they put things; another program is not one of these."""
        self.assertEqual(self.told("", "--create").open, ["/run", "/tmp", "/var", "/etc"])
        self.assertEqual(self.told("", "--create", "none.conf").open, [])
        world = context(noop=True).overlay_with([])
        self.assertIsNone(
            tmpfiles.declared(world.files, FakeAccounts(), Call(("ls",), True), LookupBudget())
        )

    def test_places(self):
        """Specifiers that are directories are filled in."""
        (line,) = tmpfiles.parse("d %t/x%%y 0755 - - -\n")
        self.assertEqual((line.path, line.mode, line.user), ("/run/x%y", "0755", ""))
