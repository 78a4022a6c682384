"""dpkg's database, read without dpkg-query."""

import os
import random
import subprocess
import unittest

from remote_runtime.packages.dpkg import database as dpkg
from remote_runtime.packages.package_info import Installed

from ..fakes import DirectoryTest
from .plan import Plan, recorded_commands

STATUS = """\
Package: dpkg
Status: install ok installed
Architecture: amd64
Version: 1.21.22
Description: package manager
 Version: not this one

Package: held
Status: hold ok installed
Architecture: all
Version: 1:2.0-1
Conffiles:
 /etc/held 0123456789abcdef

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Config-Version: 3.0

Package: wished
Status: hold ok not-installed
Architecture: amd64

Package: broken
Status: install ok half-configured
Architecture: amd64
Version: 4.0
"""
TWICE = """
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36

Package: libc6
Status: install ok installed
Architecture: i386
Version: 2.35
"""
# As no dpkg writes it, but as it reads it.
ODD = """
Package: odd
Status: install ok installed
Architecture: amd64%s
Version: %s
"""
WANTS = ("install", "hold", "deinstall", "purge", "unknown")
STATES = (
    *("not-installed", "config-files", "half-installed", "unpacked", "half-configured"),
    *("triggers-awaited", "triggers-pending", "installed"),
)
VERSIONS = ("1", "1.0-1", "1:2.3-4", "0:1.2", "1.0-0", "2:1:3-1", "1.0~rc1-1+b1", "1.0 ", "")


def stanza(chance: random.Random, name: str) -> str:
    """Some package, most of the time as dpkg writes it."""
    state = chance.choice(STATES)
    version = chance.choice(VERSIONS[: chance.choice((-2, -2, -2, 9))])
    rest = [
        "Maintainer: A <a@example.com>",
        "Architecture: %s" % chance.choice(("amd64", "all", "i386", "arm64")),
        "Description: x\n Version: 9\n .\n Status: x",
        *(["Version: %s" % version] if version else []),
        *chance.choice(([], ["Multi-Arch: foreign", "Essential: yes"])),
        *chance.choice(([], ["Conffiles:\n /etc/x 0123456789abcdef0123456789abcdef"])),
    ]
    if state in ("triggers-pending", "triggers-awaited"):
        rest.append("%s: some" % state.title())
    chance.shuffle(rest)
    error = chance.choice(("ok", "ok", "reinstreq"))
    status = "Status: %s %s %s" % (chance.choice(WANTS), error, state)
    odd = chance.choice(("%s",) * 60 + (" %s", "%s ", "P%s"))
    return "\n".join(["Package: %s" % (odd % name), status] + rest) + "\n"


class StatusTest(DirectoryTest):
    def admin(self, text: str) -> str:
        """dpkg's directory with this database."""
        for directory in ("updates", "triggers"):
            os.makedirs(self.path(directory), exist_ok=True)
        self.write("triggers/Unincorp")
        self.write("status", text.encode())
        return self.root

    def test_what_it_says(self) -> None:
        """Versions with their epoch, holds, what is half there; nothing of what is wished for."""
        packages = dpkg.read(self.admin(STATUS))
        assert packages is not None
        self.assertEqual(packages.native, "amd64")
        rows = {
            "dpkg": Installed("1.21.22", "installed", architecture="amd64"),
            "dpkg:i386": Installed(),
            "held": Installed("1:2.0-1", "installed", held=True, architecture="all"),
            "gone": Installed("", "config-files"),
            "wished": Installed(),
            "broken": Installed("", "half-configured"),
            "nothing": Installed(),
        }
        for name, found in rows.items():
            with self.subTest(name):
                self.assertEqual(packages.find(name), found)

    def test_dpkg_query_is_asked(self) -> None:
        """Where dpkg is at work, and where the text is not all, or not as dpkg writes it."""
        for name in ("updates/0001", "triggers/Unincorp"):
            with self.subTest(name):
                admin = self.admin(STATUS)
                self.write(name, b"/usr/share/man man-db\n")
                self.assertIsNone(dpkg.read(admin))
                os.remove(self.path(name))
        for text in (
            "",
            "Version: 1.0\n\n" + STATUS,
            STATUS.replace("dpkg", "other"),
            STATUS.replace("Package: held", "Package: Held"),
            STATUS.replace("Package: held", "Package: held "),
            STATUS.replace("Package: held", "Package:  held"),
        ):
            with self.subTest(text[:10]):
                self.assertIsNone(dpkg.read(self.admin(text)))
        self.assertIsNone(dpkg.read(self.path("nothing")))

    def test_it_is_asked_where_an_entry_is_unclear(self) -> None:
        """An entry that is not told from the text is nobody else's trouble."""
        for more, name in (
            (TWICE, "libc6"),
            ("\nPackage: x\nStatus: install ok\n", "x"),
            (ODD % ("", "2.36 "), "odd"),
            (ODD % (" ", "2.36"), "odd"),
            (ODD % ("", "0:2.36"), "odd"),
        ):
            with self.subTest(more):
                plan = Plan(recorded_commands(), (name, {"ensure": "present"}))
                plan.provider.admin = self.admin(STATUS + more)
                plan.provider.status("held")
                self.assertEqual(plan.commands.count("dpkg-query"), 0)
                plan.provider.status(name)
                plan.provider.status("held")
                self.assertEqual(plan.commands.count("dpkg-query"), 1)

    @unittest.skipUnless(dpkg.is_used(), "this machine is not made of dpkg's packages")
    def test_whatever_it_says(self) -> None:
        """Both ways tell the same of any text that dpkg reads, where both tell."""
        self.write("available")
        chance, alike = random.Random(7), 0
        for _ in range(100):
            names = chance.sample(("p", "q", "r", "s", "t", "t"), 4)
            stanzas = [STATUS.partition("\n\n")[0] + "\n"]
            stanzas += [stanza(chance, name) for name in names]
            text = "\n".join(stanzas)
            packages = dpkg.read(self.admin(text))
            command = (dpkg.QUERY[0], "--admindir=" + self.root) + dpkg.QUERY[1:]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if packages is None or done.returncode != 0:
                continue
            queried = dpkg.Database(done.stdout.decode())
            for name in names:
                for suffix in ("", ":i386", ":any", ":all"):
                    try:
                        found = packages.find(name + suffix)
                    except dpkg.UnclearError:
                        continue
                    self.assertEqual(found, queried.find(name + suffix), text)
                    alike += 1
        self.assertGreater(alike, 300)

    @unittest.skipUnless(dpkg.is_used(), "this machine is not made of dpkg's packages")
    def test_this_machine(self) -> None:
        """Both ways tell the same of every package of this machine."""
        packages = dpkg.read()
        if packages is None:
            self.skipTest("dpkg is at work")
        printed = subprocess.run(dpkg.QUERY, check=True, stdout=subprocess.PIPE).stdout.decode()
        queried = dpkg.Database(printed)
        self.assertEqual(packages.native, queried.native)
        names = [line.partition(" ")[0] for line in printed.splitlines()]
        self.assertGreater(len(names), 10)
        for name in names:
            if names.count(name) == 1:
                self.assertEqual(packages.find(name), queried.find(name), name)


if __name__ == "__main__":
    unittest.main()
