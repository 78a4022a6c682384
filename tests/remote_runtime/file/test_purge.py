import os
import unittest
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.host.host_reader import reader
from remote_runtime.registry import resource_class
from remote_runtime.resources.file import purge
from remote_runtime.resources.file.resource import Resource
from remote_runtime.resources.file.resource_paths import Others
from tests.remote_runtime.fakes import DirectoryTest, close, context, item, one, run_items
from tests.texts import expect_text


class PurgeTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.path("d"))

    def fill(self, *names: str) -> None:
        for name in names:
            os.makedirs(os.path.dirname(self.path("d", name)), exist_ok=True)
            self.write("d/" + name, b"x")

    def left(self) -> List[str]:
        found = []
        for directory, directories, names in os.walk(self.path("d")):
            inside = os.path.relpath(directory, self.path("d"))
            found += [os.path.normpath(os.path.join(inside, one)) for one in directories + names]
        return sorted(found)

    def apply(self, *more: Any, noop: bool = False, **properties: Any) -> Dict[str, Any]:
        given = {"ensure": "directory", "mode": "0755", "purge": True, **properties}
        return run_items([self.file("d", **given), *more], noop=noop)[0]

    def both(self, *more: Any, **properties: Any) -> List[str]:
        """What a push removed: the preview told each of them."""
        preview = self.apply(*more, noop=True, **properties)
        event = self.apply(*more, **properties)
        self.assertEqual(event["error"], [])
        self.assertEqual(preview["changes"], event["changes"])
        self.assertEqual(self.apply(*more, **properties)["status"], "stable")
        gone = [change["what"] for change in event["changes"] if change["to"] == "absent"]
        return sorted(os.path.relpath(path, self.path("d")) for path in gone)

    def test_what_no_resource_names_goes(self) -> None:
        """Files and whole directories, each with its record."""
        self.fill("managed", "other", "sub/a", "sub/deep/b")
        os.symlink("/etc/passwd", self.path("d", "link"))
        gone = self.both(self.file("d/managed", 1, content="x"))
        self.assertEqual(gone, ["link", "other", "sub", "sub/a", "sub/deep", "sub/deep/b"])
        self.assertEqual(self.left(), ["managed"])
        self.assertTrue(os.path.exists("/etc/passwd"))

    def test_later_resources_count(self) -> None:
        """With the directories above them, whether they are there yet or not."""
        self.fill("conf/other")
        gone = self.both(self.file("d/conf/mine", 1, content="x"))
        self.assertEqual((gone, self.left()), (["conf/other"], ["conf", "conf/mine"]))

    def test_a_directory_of_another_resource_is_its_own(self) -> None:
        """Nothing in it goes, unless that resource purges as well."""
        self.fill("sub/a", "b")
        self.assertEqual(self.both(self.file("d/sub", 1, ensure="directory", mode="0755")), ["b"])

    def test_all_that_a_resource_names(self) -> None:
        """Of every type, in every property, and what is in a tree."""
        self.fill("stamp", "unpacked/a", "tree/b", "tree/other", "gone", "extra")
        source = {"$tree": "t", "files": [{"path": "b"}], "directories": []}
        self.both(
            item("exec", "true", 1, properties={"creates": self.path("d", "stamp")}, managed=False),
            item("archive", self.path("x.tgz"), 2, managed=False)._replace(
                properties={"extract_parent": self.path("d", "unpacked")}
            ),
            item(
                "scaffold",
                self.path("d", "tree"),
                3,
                properties={"source": source},
                left_out="tags",
            ),
            self.file("d/gone", 4, ensure="absent"),
        )
        self.assertEqual(
            self.left(), ["stamp", "tree", "tree/b", "tree/other", "unpacked", "unpacked/a"]
        )

    def test_files_that_are_not_named_by_their_resource(self) -> None:
        """Other types say which they make."""
        for kind, name, properties, path in (
            ("repository", "docker", {"suites": ["a"]}, "/etc/apt/sources.list.d/docker.sources"),
            ("sysctl", "vm.swappiness", {"value": 1}, "/etc/sysctl.d/99-ccm.conf"),
            ("module", "dummy", {}, "/etc/modules-load.d/ccm-dummy.conf"),
        ):
            other = item(kind, name, properties=properties)
            top, inside = os.path.split(path)
            ctx = context([other])
            self.assertIn(inside, Others(reader(ctx, ctx), top, top).named)
            close(ctx)
            absent = resource_class(kind).managed_paths(name, {"ensure": "absent"})
            self.assertEqual([claim for claim in absent if claim[1]], [])

    def test_keys_of_repositories(self) -> None:
        """The key that a repository writes stays, in whichever form."""
        given = {"suites": ["a"], "key": "https://example.net/key", "fingerprint": "0"}
        other = item("repository", "docker", properties=given)
        ctx = context([other])
        named = Others(reader(ctx, ctx), "/etc/apt/keyrings", "/etc/apt/keyrings").named
        self.assertEqual(named, {"docker.asc", "docker.gpg"})
        close(ctx)

    def test_what_a_scaffold_of_the_same_directory_has(self) -> None:
        """Its files stay, others go."""
        self.fill("a/b", "a/other")
        source = {"$tree": "t", "files": [{"path": "a/b"}], "directories": []}
        scaffold = item(
            "scaffold", self.path("d"), 1, properties={"source": source}, left_out="tags"
        )
        self.assertEqual(self.both(scaffold), ["a/other"])

    def test_resources_of_children_count(self) -> None:
        """Also those of a child manifest."""
        self.fill("a", "b")
        child = self.file("d/a", 2, content="x")
        self.assertEqual(
            self.both(item("apply", "c.yaml", 1, applies="c.yaml", children=(child,))), ["b"]
        )

    def test_a_path_through_a_link(self) -> None:
        """A resource may name the same file by another way."""
        self.fill("a", "b")
        os.symlink("d", self.path("way"))
        self.assertEqual(self.both(self.file("way/a", 1, content="x")), ["b"])

    def test_a_link_within_the_directory(self) -> None:
        """What a resource manages through it stays, and so does the link."""
        self.fill("real/a", "real/b", "x")
        os.symlink("real", self.path("d", "way"))
        self.assertEqual(self.both(self.file("d/way/a", 1, content="x")), ["real/b", "x"])
        self.assertEqual(self.left(), ["real", "real/a", "way"])

    def test_a_link_that_a_resource_follows(self) -> None:
        """Its end stays, whether the link is in the directory or not."""
        self.fill("a", "sub/b", "x")
        os.symlink("d/a", self.path("one"))
        os.symlink("sub", self.path("d", "two"))
        edit = item("edit", self.path("one"), 1, managed=False)
        directory = self.file("d/two", 2, ensure="directory", mode="0755")
        self.assertEqual(self.both(edit, directory), ["x"])
        self.assertEqual(self.left(), ["a", "sub", "sub/b", "two"])

    def test_a_chain_of_links(self) -> None:
        """Each link stays that leads to what a resource manages, and others go."""
        self.fill("real/a", "x")
        for link, target in (("one", "two"), ("two", "./three"), ("three", "real"), ("lost", "x")):
            os.symlink(target, self.path("d", link))
        os.symlink("d/one", self.path("way"))
        self.assertEqual(self.both(self.file("way/a", 1, content="x")), ["lost", "x"])
        self.assertEqual(self.left(), ["one", "real", "real/a", "three", "two"])

    def test_a_relative_target_of_a_link(self) -> None:
        """It counts from the directory of the link."""
        self.fill("releases/1", "x")
        link = item("link", self.path("d", "now"), 1, properties={"target": "releases/1"})
        gone = self.both(link)
        self.assertEqual(gone, ["x"])
        self.assertEqual(self.left(), ["now", "releases", "releases/1"])

    def test_a_scaffold_whose_files_are_not_known(self) -> None:
        """One that control leaves out has no tree: nothing goes from its directory, nor below."""
        self.fill("sub/a", "b")
        for name in (self.path("d"), self.root):
            for properties in ({}, {"source": "templates"}):
                left_out = item("scaffold", name, 1, properties=properties, managed=False)
                for noop in (True, False):
                    error = self.apply(left_out, noop=noop)["error"][0]
                    self.assertIn("does not contain the files of scaffold#" + name, error)
        self.assertEqual(self.left(), ["b", "sub", "sub/a"])
        gone = item("scaffold", self.path("d"), 1, properties={"ensure": "absent"}, managed=False)
        below = item("scaffold", self.path("d", "sub"), 2, managed=False)
        self.assertEqual(self.both(gone, below), ["b"])

    def test_keep(self) -> None:
        """Names at any depth, and paths; what is above them stays."""
        self.fill("a.local", "sub/b.local", "sub/c", "x/y/z", "x/other", ".hidden")
        gone = self.both(keep=["*.local", "x/y"])
        self.assertEqual(gone, [".hidden", "sub/c", "x/other"])
        self.assertEqual(self.both(keep=["*"]), [])

    def test_backups_of_other_resources_stay(self) -> None:
        """Of files that are managed with a backup, no others."""
        self.fill("a", ".a.~1~", ".a.~20261129043811~", ".b.~1~")
        gone = self.both(self.file("d/a", 1, content="x", backup=True))
        self.assertEqual(gone, [".b.~1~"])

    def test_odd_names(self) -> None:
        """Bytes that are no text."""
        with open(os.path.join(os.fsencode(self.path("d")), b"caf\xe9"), "wb"):
            pass
        self.assertIn("caf\\xe9", self.both()[0])

    def test_too_many(self) -> None:
        """Then nothing is removed."""
        self.fill("a", "b", "c")
        with mock.patch.object(purge, "MAX_PATHS", 2):
            for noop in (True, False):
                expect_text(self.apply(noop=noop)["error"][0], self)
        self.assertEqual(self.left(), ["a", "b", "c"])

    def test_directories_of_the_system(self) -> None:
        """They are refused, whatever way leads there."""
        base = {"ensure": "directory", "owner": "root", "group": "root", "mode": "0755"}
        for path in ("/", "/etc", "/usr/bin", "/var/lib", "/srv", "/proc/sys", "/home"):
            (found,) = Resource.check(path, {**base, "purge": True})
            self.assertEqual(found, ("purge", "purge is not allowed for a system directory"))
        for path in (
            "/etc/systemd/system",
            "/etc/apt/keyrings",
            "/etc/network",
            "/etc/netplan",
            "/etc/ssl/private",
            "/boot/grub",
            "/usr/lib/modules",
            "/usr/share/doc/x",
            "/usr/local/etc",
            "/lib64/security",
            "/var/lib/dpkg/info",
            "/var/spool/cron/crontabs",
        ):
            self.assertEqual(len(Resource.check(path, {**base, "purge": True})), 1, path)
            self.assertEqual(len(Resource.check(path, {**base, "recurse": True})), 0, path)
        for path in ("/usr/local/etc/app", "/etc/apt/sources.list.d", "/libx", "/srv/usr/x"):
            self.assertEqual(Resource.check(path, {**base, "purge": True}), [], path)
        self.assertEqual(Resource.check("/srv", {**base, "recurse": True}), [])
        self.assertEqual(
            [key for key, _ in Resource.check("/usr", {**base, "recurse": True})], ["recurse"]
        )
        os.symlink("/etc", self.path("way"))
        given: Dict[str, Any] = {"ensure": "directory", "mode": "0755", "purge": True}
        for noop in (True, False):
            event = one(run_items([self.file("way", **given)], noop=noop))
            expect_text(event["error"][0], self)

    def test_with_recurse(self) -> None:
        """What goes needs no attributes."""
        self.fill("managed", "other")
        os.chmod(self.path("d", "other"), 0o600)
        gone = self.both(self.file("d/managed", 1, content="x"), recurse=True, file_mode="0644")
        self.assertEqual(gone, ["other"])


if __name__ == "__main__":
    unittest.main()
