import unittest

from remote_runtime.text.sudoers import names_one


class SudoersTest(unittest.TestCase):
    def test_rules(self) -> None:
        """The users of a rule are its first list; hosts, options, and comments are none."""
        for text, expected in (
            ("deploy ALL=(ALL) ALL", True),
            ("anna ,deploy ALL = ALL", True),
            ("anna, \\\n  deploy ALL=ALL", True),
            ("anna deploy, web=ALL", False),
            ("anna ALL=(deploy) ALL", False),
            ("!deploy ALL=ALL", False),
            ("Defaults:deploy secure_path=/bin", False),
            ("Host_Alias deploy = web", False),
            ("# deploy ALL=ALL", False),
            ("= ALL", False),
            ("", False),
        ):
            self.assertIs(names_one([text.encode()], {"deploy"}), expected, text)

    def test_numbers(self) -> None:
        """A number is no comment."""
        for text, expected in (("#1000 ALL=ALL", True), ("#10 ALL=ALL", False)):
            self.assertIs(names_one([text.encode()], {"#1000"}), expected, text)

    def test_aliases(self) -> None:
        """An alias may be defined after its use, in another file, and by other aliases."""
        for texts, expected in (
            (["User_Alias A = anna : B = deploy", "B ALL=ALL"], True),
            (["User_Alias A = anna : B = deploy", "A ALL=ALL"], False),
            (["C ALL=ALL\nUser_Alias C = B\nUser_Alias B = A", "User_Alias A = deploy"], True),
            (["User_Alias A = B : B = A\nA ALL=ALL"], False),
            (["User_Alias A = deploy"], False),
        ):
            found = names_one([text.encode() for text in texts], {"deploy"})
            self.assertIs(found, expected, texts)

    def test_many_aliases(self) -> None:
        """A long chain of aliases is resolved; quadratic time would exceed the time limit."""
        chain = ["User_Alias A%d = A%d" % (number, number + 1) for number in range(80000)]
        text = "\n".join([*chain, "User_Alias A80000 = deploy", "A0 ALL=ALL"])
        self.assertTrue(names_one([text.encode()], {"deploy"}))


if __name__ == "__main__":
    unittest.main()
