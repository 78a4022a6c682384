import unittest
from typing import List

from remote_runtime.resources.wait.resource import Resource


def wrong(**properties: object) -> List[str]:
    """The properties that ``check`` complains of."""
    return [key for key, _ in Resource.check("x", properties)]


class RulesTest(unittest.TestCase):
    def test_one_thing_is_waited_for(self) -> None:
        """A wait names exactly one condition."""
        self.assertEqual(wrong(port=80), [])
        self.assertEqual(wrong(), [""])
        self.assertEqual(wrong(port=80, file="/run/x"), ["file"])

    def test_what_belongs_to_another_condition(self) -> None:
        """What says how to look at a URL has no place beside a port."""
        self.assertEqual(wrong(port=80, status=[204]), ["status"])
        self.assertEqual(wrong(file="/run/x", host="db"), ["host"])
        self.assertEqual(wrong(url="http://db/", user="root"), ["user"])

    def test_times(self) -> None:
        """A time is a duration, and long enough to be one."""
        self.assertEqual(wrong(port=80, timeout="0"), ["timeout"])
        self.assertEqual(wrong(port=80, timeout="soon"), ["timeout"])
        self.assertEqual(wrong(port=80, interval="10ms"), ["interval"])
        self.assertEqual(wrong(port=80, interval="often"), ["interval"])
        self.assertEqual(wrong(port=80, timeout="2m", interval="500ms"), [])

    def test_conditions(self) -> None:
        """A URL names a server, a file is an absolute path, a command has words."""
        self.assertEqual(wrong(url="ftp://db/x"), ["url"])
        self.assertEqual(wrong(url="http://"), ["url"])
        self.assertEqual(wrong(file="run/x"), ["file"])
        self.assertEqual(wrong(command="  "), ["command"])
        self.assertEqual(wrong(command="it's"), ["command"])
        self.assertEqual(wrong(command="it's", provider="shell"), [])

    def test_a_command_for_a_shell(self) -> None:
        """What is written for a shell and gets none is told: it may come true at once."""
        ((key, text, _),) = Resource.warnings("x", {"command": "true | grep ready"})
        self.assertEqual((key, "passes | to" in text), ("command", True))
        shell = {"command": "true | grep ready", "provider": "shell"}
        self.assertEqual(Resource.warnings("x", shell), [])
        self.assertEqual(Resource.warnings("x", {"port": 80}), [])
