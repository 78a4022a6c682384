"""Packages of virtual environments: what is read of them, and what the real pip makes of it."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any, List

import pytest

from remote_runtime.packages.language_packages import pip_calls
from remote_runtime.packages.language_packages.directory import Place
from remote_runtime.resources.package.resource import Resource
from remote_runtime.system.process.commands import Result
from tests.texts import expect_text

from .. import fakes
from ..fakes import DirectoryTest, item, one, run_items
from ..git.repositories import repository
from .wheels import wheel

NAME = "my-app"


def events_of(*packages: Any, **settings: Any) -> List[Any]:
    """The events of packages, each a name with properties."""
    items = [
        item("package", name, index, properties=given, provider="pip")
        for index, (name, given) in enumerate(packages)
    ]
    return run_items(items, **settings)


class Reading(DirectoryTest):
    """Environments that are made by hand; no pip runs."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.path("venv", "lib", "python3.11", "site-packages")
        os.makedirs(self.site)
        os.makedirs(self.path("venv", "bin"))
        self.write("venv/bin/python", b"#!/bin/sh\nexit 9\n", 0o755)
        self.write("venv/pyvenv.cfg", b"version = 3.11.2\n")
        self.put("pip", "23.0")

    def put(self, name: str, version: str, files: Any = ("METADATA", "INSTALLER")) -> None:
        directory = os.path.join(self.site, "%s-%s.dist-info" % (name, version))
        os.makedirs(directory)
        for file in files:
            with open(os.path.join(directory, file), "w") as made:
                made.write("Name: %s\nVersion: %s\n" % (name, version))

    def status(self, name: str, **properties: Any) -> Any:
        given = dict(properties, environment=self.path("venv"))
        return one(events_of((name, given), noop=True))

    def test_spellings(self) -> None:
        """Names are compared by PEP 503 and versions by PEP 440, and pip is not called."""
        self.put("Foo_Bar.baz", "1.0rc1")
        for name in ("foo-bar-baz", "FOO.BAR_BAZ", "Foo__Bar-baz"):
            for version in ("1.0rc1", "1.0.0-rc.1", "v1.0c1"):
                event = self.status(name, ensure=version)
                self.assertEqual((event["status"], event["final_ensure"]), ("stable", "1.0rc1"))
        event = self.status("other", package="foo-bar-baz", ensure="1.0rc1")
        self.assertEqual(event["status"], "stable")

    def test_an_old_format(self) -> None:
        """Packages that older tools have installed are found, too."""
        os.mkdir(os.path.join(self.site, "Old_Thing-2.1-py3.11.egg-info"))
        self.assertEqual(self.status("old-thing")["status"], "stable")
        self.assertEqual(self.status("old-thing")["final_ensure"], "2.1")

    def test_what_was_cut_off(self) -> None:
        """An installation that was cut off, or a removal, is no package."""
        self.put(NAME.replace("-", "_"), "1.0", ["METADATA"])
        self.put("~ther", "1.0")
        for name in (NAME, "ther"):
            self.assertNotEqual(self.status(name)["status"], "stable")

    def test_other_directories(self) -> None:
        """A directory that is no virtual environment is refused, that of the system by a rule."""
        os.remove(self.path("venv", "pyvenv.cfg"))
        expect_text(self.status(NAME)["error"][0], self)
        with open(self.path("venv", "lib", "python3.11", "EXTERNALLY-MANAGED"), "w"):
            pass
        self.assertIn("PEP 668", self.status(NAME)["error"][0])
        found = Resource.check(NAME, {"environment": "/usr"})
        self.assertIn("PEP 668", found[0][1])

    @unittest.skipUnless(fakes.ROOT, "only root can give files away")
    def test_whose_programs_run(self) -> None:
        """Nothing runs as root where another user can put programs, and no link of one leads on."""
        strange = "users other than root can change"
        for path in ("venv/bin", "venv/lib/python3.11/site-packages", "venv", "."):
            os.chown(self.path(path), 12345, -1)
            if path != "venv":
                self.assertIn(strange, self.status(NAME)["error"][0], path)
                self.assertIn(strange, self.status(NAME, ensure="absent")["error"][0:1] or strange)
            os.chown(self.path(path), 0, -1)
        os.chmod(self.path("venv", "bin"), 0o777)
        self.assertIn(strange, self.status(NAME)["error"][0])
        os.chmod(self.path("venv", "bin"), 0o755)
        os.chown(self.path("venv"), 12345, -1)
        os.chown(self.path("venv", "bin"), 12346, -1)
        expect_text(self.status(NAME)["error"][0], self)
        expect_text(self.status(NAME, owner="0")["error"][0], self)

    @unittest.skipUnless(fakes.ROOT, "only root can become another user")
    def test_runs_as_the_owner(self) -> None:
        """What runs in an environment has the user of the environment and no other."""
        script = b'#!/bin/sh\nid -u >> "%s"\necho "Available versions: 1.0"\n'
        os.chmod(self.root, 0o755)
        self.write("who", b"", 0o666)
        os.remove(self.path("venv", "bin", "python"))  # as venv makes it: a link to that of root
        program = self.write("python3", script % self.path("who").encode(), 0o755)
        os.symlink(program, self.path("venv", "bin", "python"))
        for directory, _, files in os.walk(self.path("venv")):
            for name in (".", *files):
                os.lchown(os.path.join(directory, name), 12345, 12345)
        self.assertEqual(self.status(NAME)["error"], [])
        self.assertEqual(set(self.read("who").split()), {b"12345"})

    def test_another_python_without_pip(self) -> None:
        """An environment of another tool, which has no pip, gets one and keeps its Python."""
        shutil.rmtree(os.path.join(self.site, "pip-23.0.dist-info"))
        os.makedirs(self.path("python3.11", "ensurepip"))
        self.write("python3.11/ensurepip/__init__.py")
        log = self.path("log")
        script = '#!/bin/sh\necho "$0 $*" >> %s\ncase "$*" in *sysconfig*) echo %s ;;\n'
        script += '*) echo "Available versions: 1.0" ;; esac\n'
        theirs = script % (log, self.path("python3.11"))
        self.write("venv/bin/python", theirs.encode(), 0o755)
        usual = self.write("python", (script % (log, self.path("python3.9"))).encode(), 0o755)
        given = {"environment": self.path("venv"), "python": usual}
        events_of((NAME, given))
        self.assertIn(b"venv/bin/python -I -m ensurepip --default-pip\n", self.read("log"))
        self.assertNotIn(b"-m venv", self.read("log"))

    @unittest.skipUnless(fakes.ROOT, "only root can become another user")
    def test_who_looks_at_an_interpreter(self) -> None:
        """An interpreter of a user runs as this user, also before there is an environment."""
        os.chmod(self.root, 0o755)
        self.write("who", b"", 0o666)
        os.mkdir(self.path("ensurepip"))
        self.write("ensurepip/__init__.py")
        script = b'#!/bin/sh\nid -u >> "%s"\necho "%s"\n'
        script %= self.path("who").encode(), self.root.encode()
        python = self.write("python", script, 0o755)
        os.chown(python, 12345, 12345)
        given = {"environment": self.path("new"), "python": python, "owner": "12345"}
        one(events_of((NAME, given), noop=True))
        self.assertEqual(set(self.read("who").split()), {b"12345"})

    def test_requirements(self) -> None:
        """Each line counts under its condition, and so does what an extra needs."""
        self.put("flask", "3.0.1", ["INSTALLER"])
        with open(os.path.join(self.site, "flask-3.0.1.dist-info", "METADATA"), "w") as made:
            made.write("Name: flask\nRequires-Dist: asgiref>=3.2; extra == 'async'\n\n")
        rows = [
            ("flask\n", "stable"),
            ("flask==3.0.1 --hash=sha256:00 \\\n  --hash=sha256:11\n# all\n", "stable"),
            ("Flask>=3,<4 ; python_version >= '3.8' and sys_platform != 'win32'\n", "stable"),
            ("flask~=2.0; python_version < '3.8' or (os_name == 'nt')\n", "stable"),
            ("other; python_full_version < '3.11.1' or implementation_version < '3'\n", "stable"),
            ("-i https://user:secret@example.net/\nflask ===3.0.1\n", "stable"),
            ("flask[async]\n-c other.txt\n", "changed"),
            ("flask>3.0.1\n", "changed"),
            ("flask\nother\n", "changed"),
        ]
        for text, status in rows:
            self.assertEqual(self.status("all", requirements=text)["status"], status, text)
        for text in ("-e .\n\n", "https://example.net/x.whl\n\n", "flask=1\n\n", "x; y == '1'\n\n"):
            self.assertTrue(self.status("all", requirements=text)["failed"], text)
        event = self.status("all", requirements="flask\n\n", require_hashes=True)
        expect_text(event["error"][0], self)
        self.write("one.txt", b"-r two.txt\n")
        self.write("two.txt", b"flask<1\n")
        event = self.status("all", requirements=self.path("one.txt"))
        self.assertEqual(event["changes"][1]["from"], "3.0.1")
        event = self.status("all", requirements=self.path("none.txt"))
        expect_text(event["error"][0], self)

    def test_files_that_would_take_long(self) -> None:
        """The owner of an environment writes these files: what would take long is refused, or is
        read once."""
        for number in range(12):
            text = b"-r f%d.txt\n" % (number + 1) * 20 if number < 11 else b"pip\n"
            self.write("f%d.txt" % number, text)
        for number in range(102):
            self.write("chain%d.txt" % number, b"-r chain%d.txt\n" % (number + 1))
        self.put("flask", "3.0.1", ["INSTALLER"])
        with open(os.path.join(self.site, "flask-3.0.1.dist-info", "METADATA"), "w") as made:
            made.write("Name: flask\n")
            made.write("Requires-Dist: flask[a,b,c]; extra in 'a b c'\n" * 20)
            made.write("Requires-Dist: !; extra == 'd'\n\n")
        self.write("loop.txt", b"-r loop.txt\n")
        rows: Any = [
            (self.path("f0.txt"), ""),
            ("flask[a]\n\n", "the metadata of flask: "),
            (self.path("loop.txt"), "include each other"),
            (self.path("chain0.txt"), "more than 100 files"),
            ("pip\n" * 10_001, "more than 10000 requirements"),
            ("pip; %s'a' == 'a'%s\n\n" % ("(" * 51, ")" * 51), "the condition is too long"),
            ("pip; %s\n\n" % " and ".join(["'a' == 'a'"] * 140), "at most 2000 characters"),
            ("pip==%s\n\n" % ("1" * 2_000), "at most 2000 characters"),
        ]
        for text, problem in rows:
            event = self.status("all", requirements=text)
            self.assertIn(problem, "".join(event["error"][:1]), text[:30])
            self.assertEqual(bool(event["error"]), bool(problem), text[:30])

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_requirements_that_an_earlier_resource_brings(self) -> None:
        """A preview expects the installation, and says what it depends on."""
        repository(self.path("source"), "flask")
        given = {"environment": self.path("venv"), "requirements": self.path("app", "reqs.txt")}
        items = [
            item("git", self.path("app"), properties={"url": self.path("source")}),
            item("package", "all", 1, properties=given, provider="pip"),
        ]
        event = run_items(items, noop=True)[1]
        self.assertEqual((event["status"], event["error"]), ("changed", []))
        foretold = (event["prediction"], event["noop_message"])
        self.assertEqual(foretold, ("unknown", "Would have installed"))
        expect_text(event["prediction_reason"], self)

    @unittest.skipUnless(fakes.ROOT, "only root can give files away")
    def test_whose_requirements_count(self) -> None:
        """No file is read that the owner of the environment cannot read, or, of one of root, that
        others can write: its lines would be shown, or run as root."""
        os.chmod(self.root, 0o755)
        self.write("secret", b"root:hash:1\n", 0o600)
        self.write("one.txt", b"-r secret\n")
        os.chown(self.path("one.txt"), 12345, -1)
        event = self.status("all", requirements=self.path("one.txt"))
        self.assertIn("one.txt, and ccm would run programs as root", event["error"][0])
        for directory, _, files in os.walk(self.path("venv")):
            for name in (".", *files):
                os.chown(os.path.join(directory, name), 12345, 12345)
        event = self.status("all", requirements=self.path("one.txt"))
        self.assertIn("the user 12345, who owns", event["error"][0])
        self.assertIn("cannot read %s" % self.path("secret"), event["error"][0])
        self.assertNotIn("hash", str(event))
        os.chmod(self.path("secret"), 0o644)
        self.write("secret", b"pip\n")
        self.assertEqual(self.status("all", requirements=self.path("one.txt"))["status"], "stable")

    def test_rules(self) -> None:
        """What cannot be meant is refused, with the property."""
        venv: Any = {"provider": "pip", "environment": "/srv/venv"}
        rows: Any = [
            ({"provider": "pip"}, "environment"),
            ({"environment": "venv"}, "environment"),
            ({"environment": "/srv/../venv"}, "environment"),
            (dict(venv, path="/srv"), "path"),
            (dict(venv, hold=True), "hold"),
            (dict(venv, ensure="1.x"), "ensure"),
            (dict(venv, index_url="example.net"), "index_url"),
            (dict(venv, options=["--target=/x"]), "options"),
            (dict(venv, options=["--no-deps --user"]), "options"),
            (dict(venv, options=["other"]), "options"),
            (dict(venv, options=["--targ=/x"]), "options"),
            (dict(venv, options=["-r/x"]), "options"),
            (dict(venv, options=["-Uq"]), "options"),
            (dict(venv, package="a/b"), "package"),
            (dict(venv, requirements="x\n\n", ensure="1.0"), "requirements"),
            (dict(venv, requirements="x\n\n", package="x"), "package"),
            (dict(venv, require_hashes=True), "require_hashes"),
            ({"owner": "app"}, "owner"),
            ({"provider": "npm"}, "path"),
            ({"provider": "npm", "path": "/srv", "global": True}, "path"),
            ({"global": True, "ci": True}, "ci"),
            ({"path": "/srv", "options": ["--prefix=/x"]}, "options"),
            ({"path": "/srv", "options": ["--pref=/x"]}, "options"),
            ({"path": "/srv", "ensure": "1.x"}, "ensure"),
            ({"global": True, "owner": "app"}, "owner"),
            ({"provider": "apt", "environment": "/srv/venv"}, "environment"),
        ]
        for properties, key in rows:
            wrong = Resource.check("x", properties)
            self.assertIn(key, [found for found, _ in wrong], properties)
        for name in ("-x", "a b", "x==1", "@team/x", "x[y]"):
            self.assertEqual([key for key, _ in Resource.check(name, venv)], ["name"], name)
        self.assertEqual(
            Resource.check("@team/x", {"path": "/srv/app", "ensure": "v1.0.0-rc.1"}), []
        )
        plain = dict(venv, options=["--pre", "--no-deps", "--require-virtualenv", "-q"])
        self.assertEqual(Resource.check("x", plain), [])


