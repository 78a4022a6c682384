import random
import re
import unittest
from typing import Any, List, Optional, Tuple

from remote_runtime.text.linear_regex import MAX_INSTRUCTIONS, Pattern, Template

_ATOMS = "a b c A _ \\. . [ab] [^a] \\w \\d \\s \\b ^ $ [a-c1] 1 \\W \u00e9".split() + [" "]
_REPEATS = ("", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?")
_CASES = 2000


class _Draw(object):
    """Draws patterns of which Python's engine and ours have the same meaning: nothing is repeated
    that may be empty."""

    def __init__(self, seed: int) -> None:
        self._pick = random.Random(seed)

    def pattern(self, depth: int = 2) -> str:
        parts = [self._sequence(depth) for _ in range(self._pick.choice((1, 1, 1, 2, 3)))]
        return "|".join(parts)

    def line(self) -> str:
        return "".join(self._pick.choice("abcA1_ .\u00e9") for _ in range(self._pick.randint(0, 9)))

    def _sequence(self, depth: int) -> str:
        return "".join(self._repeated(depth) for _ in range(self._pick.randint(1, 4)))

    def _repeated(self, depth: int) -> str:
        if depth and self._pick.random() < 0.25:
            inner = self.pattern(depth - 1)
            group = self._pick.choice(("(%s)", "(?:%s)", "(?i:%s)")) % inner
            may_be_empty = re.compile(group).fullmatch("") or "^" in inner or "$" in inner
            return group if may_be_empty or "\\b" in inner else group + self._repeat()
        atom = self._pick.choice(_ATOMS)
        return atom if atom in ("^", "$", "\\b") else atom + self._repeat()

    def _repeat(self) -> str:
        return self._pick.choice(_REPEATS)


def spans(found: Any) -> Optional[Tuple[int, ...]]:
    groups = range(found.re.groups + 1) if found is not None else ()
    return None if found is None else tuple(at for number in groups for at in found.span(number))


class PatternTest(unittest.TestCase):
    def test_as_python_finds_it(self) -> None:
        """Random patterns match what Python's engine matches, with the same groups."""
        draw = _Draw(1)
        different: List[Any] = []
        for _ in range(_CASES):
            text = draw.pattern()
            expected, pattern = re.compile(text), Pattern(text)
            for line in (draw.line(), draw.line(), draw.line()):
                wanted = spans(expected.search(line))
                found = pattern.search(line)
                if (None if found is None else found.spans) != wanted:
                    different.append((text, line, wanted, found))
                if pattern.matches(line) != (wanted is not None):
                    different.append((text, line, "matches"))
        self.assertEqual(different, [])

    def test_linear_time(self) -> None:
        """What makes other engines run for years ends at once."""
        line = "a" * 20000
        for text in ("(a*)*b", "(a|a)*b", "(a+)+$b", "^(a|aa)+b$", "a?" * 30 + "a" * 30 + "b"):
            self.assertFalse(Pattern(text).matches(line))

    def test_ends_of_a_line(self) -> None:
        """A line has no line break, so both anchors are its ends."""
        for text, line, expected in (
            ("^a$", "a", True),
            (r"\Aa\Z", "a", True),
            ("^$", "", True),
            ("(?i)^FOO", "foo", True),
            (r"(?a)\w", "\u00e9", False),
            (r"\w", "\u00e9", True),
            (r"[^\n]", "a", True),
            ("(?i)[^a]", "A", False),
            ("a", "\udcff", False),
        ):
            self.assertEqual(Pattern(text).matches(line), expected, text)

    def test_refused(self) -> None:
        """What needs backtracking, what can never match, and what is too large."""
        for text, expected in (
            ("(", "is not a regular expression"),
            ("(?=a)", "look-around"),
            ("(?<!a)b", "look-around"),
            (r"(a)\1", "back-references"),
            ("(a)?(?(1)b|c)", "conditional groups"),
            ("a\n", "a line break never matches"),
            ("(a{50}){50}", "too large"),
            ("a{%d}" % MAX_INSTRUCTIONS, "too large"),
        ):
            with self.assertRaises(ValueError) as caught:
                Pattern(text)
            self.assertIn(expected, str(caught.exception))


class TemplateTest(unittest.TestCase):
    def test_replaced(self) -> None:
        """As Python replaces, also with what is empty."""
        for text, template, line, wanted in (
            ("a(b)?", r"<\1>", "ab a b", "<b> <> b"),
            ("(?P<x>a)", r"\g<x>\g<0>\g<1>\\\t", "bab", "baaa\\\tb"),
            ("x*", "-", "abxd", "-a-b--d-"),
            ("^", "# ", "a", "# a"),
            ("$", ";", "a", "a;"),
            (r"\b", "|", "a b", "|a| |b|"),
            ("a", r"\\1", "a", r"\1"),
        ):
            pattern = Pattern(text)
            self.assertEqual(pattern.replaced(line, Template(template, pattern)), wanted, text)

    def test_mistakes(self) -> None:
        """A group that the pattern does not have, and a lone backslash."""
        pattern = Pattern("(a)(?P<x>b)")
        for text, expected in (
            (r"\3", "the pattern has no group 3"),
            (r"\g<y>", "the pattern has no group y"),
            ("a\\", "write a backslash as"),
            (r"\n", "write a backslash as"),
        ):
            with self.assertRaises(ValueError) as caught:
                Template(text, pattern)
            self.assertIn(expected, str(caught.exception))
        self.assertTrue(Template("a", pattern).is_plain)
        self.assertFalse(Template(r"\2", pattern).is_plain)


if __name__ == "__main__":
    unittest.main()
