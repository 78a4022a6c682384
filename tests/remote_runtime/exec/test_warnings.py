import unittest

from remote_runtime.resources.exec.warnings import warnings

PLAIN = (
    "ls /etc",
    "grep '|' /etc/x",
    'grep "a && b" /etc/x',
    "grep a\\|b /etc/x",
    "find / -exec ls {} ;",
    "curl http://h/?a=1&b=2",
)
FOR_A_SHELL = {
    "echo x > /etc/y": ">",
    "ls | wc": "|",
    "a && b": "&&",
    "a || b": "||",
    "a; b": ";",
    "sleep 9 &": "&",
}


class TestDoubts(unittest.TestCase):
    def test_what_a_shell_would_act_on(self) -> None:
        """A sign of the shell outside quotes is told, with the sign; what is quoted is not."""
        for command in PLAIN:
            self.assertEqual(warnings("x", {"command": command}), [], command)
        for command, sign in FOR_A_SHELL.items():
            ((key, message, hint),) = warnings("x", {"command": command})
            self.assertEqual(key, "command")
            self.assertIn("passes %s to" % sign, message)
            self.assertIn("provider: shell", hint)

    def test_where_it_stands(self) -> None:
        """The name is the command where there is no other, and guards are commands, too."""
        self.assertEqual(warnings("a | b", {})[0][0], "name")
        self.assertEqual(warnings("a | b", {"command": "true"}), [])
        found = warnings("a", {"onlyif": "a | b", "unless": {"command": "a > b"}})
        self.assertEqual([key for key, _, _ in found], ["onlyif", "unless"])

    def test_a_shell(self) -> None:
        """Nothing is doubted where a shell or another interpreter runs it."""
        self.assertEqual(warnings("x", {"command": "a | b", "provider": "shell"}), [])
        self.assertEqual(warnings("x", {"command": "a | b", "interpreter": "bash"}), [])
