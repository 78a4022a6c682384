from typing import Any, List

from remote_runtime.health.kind import CannotTellError, Probe
from remote_runtime.health.kinds.package import Package
from remote_runtime.system.process.commands import Result
from tests.remote_runtime.fake_commands import FakeCommands, make_context
from tests.remote_runtime.fakes import DirectoryTest


class PackageTest(DirectoryTest):
    def look(self, name: str, status: str, *missing: str) -> Any:
        """What is found of a package on a host whose dpkg has this database; "-" is none."""
        commands = FakeCommands(missing=missing)
        commands.on("dpkg-query", "installed 1:9.2-1\nconfig-files 8.0-1\n")
        commands.on("rpm -q", "1:9.9-2.fc43\n9.9-1.fc43\n")
        commands.on(
            "rpm -q --qf %|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\\n none", Result(1, "", "")
        )
        path = self.path("none") if status == "-" else self.write("status", status.encode())
        probe = Probe(make_context(commands), lambda: None)
        found = Package(path).observe(name, {}, probe)
        self.asked: List[str] = commands.asked
        return found

    def test_dpkg(self) -> None:
        """Where dpkg has packages, its installed versions count, even beside a program rpm."""
        found = self.look("ssh", "Package: ssh\n")
        self.assertEqual(found, {"installed": True, "versions": ["1:9.2-1"]})
        self.assertEqual([line.split()[0] for line in self.asked], ["dpkg-query"])

    def test_rpm(self) -> None:
        """Where dpkg has none, be it that only its program is there, rpm is asked."""
        for status in ("-", ""):
            found = self.look("ssh", status)
            self.assertEqual(found["versions"], ["1:9.9-2.fc43", "9.9-1.fc43"], status)
            self.assertEqual(self.look("none", status), {"installed": False, "versions": []})

    def test_neither(self) -> None:
        """Without any database of packages there is nothing to judge."""
        with self.assertRaises(CannotTellError):
            self.look("ssh", "", "rpm")
