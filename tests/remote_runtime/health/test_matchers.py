import unittest
from typing import Any, List, Tuple

from remote_runtime.health import matchers, semver
from remote_runtime.health.go_regex import compiled
from remote_runtime.health.matchers import Lines

# expected, found, whether they fit: as goss has it.
TABLE: List[Tuple[Any, Any, bool]] = [
    ("foo", "foo", True), ("foo", "food", False), ("42", 42, True), ("true", True, True),
    (42, 42, True), (42, "42", True), (42.0, 42, True), (42, "x", False), (1, True, False),
    (True, True, True), (True, False, False), (True, "true", False), (False, 0, False),
    ({"equal": "a"}, "a", True), ({"equal": [1, 2]}, [1, 2], True),
    ({"equal": [2, 1]}, [1, 2], False), ({"equal": 1}, True, False),
    ({"have-prefix": "pre"}, "prefix", True), ({"have-prefix": "fix"}, "prefix", False),
    ({"have-prefix": "4"}, 42, True),
    ({"have-suffix": "fix"}, "prefix", True), ({"have-suffix": "pre"}, "prefix", False),
    ({"contain-substring": "efi"}, "prefix", True), ({"contain-substring": "z"}, "prefix", False),
    ({"match-regexp": "^p.*x$"}, "prefix", True), ({"match-regexp": "^r"}, "prefix", False),
    ({"match-regexp": r"\d{2}"}, 42, True), ({"match-regexp": "."}, ["a", "b"], False),
    ({"gt": 40}, "42", True), ({"gt": 42}, 42, False), ({"ge": 42}, 42, True),
    ({"lt": 43}, 42, True), ({"lt": 42}, 42, False), ({"le": 42}, "42", True),
    ({"gt": 1}, "many", False), ({"gt": 0}, True, False),
    (["a"], ["a", "b"], True), (["a", "b"], ["b", "a", "c"], True), (["a", "a"], ["a"], False),
    ([{"have-prefix": "a"}, "ab"], ["ab", "ac"], True), (["z"], ["a"], False), ([], ["a"], True),
    ({"contain-elements": ["a", {"have-prefix": "a"}]}, ["a", "ab"], True),
    ({"contain-elements": ["a", {"have-prefix": "a"}]}, ["a", "b"], False),
    ({"contain-element": {"have-prefix": "b"}}, ["foo", "bar"], True),
    ({"contain-element": "b"}, "a\nb\n", True), ({"contain-element": "b"}, "abc", False),
    ({"consist-of": ["foo", {"have-prefix": "m"}, "bar"]}, ["bar", "moo", "foo"], True),
    ({"consist-of": ["foo"]}, ["foo", "bar"], False), ({"consist-of": [1]}, [1], True),
    ({"have-len": 3}, "abc", True), ({"have-len": 2}, ["a"], False),
    ({"have-len": 1}, {"a": 1}, True), ({"have-len": 1}, 1, False),
    ({"have-key": "a"}, {"a": 1}, True), ({"have-key": {"have-prefix": "b"}}, {"a": 1}, False),
    ({"have-key-with-value": {"a": {"gt": 0}}}, {"a": 1}, True),
    ({"have-key-with-value": {"a": 2}}, {"a": 1}, False),
    ({"have-patterns": ["/^b/", "!z"]}, "a\nb", True), ({"have-patterns": ["z"]}, "a", False),
    ({"not": "a"}, "b", True), ({"not": {"gt": 1}}, 2, False),
    ({"and": [{"gt": 1}, {"lt": 3}]}, 2, True), ({"and": [{"gt": 1}, {"lt": 2}]}, 2, False),
    ({"or": [1, 2]}, 2, True), ({"or": [1, 2]}, 3, False),
    ({"semver-constraint": ">1.0.0 <2.0.0 !=1.5.0"}, ["1.0.1", "1.9.9"], True),
    ({"semver-constraint": ">1.0.0 <2.0.0 !=1.5.0"}, ["1.0.1", "1.5.0"], False),
    ({"semver-constraint": ">5.0.0 || < 1.5.0"}, "1.0.1", True),
    ({"semver-constraint": ">1.0.0"}, ["one"], False), ({"semver-constraint": ">1.0.0"}, [], False),
]  # fmt: skip

LINES = "alpha\nBeta 2\n!bang\n"