class Answers(unittest.TestCase):
    def test_an_older_pip(self) -> None:
        """The versions that an error lists are those of the index."""
        said = (
            "ERROR: Could not find a version that satisfies x==9 (from versions: 1.0, 1.2, 2.0b1)"
        )
        found = pip_calls.answer(Result(1, "", said + "\nERROR: No matching distribution found"))
        self.assertEqual((found.candidate, list(found.versions)), ("1.2", ["2.0b1", "1.2", "1.0"]))

    def test_an_index_that_does_not_answer(self) -> None:
        """A package that is missing is told from an index that is."""
        lost = Result(
            1, "", "WARNING: Retrying (Retry(total=0\nERROR: No matching distribution found"
        )
        self.assertTrue(pip_calls.is_lost(lost))
        gone = "Could not fetch URL https://x/y/: 404 Client Error: Not Found - skipping"
        missing = Result(1, "", gone + "\nERROR: No matching distribution found")
        self.assertFalse(pip_calls.is_lost(missing))
        self.assertFalse(pip_calls.answer(missing).known)
        with self.assertRaises(ValueError):
            pip_calls.answer(Result(1, "", "Traceback"))

    def test_failures(self) -> None:
        """An error of pip has its hint."""
        rows = [
            ("error: externally-managed-environment", "virtual environment"),
            ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "hash"),
            ("No module named pip", "ensurepip"),
            ("ERROR: No matching distribution found", "index_url"),
        ]
        for said, hint in rows:
            self.assertIn(hint, pip_calls.failure("installing x", Result(1, "", said)).hint)


