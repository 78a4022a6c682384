"""JSON without importing ``json``."""

import json
import os
import subprocess
import sys
import unittest

from remote_runtime.stdlib_light import json_text

VALUES = [
    None,
    True,
    0,
    -12345678901234567890,
    1.5,
    1e300,
    float("inf"),
    "",
    'text with " and \\ and \n and \x00',
    "ä€\U0001f600",
    "\udcff",
    [],
    {},
    [1, [2, {"a": [None, False]}]],
    {"k": {"k": ("tuple", 1)}, "": 2},
]


class TestJson(unittest.TestCase):
    def test_writes_what_json_writes(self) -> None:
        """Every kind of value becomes the text that ``json`` makes without blanks."""
        for value in VALUES:
            with self.subTest(value=value):
                self.assertEqual(json_text.dumps(value), json.dumps(value, separators=(",", ":")))

    def test_reads_what_json_reads(self) -> None:
        """Every text of ``json``, with blanks or without, becomes the same value."""
        for value in VALUES:
            for text in (json.dumps(value), " \n" + json.dumps(value, indent=2) + "\t\r\n"):
                with self.subTest(text=text):
                    self.assertEqual(json_text.loads(text), json.loads(text))
        self.assertNotEqual(json_text.loads("NaN"), json_text.loads("NaN"))
        self.assertEqual(json_text.loads("-Infinity"), float("-inf"))

    def test_refuses_what_json_refuses(self) -> None:
        """A text that is no JSON value, or more than one, is a ``ValueError``."""
        for text in (
            "",
            " ",
            "{",
            "[1,]",
            "nul",
            '"\n"',
            "1 2",
            "{} x",
            "{1:2}",
            '"\\x"',
            "\ufeff1",
        ):
            with self.subTest(text=text):
                with self.assertRaises(ValueError):
                    json.loads(text)
                with self.assertRaises(ValueError):
                    json_text.loads(text)

    def test_refuses_it_without_json(self) -> None:
        """The same ``ValueError`` comes where nobody has imported ``json``."""
        program = (
            "import sys; sys.path.insert(0, %r)\n"
            "from remote_runtime.stdlib_light.json_text import loads\n"
            "for text in ('{', '[1,', '{1:2}', '\"x'):\n"
            "    try:\n"
            "        loads(text)\n"
            "    except ValueError:\n"
            "        continue\n"
            "    print(text)\n"
        ) % os.getcwd()
        command = [sys.executable, "-S", "-I", "-c", program]
        self.assertEqual(subprocess.check_output(command, stderr=subprocess.STDOUT), b"")

    def test_does_not_go_deeper_than_the_stack(self) -> None:
        """Nesting beyond bounds is an error that the caller can tell."""
        with self.assertRaises(RecursionError):
            json_text.loads("[" * 500000)

    def test_refuses_what_is_no_json(self) -> None:
        """A value that JSON has no form for is a ``TypeError`` that names its type."""
        with self.assertRaisesRegex(TypeError, "bytes"):
            json_text.dumps({"a": b""})


if __name__ == "__main__":
    unittest.main()