class MatchersTest(unittest.TestCase):
    def test_table(self) -> None:
        """Each matcher says yes and no as goss does."""
        for expected, found, fits in TABLE:
            with self.subTest(expected=expected, found=found):
                self.assertIs(matchers.matches(expected, found), fits)

    def test_every_matcher_is_in_the_table(self) -> None:
        """No matcher is without a case."""
        named = {key for expected, _, _ in TABLE if isinstance(expected, dict) for key in expected}
        self.assertEqual(named, set(matchers.MATCHERS))

    def test_patterns(self) -> None:
        """A list held against lines is a list of patterns, each of which needs its line."""
        for pattern, fits in (
            ("alpha", True), ("lph", True), ("gamma", False), ("!gamma", True), ("!alpha", False),
            ("/^[Bb]eta [0-9]$/", True), ("/^eta/", False), ("!/^eta/", True), ("!/alp/", False),
            ("\\!bang", True), ("\\!boom", False), (2, True), (3, False), ("", True),
            ("/ALPHA/", False), ("/(?i)ALPHA/", True), ("/a$/", True), ("/etc/x", False),
        ):  # fmt: skip
            with self.subTest(pattern=pattern):
                self.assertIs(matchers.matches([pattern], Lines(LINES)), fits)
        self.assertTrue(matchers.matches([], Lines("")))
        self.assertTrue(matchers.matches(["!x"], Lines("")))
        self.assertFalse(matchers.matches(["x"], Lines("")))

    def test_a_matcher_sees_the_whole_text(self) -> None:
        """In the place of the list a text or a matcher is held against everything at once."""
        self.assertTrue(matchers.matches(LINES, Lines(LINES)))
        self.assertFalse(matchers.matches("alpha", Lines(LINES)))
        self.assertTrue(matchers.matches({"have-suffix": "bang\n"}, Lines(LINES)))
        self.assertTrue(matchers.matches({"have-len": len(LINES)}, Lines(LINES)))
        self.assertTrue(matchers.matches({"contain-element": "alpha"}, Lines(LINES)))

    def test_words(self) -> None:
        """What did not fit is told with what was expected and what was found."""
        for expected, found, words in (
            (True, False, "expected true, found false"),
            ({"ge": 5}, 3, "expected >= 5, found 3"),
            ({"not": {"have-prefix": "a"}}, "ab", 'expected not have-prefix "a", found "ab"'),
            ({"and": [{"gt": 1}, {"lt": 3}]}, 5, "expected > 1 and < 3, found 5"),
            (["a", "!b"], Lines("b"), 'no line contains "a"; a line contains "b"'),
        ):  # type: Any
            self.assertEqual(matchers.explain(expected, found), words)
        self.assertLess(len(matchers.explain("a", "b" * 10000)), 300)


class RegexTest(unittest.TestCase):
    def test_as_in_go(self) -> None:
        """What Go and Python spell differently means what it means in Go."""
        for pattern, text, found in (
            ("a$", "a\n", False), ("(?m)a$", "a\nb", True), (r"a\z", "a", True),
            (r"\d", "٣", False),
            ("[[:alpha:]]+", "x", True), ("[[:digit:]_]", "x", False), (r"\Qa.b\E", "a.b", True),
            (r"\Qa.b\E", "axb", False), (r"\x{41}", "A", True), (r"\x41", "A", True),
            ("(?i)ab", "AB", True), ("(?i:a)b", "AB", False), ("(?P<n>a)", "a", True),
            ("(?<n>a)", "a", True), ("(?s)a.b", "a\nb", True), ("a.b", "a\nb", False),
            ("[[a]", "[", True), ("[a&&b]", "&", True), ("[]a]", "]", True), (r"[\]a]", "]", True),
            ("a{2}", "aa", True), ("(a|b)*?c", "abc", True), ("[^a]", "a", False),
        ):  # fmt: skip
            with self.subTest(pattern=pattern):
                self.assertIs(compiled(pattern).search(text) is not None, found)

    def test_refused(self) -> None:
        """What only one of the two languages knows is refused."""
        for pattern in (
            "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"(a)\1", r"\pL", r"\C", "(?U)a", "a++", "(?#x)",
            "(?>a)", "[a", "(", "a\\", r"\Z", "(?P=n)", "[[:nope:]]", r"\u0041", r"\xzz",
        ):  # fmt: skip
            with self.subTest(pattern=pattern):
                self.assertRaises(ValueError, compiled, pattern)


class SemverTest(unittest.TestCase):
    def test_constraints(self) -> None:
        """Constraints compare as semantic versioning has it."""
        for constraint, version, good in (
            ("1.2.3", "1.2.3", True), ("=1.2.3", "1.2.4", False), ("==1.2.3", "1.2.3", True),
            ("!1.2.3", "1.2.3", False), (">=1.2.3", "1.2.3-rc.1", False), ("<2", "1.9.9", True),
            (">1.2.3-alpha.2", "1.2.3-alpha.10", True), (">1.2.3-1", "1.2.3-a", True),
            ("1.x", "1.9.0", True), ("1.x", "2.0.0", False), (">=1.2.x", "1.3.0", True),
            ("1.2.3", "v1.2.3+build", True), ("<1.0.0 || >=2.0.0", "1.5.0", False),
            (">= 1.0.0 < 2.0.0", "1.5.0", True), ("*", "7.0.0", True), ("!=1.5.x", "1.5.2", False),
        ):  # fmt: skip
            with self.subTest(constraint=constraint, version=version):
                parsed = semver.parse_constraint(constraint)
                self.assertIs(semver.satisfies(semver.parse_version(version), parsed), good)

    def test_refused(self) -> None:
        """What is no constraint or no version is refused."""
        for constraint in ("", "||", "abc", ">", "1.2.3.4", ">1.0 || "):
            with self.subTest(constraint=constraint):
                self.assertRaises(ValueError, semver.parse_constraint, constraint)
        self.assertRaises(ValueError, semver.parse_version, "1:2.3-4")