@unittest.skipUnless(sys.version_info >= (3, 9), "one Python is enough for the pip of the system")
class Owners(unittest.TestCase):
    def test_a_directory_gives_its_group_to_nobody(self) -> None:
        """The owner runs programs with their own groups, as after chown USER DIRECTORY."""
        import pwd

        nobody = pwd.getpwnam("nobody")
        groups = [Place("/x", nobody.pw_uid, gid, True).identity()[1] for gid in (nobody[3], 0)]
        self.assertEqual(groups, [str(nobody.pw_gid), None])
        self.assertEqual(Place("/x", 4711, 0, True).identity(), ("4711", None))  # has no entry


class RealPip(DirectoryTest):
    """The pip that comes with Python, and an index that is a directory."""

    def setUp(self) -> None:
        super().setUp()
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="ccm-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.root, True)
        os.mkdir(self.path("wheels"))
        for version in ("1.0", "1.1", "2.0rc1"):
            wheel(self.path("wheels"), "My-App", version, ["helper>=1"])
        wheel(self.path("wheels"), "helper", "1.5")
        self.sha = wheel(self.path("wheels"), "other", "3.0")
        self.given = {
            "environment": self.path("venv"),
            "python": sys.executable,
            "options": ["--no-index", "--find-links=" + self.path("wheels")],
        }

    @pytest.mark.long  # tests/push/test_package_environments.py holds it on a host
    def test_from_nothing_to_nothing(self) -> None:
        """An environment is made, filled, found, changed and emptied, each as foretold."""
        first = (("my_app", dict(self.given, ensure="1.0")), ("helper", self.given))
        previews = events_of(*first, noop=True)
        self.assertEqual([event["prediction"] for event in previews], ["certain", "certain"])
        self.assertEqual(previews[1]["status"], "stable")  # the first brings it along
        self.assertFalse(os.path.exists(self.path("venv")))
        done = events_of(*first)
        self.assertEqual([event["status"] for event in done], ["changed", "stable"])
        self.assertEqual(done[0]["changes"], previews[0]["changes"])
        shown = subprocess.check_output([self.path("venv", "bin", "pip"), "list"])
        self.assertIn(b"helper 1.5", b" ".join(shown.split()))

        newer = ("My.App", dict(self.given, ensure="latest"))
        pinned = "other==3.0 \\\n  --hash=sha256:%s\n" % self.sha
        rest = ("all", dict(self.given, requirements=pinned, require_hashes=True))
        previews = events_of(newer, rest, noop=True)
        done = events_of(newer, rest)
        self.assertEqual([event["final_ensure"] for event in done], ["1.1", "present"])
        for preview, event in zip(previews, done):
            self.assertEqual((preview["prediction"], event["error"]), ("certain", []))
            self.assertEqual(preview["changes"], event["changes"])
        gone = ("other", dict(self.given, ensure="absent"))
        previews = events_of(gone, ("helper", dict(self.given, ensure="latest")), noop=True)
        self.assertEqual([event["prediction"] for event in previews], ["certain", "certain"])
        self.assertEqual(one(events_of(gone))["status"], "changed")

        lacking = events_of(("nope", self.given), ("my-app", dict(self.given, ensure="7")))
        self.assertIn("the index has no package nope", lacking[0]["error"][0])
        self.assertIn("available: 2.0rc1, 1.1, 1.0", lacking[1]["error"][0])
        wrong = pinned.replace(self.sha, "0" * 64)
        event = one(events_of(("all", dict(self.given, requirements=wrong))))
        self.assertIn("the file in the index does not match", event["error"][0])

    def test_what_was_withdrawn(self) -> None:
        """The latest version is one that its index has not withdrawn."""
        simple = self.path("simple", "my-app")
        os.makedirs(simple)
        links = ""
        for version in ("1.0", "1.1", "1.2"):
            wheel(simple, "My-App", version)
            yanked = 'data-yanked="broken"' if version == "1.2" else ""
            file = "My_App-%s-py3-none-any.whl" % version
            links += '<a href="%s" %s>%s</a>\n' % (file, yanked, file)
        self.write("simple/my-app/index.html", ("<!DOCTYPE html>\n" + links).encode())
        index = "file://" + self.path("simple")
        given = dict(self.given, options=[], index_url=index, ensure="latest")
        for noop in (True, False):
            event = one(events_of(("my-app", given), noop=noop))
            self.assertEqual((event["error"], event["changes"][0]["to"]), ([], "1.1"))

    def test_a_python_without_venv(self) -> None:
        """A Python that cannot make environments is told before, with the package to install."""
        script = b"#!/bin/sh\necho /nonexistent\n"
        given = dict(self.given, python=self.write("python3", script, 0o755))
        for noop in (True, False):
            event = one(events_of(("my-app", given), noop=noop))
            self.assertIn("python3-venv", event["error"][0])

    def test_no_place(self) -> None:
        """An environment without a parent directory is refused in a preview, too."""
        given = dict(self.given, environment=self.path("no", "venv"))
        for noop in (True, False):
            event = one(events_of(("other", given), noop=noop))
            expect_text(event["error"][0], self)


class Calls(unittest.TestCase):
    def test_addresses_are_no_arguments(self) -> None:
        """An address of an index, which may hold a password, is in the environment only."""
        self.assertEqual(pip_calls.environment("https://x/")["PIP_INDEX_URL"], "https://x/")
        self.assertNotIn("PIP_INDEX_URL", pip_calls.environment(""))
        self.assertNotIn("--index-url", pip_calls.question("x", ["--index-url=https://x/"]))


if __name__ == "__main__":
    unittest.main()
