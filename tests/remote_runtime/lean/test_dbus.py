"""Questions to a D-Bus service, on sockets of a service that says what it is told to."""

import os
import tempfile
import unittest
from contextlib import closing
from typing import Any, List
from unittest import mock

from remote_runtime.lean import dbus

from .dbus_service import ANSWER, ERROR, SIGNAL, Body, Service, message

ONE = ("/one", ("org.example.Thing",))
NAMED = ("/one", ("org.example.Other", "Kind"))
ALL = Body().table(
    {
        "Since": ("t", 5),
        "Id": ("s", "one"),
        "Others": ("as", ["two", "three"]),
        "Pairs": ("a(ss)", [("a", "b"), ("c", "d")]),
        "Stale": ("b", True),
        "Load": ("(ss)", ("", "fine")),
        "Last": ("s", "\u00e9"),
    }
)
KIND = Body().variant("s", "simple")
EVERYTHING = {
    "Since": 5,
    "Id": "one",
    "Others": ["two", "three"],
    "Pairs": [["a", "b"], ["c", "d"]],
    "Stale": 1,
    "Load": ["", "fine"],
    "Last": "\u00e9",
}


def asked(address: str, *rounds: Any) -> Any:
    """The answers of each round of questions, which comes with what is wanted of them."""
    with closing(dbus.Service(address)) as service:
        return [service.ask(questions, wanted) for questions, wanted in rounds]


class Asking(unittest.TestCase):
    def ask(self, questions: Any, wanted: List[str], *said: bytes, **how: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            with Service(folder, *said, **how) as service:
                (found,) = asked(service.address, (questions, wanted))
            self.assertTrue(service.heard.startswith(b"\0AUTH EXTERNAL "))
            return found

    def test_answers_in_any_order_and_any_parts(self):
        """Each answer belongs to its question; signals and answers to nobody's are passed over."""
        said = (
            message(SIGNAL, 0, b""),
            message(ANSWER, 2, KIND.data),
            message(ANSWER, 9, KIND.data),
            message(ERROR, 3, Body().value("s", "no such").data),
            message(ANSWER, 1, ALL.data),
        )
        for part in (1, 7, 1 << 20):
            found = self.ask([ONE, NAMED, NAMED], list(EVERYTHING), *said, part=part)
            self.assertEqual(found, [EVERYTHING, {"Kind": "simple"}, None])

    def test_questions_behind_others(self):
        """What is asked later on the same connection has its answers, and no earlier ones."""
        said = (
            message(ANSWER, 1, ALL.data),
            message(ANSWER, 1, ALL.data),
            message(ERROR, 3, Body().value("s", "no such").data),
            message(ANSWER, 2, KIND.data),
        )
        with tempfile.TemporaryDirectory() as folder, Service(folder, *said) as service:
            found = asked(service.address, ([ONE], ["Last"]), ([NAMED, NAMED], []))
        self.assertEqual(found, [[{"Last": EVERYTHING["Last"]}], [{"Kind": "simple"}, None]])

    def test_only_what_is_wanted(self):
        """What is not wanted is gone behind, whatever its type."""
        for wanted in (["Last"], ["Since", "Load"], ["Pairs"], []):
            found = self.ask([ONE], wanted, message(ANSWER, 1, ALL.data))
            self.assertEqual(found, [{name: EVERYTHING[name] for name in wanted}])

    def test_a_text_that_reads_as_a_name(self):
        """A value is no property, wherever it stands and whatever follows it."""
        for size in range(1, 17):
            name = "N" * size
            for others in (["", name], [name, "\1s"], [name] * 9):
                table = {"Told": ("s", name), "Names": ("as", others), "More": ("s", name)}
                last = dict(table, **{name: ("s", "right"), "Last": ("s", name)})
                for said, wanted in ((table, {}), (last, {name: "right"})):
                    answer = message(ANSWER, 1, Body().table(said).data)
                    self.assertEqual(self.ask([ONE], [name], answer), [wanted])

    def test_nobody_who_answers(self):
        """Who refuses, leaves or is not there is an error of the system."""
        for greeting, said in (
            (b"REJECTED EXTERNAL\r\n", b""),
            (b"OK", b""),
            (b"OK 1\r\n", b""),
            (b"OK 1\r\n", message(ANSWER, 1, ALL.data)[:-1]),
        ):
            with self.subTest(greeting), self.assertRaises(OSError):
                self.ask([ONE], ["Id"], said, greeting=greeting)
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(OSError):
            asked(os.path.join(folder, "private"), ([ONE], ["Id"]))

    def test_silence(self):
        """Who says nothing is not waited for."""
        with mock.patch.object(dbus, "_TIMEOUT", 0.05), self.assertRaises(OSError):
            self.ask([ONE], ["Id"], ends=False)

    def test_what_is_not_dbus(self):
        """Nonsense is named as such."""
        for said in (
            b"\0" * 64,
            message(ANSWER, 1, ALL.data[:-6]),
            message(ANSWER, 1, b"\xff" * 64),
            message(ANSWER, 1, Body().table({"Id": ("m", "x")}).data),
            message(ANSWER, 1, b"")[:4] + b"\xff" * 60,
        ):
            with self.subTest(said), self.assertRaises(ValueError):
                self.ask([ONE], ["Id"], said)
