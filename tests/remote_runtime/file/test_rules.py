import unittest

from remote_runtime.resources.file.resource import Resource


class RulesTest(unittest.TestCase):
    def test_control_characters(self) -> None:
        """A path with control characters is refused: it would act on a terminal."""
        for name in ("/a\0b", "/a\nb", "/a\x1b[31m", "/a\x7f"):
            (found,) = Resource.check(name, {"ensure": "absent"})
            self.assertEqual(found, ("name", "the path contains a control character"))

    def test_good(self) -> None:
        """What is right has no problem."""
        properties = {"content": "x", "owner": "root", "group": "root", "mode": "0644"}
        self.assertEqual(Resource.check("/etc/motd", properties), [])
        self.assertEqual(Resource.check("/tmp", {"ensure": "absent", "force": True}), [])

    def test_problems(self) -> None:
        """Each broken rule is told with its property."""
        for name, properties, where in (
            ("etc/x", {}, "name"),
            ("/etc/../x", {}, "name"),
            ("/etc//x", {}, "name"),
            ("/etc/x/", {}, "name"),
            ("//etc", {}, "name"),
            ("/", {"ensure": "absent", "force": True}, "name"),
            ("/x", {"content": "a", "source": "b"}, "source"),
            ("/x", {"ensure": "directory", "content": "a"}, "content"),
            ("/x", {"force": True}, "force"),
            ("/x", {"mode": "0888"}, "mode"),
            ("/x", {"content": "a", "validate": "check"}, "validate"),
            ("/x", {"content": "a", "validate": "check '{}"}, "validate"),
            ("/x", {"validate": "check {}"}, "validate"),
            ("/x", {"ensure": "directory", "backup": True}, "backup"),
            ("/x", {"ensure": "directory", "replace": False}, "replace"),
            ("/x", {"recurse": True}, "recurse"),
            ("/x", {"purge": True}, "purge"),
            ("/x", {"ensure": "directory", "dir_mode": "0755"}, "dir_mode"),
            ("/x", {"ensure": "directory", "file_mode": "0644"}, "file_mode"),
            ("/x", {"ensure": "directory", "recurse": True, "file_mode": "9"}, "file_mode"),
            ("/x", {"ensure": "directory", "keep": ["a"]}, "keep"),
            ("/x", {"ensure": "directory", "purge": True, "keep": ["../a"]}, "keep"),
            ("/etc", {"ensure": "directory", "recurse": True}, "recurse"),
        ):
            found = Resource.check(name, dict(properties))
            self.assertEqual([key for key, _ in found], [where], (name, properties))
