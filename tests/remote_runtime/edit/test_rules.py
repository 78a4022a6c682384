import unittest
from typing import Any, List

from remote_runtime.resources.edit.resource import Resource

BLOCK = {"block": "a"}


def told(path: str = "/etc/a", **properties: Any) -> List[str]:
    return ["%s: %s" % pair for pair in Resource.check(path, properties)]


class RulesTest(unittest.TestCase):
    def test_what_fits(self) -> None:
        """Every kind of edit, alone and among others."""
        for properties in (
            {"line": "a"},
            {"line": "a", "match": "^b", "after": "^c"},
            {"line": "a", "before": "BOF", "validate": "test -s {}"},
            {"ensure": "absent", "match": "^a"},
            {"ensure": "absent", "block": ""},
            {"block": "a\nb", "marker": "\t<!-- {mark} -->"},
            {"settings": {"a": 1, "b": {"c": None, "d": [1, "2"]}}},
            {"settings": {"Port": 1, "Match User x": {"Port": 2}}, "format": "ssh"},
            {"settings": {"a b": "c d"}},
            {"match": "(a)", "replace": r"\1"},
            {"edits": [{"line": "a"}, {"line": "b", "ensure": "absent"}, {"settings": {"c": 1}}]},
        ):
            self.assertEqual(told(**properties), [], properties)

    def test_bad_input(self) -> None:
        """Each mistake is told with its property."""
        for properties, expected in (
            ({}, ": set one of line, block, settings, replace or edits"),
            ({"match": "a"}, ": set one of line, block"),
            ({"line": "a", **BLOCK}, "block: line and block cannot be combined; use edits"),
            ({"line": "a\nb"}, "line: a line must not contain a line break; use block"),
            ({"line": "a\r"}, "line: a line must not contain a line break"),
            ({"line": "a\0"}, "line: it contains a NUL character"),
            ({"line": "a", "match": "("}, "match: '(' is not a regular expression"),
            ({"line": "a", "match": "(?=a)"}, "match: '(?=a)': it has look-around, which ccm"),
            ({"line": "a", "match": r"(a)\1"}, "it has back-references, which ccm"),
            ({"line": "a", "match": "^a\n"}, "so a line break never matches"),
            ({"line": "a", "match": "a{2000}"}, "the pattern is too large"),
            ({"line": "a", "after": "b", "before": "c"}, "before: after and before are mutually"),
            ({"line": "a", "marker": "# {mark}"}, "marker: it has no effect with line"),
            ({"line": "a", "validate": "true"}, "validate: it must contain {}"),
            ({"line": "a", "validate": "'"}, "validate: "),
            ({"block": "a", "match": "b"}, "match: it has no effect with block"),
            ({"block": "\n"}, "block: it is empty; use ensure: absent"),
            ({"block": "a", "marker": "# x"}, "marker: it must contain {mark}"),
            ({"block": "a", "marker": "{mark}"}, "marker: it must contain {mark} and other text"),
            ({"block": "a\n# END managed by ccm"}, "block: it contains a line that is one of its"),
            ({"settings": {}}, "settings: it is empty"),
            ({"settings": {"a=b": 1}}, "settings: 'a=b' is not a key of the format 'ini'"),
            ({"settings": {"#a": 1}}, "settings: '#a' is not a key"),
            ({"settings": {"a": "b\nc"}}, "settings: a: a value must not contain a line break"),
            ({"settings": {"a": " b"}}, "settings: a: the value begins or ends with whitespace"),
            ({"settings": {"a]": {"b": 1}}}, "settings: 'a]' is not a valid section name"),
            (
                {"settings": {"a": {"b": 1}}, "format": "key=value"},
                "settings: a: the format 'key=value' has no sections",
            ),
            ({"settings": {"a b": 1}, "format": "key value"}, "settings: 'a b' is not a key"),
            ({"settings": {"User": {"b": 1}}, "format": "ssh"}, "'User' is not a valid section"),
            ({"replace": "a"}, "replace: it requires match"),
            (
                {"replace": "a", "match": "b", "ensure": "absent"},
                "ensure: replace does not support",
            ),
            ({"replace": r"\2", "match": "(b)"}, "replace: the pattern has no group 2"),
            ({"replace": "\\", "match": "b"}, "replace: write a backslash as \\\\"),
            (
                {"replace": "a\nb", "match": "b"},
                "replace: a replacement must not contain a line break",
            ),
            (
                {"edits": [{"line": "a"}], "match": "b"},
                "match: match belongs in the entries of edits",
            ),
            ({"edits": [{"line": "a"}], "ensure": "absent"}, "ensure: write ensure: absent in the"),
            ({"edits": [{"line": "a"}, {}]}, "edits: entry 2: set one of line, block"),
            ({"edits": [{"line": "a", "match": "["}]}, "edits: entry 1: match: '[' is not a"),
        ):
            found = told(**properties)
            self.assertIn(expected, "\n".join(found), properties)
        self.assertIn("name: the path must be absolute", told("etc/a", line="a"))

    def test_doubts(self) -> None:
        """What is allowed and hardly meant."""
        for path, properties, expected in (
            ("/a", {"line": "Foo", "match": "^#Foo"}, ["match"]),
            ("/a", {"line": "Foo", "match": "^#?Foo"}, []),
            ("/a", {"match": "a", "replace": "aa"}, ["match"]),
            ("/a", {"match": "a", "replace": "a"}, []),
            ("/a", {"edits": [{"line": "Foo", "match": "x"}]}, ["edits"]),
            ("/etc/ssh/sshd_config", {"settings": {"a": 1}}, ["settings"]),
            ("/etc/ssh/sshd_config", {"settings": {"a": 1}, "format": "ssh"}, []),
            ("/a", {"ensure": "absent", "line": "a", "match": "b"}, []),
        ):
            self.assertEqual([key for key, _, _ in Resource.warnings(path, properties)], expected)


if __name__ == "__main__":
    unittest.main()
