from typing import Any, Dict, List, Tuple

from tests.remote_runtime.controller import RuntimeTest
from tests.texts import expect_text


class StalenessTest(RuntimeTest):
    def setUp(self) -> None:
        super().setUp()
        self.conf = self.write("conf", b"a = 1\n")

    def preview(self, *items: Dict[str, Any], noop: bool = True) -> List[Tuple[str, str, str]]:
        """Name, prediction and reason of each item, where the file was looked up before."""
        questions = [
            {"kind": "file", "of": self.conf},
            {"kind": "command", "of": "cat " + self.conf},
        ]
        target = self.target(b"new")
        target.until("facts")
        target.send({"t": "ask", "questions": questions})
        target.until("answers")
        events = target.push(*items, noop=noop)
        return [
            (e["name"], e.get("prediction", ""), e.get("prediction_reason", "")) for e in events
        ]

    def user(self, name: str, **fields: Any) -> Dict[str, Any]:
        """A resource that stands on the file."""
        asked = [{"name": "conf", "kind": "file", "of": self.conf}]
        return dict(
            {"type": "exec", "name": name, "properties": {"command": "true"}, "asked": asked},
            **fields,
        )

    def removal(self) -> Dict[str, Any]:
        return {"type": "file", "name": self.conf, "properties": {"ensure": "absent"}}

    def test_nothing_is_planned(self) -> None:
        """The answer is that of the host."""
        self.assertEqual(self.preview(self.user("x")), [("x", "certain", "")])

    def test_an_earlier_resource_changes_it(self) -> None:
        """Then the prediction is assumed, and says what changes it; what it is of stays so."""
        found = self.preview(self.removal(), self.user("x"))
        reason = (
            "Asked.conf was answered before the first change, but file#%s would change the answer"
        )
        self.assertEqual(found[1], ("x", "assumed", reason % self.conf))
        self.assertEqual(found[0][1], "certain")

    def test_an_earlier_command_may_change_it(self) -> None:
        """Nobody can tell what that does."""
        blind = {"type": "exec", "name": "blind", "properties": {"command": "true"}}
        _, prediction, reason = self.preview(blind, self.user("x"))[1]
        self.assertEqual(prediction, "assumed")
        expect_text(reason, self)

    def test_what_is_changed_is_another_thing(self) -> None:
        """Nothing is said of it."""
        gone = {"type": "file", "name": self.write("b"), "properties": {"ensure": "absent"}}
        self.assertEqual(self.preview(gone, self.user("x"))[1], ("x", "certain", ""))

    def test_a_command_is_asked_again(self) -> None:
        """On the host as it would be, or it is said why that cannot be."""
        asked = [{"name": "text", "kind": "command", "of": "cat " + self.conf}]
        _, prediction, reason = self.preview(self.removal(), self.user("x", asked=asked))[1]
        self.assertEqual(prediction, "assumed")
        expect_text(reason, self)

    def test_one_that_is_left_out(self) -> None:
        """By a control that stands on the answer: that is assumed, too."""
        found = self.preview(self.removal(), self.user("x", managed=False))
        self.assertEqual(found[1][:2], ("x", "assumed"))

    def test_a_push(self) -> None:
        """Says nothing of it: there the answer is what it was."""
        found = self.preview(self.removal(), self.user("x"), noop=False)
        self.assertEqual([one[1:] for one in found], [("", ""), ("", "")])
