import unittest
from typing import Any, Dict

from remote_runtime.resources.edit.document import Document
from remote_runtime.resources.edit.setting_edits import FORMATS, Grammar, SettingsEdit, sections_of


def applied(settings: Dict[str, Any], kind: str, text: str, absent: bool = False) -> str:
    """The text after an edit, which changes nothing a second time."""
    edit = SettingsEdit(settings, kind)
    document = Document(text.encode())
    (edit.absent if absent else edit.present)(document)
    again = Document(document.data())
    (edit.absent if absent else edit.present)(again)
    assert again.data() == document.data(), (document.data(), again.data())
    return document.data().decode()


class SettingsTest(unittest.TestCase):
    def assert_edits(self, kind: str, *cases: Any) -> None:
        for settings, before, after in cases:
            self.assertEqual(applied(settings, kind, before), after)

    def test_ini(self) -> None:
        """Keys of a section, with the file's own spacing and comments."""
        self.assert_edits(
            "ini",
            ({"a": {"x": 2}}, "[a]\nx = 1\n", "[a]\nx = 2\n"),
            ({"a": {"x": 2}}, "[a]\nx=1 ; old\ny=1\n", "[a]\nx=2\ny=1\n"),
            ({"b": {"x": 2}}, "[a]\nx=1\n[b]\nx=1\n", "[a]\nx=1\n[b]\nx=2\n"),
            ({"a": {"y": 2}}, "[a]\nx=1\n\n# b\n[b]\n", "[a]\nx=1\ny=2\n\n# b\n[b]\n"),
            ({"a": {"y": 2}}, "[a]\n;y = 1\nx = 1\n", "[a]\n;y = 1\ny = 2\nx = 1\n"),
            ({"c": {"x": True}}, "[a]\nx=1\n", "[a]\nx=1\n\n[c]\nx=true\n"),
            ({"c": {"x": "1"}}, "", "[c]\nx = 1\n"),
            ({"x": "1"}, "# top\n\n# of a\n[a]\ny=2\n", "# top\nx=1\n\n# of a\n[a]\ny=2\n"),
            ({"a": {"x": None}}, "[a]\nx=1\nx=2\ny=1\n", "[a]\ny=1\n"),
            ({"a": {"x": ["1", "2"]}}, "[a]\nx=0\ny=1\n", "[a]\nx=1\nx=2\ny=1\n"),
            ({"a": {"x": ["1"]}}, "[a]\nx=1\ny=1\nx=2\n", "[a]\nx=1\ny=1\n"),
            ({"a": {"x": "1"}}, "[a]\n  y = 1\n", "[a]\n  y = 1\n  x = 1\n"),
            ({"a": {}}, "", "[a]\n"),
            ({"a": {"x": ""}}, "[a]\nx = 1\n", "[a]\nx =\n"),
            ({"a": {"flag": "on"}}, "[a]\nflag\n", "[a]\nflag = on\n"),
            ({"a": {"x": "", "y": "1"}}, "", "[a]\nx =\ny = 1\n"),
            ({"a": {"x": "1"}}, "[a]\nx =\n", "[a]\nx = 1\n"),
            ({"a": {"x": "1"}}, "[a]\nx=\n", "[a]\nx=1\n"),
        )

    def test_first_match(self) -> None:
        """One value is that of the first line; further ones stay."""
        self.assert_edits("ini", ({"a": {"x": 3}}, "[a]\nx=1\nx=2\n", "[a]\nx=3\nx=2\n"))

    def test_shell(self) -> None:
        """Assignments of a shell; other lines are none."""
        self.assert_edits(
            "key=value",
            ({"A": "2"}, "export A=1\n", "export A=2\n"),
            ({"A": '"2 3"'}, 'A="1"\n# A=0\n', 'A="2 3"\n# A=0\n'),
            (
                {"C": 1},
                "#C=0\nif [ a = b ]; then\nB=1\nfi\n",
                "#C=0\nC=1\nif [ a = b ]; then\nB=1\nfi\n",
            ),
            ({"A": 2}, "B='x\nA=1'\nA=1\n", "B='x\nA=1'\nA=2\n"),
            ({"A": 2}, "B=1 \\\nA=1\n", "B=1 \\\nA=1\nA=2\n"),
        )

    def test_blanks(self) -> None:
        """Keys and values with blanks between them."""
        self.assert_edits(
            "key value",
            ({"PASS_MAX_DAYS": 90}, "PASS_MAX_DAYS\t99999\n", "PASS_MAX_DAYS\t90\n"),
            ({"server": ["a iburst", "b"]}, "server x\n# c\n", "server a iburst\nserver b\n# c\n"),
            ({"new": "1"}, "old  1\n", "old  1\nnew 1\n"),
        )

    def test_ssh(self) -> None:
        """Keys without case above the first Match, and in sections."""
        self.assert_edits(
            "ssh",
            (
                {"PermitRootLogin": "no"},
                "permitrootlogin yes\nMatch User a\n  PermitRootLogin yes\n",
                "permitrootlogin no\nMatch User a\n  PermitRootLogin yes\n",
            ),
            ({"Port": 1}, "#Port 22\n\nMatch all\n", "#Port 22\nPort 1\n\nMatch all\n"),
            ({"X": "1"}, "Match all\n  Y 1\n", "X 1\nMatch all\n  Y 1\n"),
            (
                {"Match user  a": {"X": 2}},
                "Match User a\n  X=1\n",
                "Match User a\n  X=1\n\nMatch user  a\n    X 2\n",
            ),
            ({"Match User a": {"X": 2}}, "match  User a\n  X 1\n", "match  User a\n  X 2\n"),
            ({"Host *": {"Y": 2}}, "Host *\n  X 1\n", "Host *\n  X 1\n  Y 2\n"),
        )

    def test_absent(self) -> None:
        """Keys go; a section without keys goes whole."""
        for settings, before, after in (
            ({"a": {"x": 1}}, "[a]\nx=2\ny=1\n", "[a]\ny=1\n"),
            ({"a": {}}, "[a]\nx=2\n[b]\ny=1\n", "[b]\ny=1\n"),
            ({"x": 1}, "x=1\n[a]\nx=2\n", "[a]\nx=2\n"),
            ({"a": {}}, "[a]\n# of x\nx=2\n\n# of b\n[b]\n", "# of b\n[b]\n"),
            ({"a": {}}, "[a]\nx=2 \\\n#2\n[b]\n", "[b]\n"),
            ({"b": {}}, "[a]\n[b]\nx=2\n# of x\n", "[a]\n"),
            ({"": {}}, "x=1\ny=2\n", "x=1\ny=2\n"),
        ):
            self.assertEqual(applied(settings, "ini", before, absent=True), after)

    def test_values_of_several_lines(self) -> None:
        """They are found, and left alone."""
        for kind, text in (
            ("ini", "[a]\nx = 1 \\\n  2\n"),
            ("ini", "[a]\nx =\n  one\n  two\n"),
            ("key=value", "x='1\n2'\n"),
        ):
            settings = {"a": {"x": 1}} if kind == "ini" else {"x": 1}
            with self.assertRaisesRegex(ValueError, "the value of x continues on line"):
                SettingsEdit(settings, kind).present(Document(text.encode()))

    def test_entries_spell_their_lines(self) -> None:
        """The parts of an entry are the text of its line, for every format."""
        text = "a = 1\n  b=2  \nexport C=3\n\td\t4 \n[s]\n# e = 5\n;f=6\ng\nMatch x\nh=i=j\n"
        for kind in FORMATS:
            document = Document(text.encode())
            for section in sections_of(document, Grammar(kind)):
                for entry in section.entries:
                    parts = entry.prefix + entry.key + entry.separator + entry.value + entry.suffix
                    self.assertEqual(parts, document.texts[entry.at])


if __name__ == "__main__":
    unittest.main()
