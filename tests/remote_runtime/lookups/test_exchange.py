from typing import Any, Dict

from remote_runtime.lookups.exchange import MAX_LOOKUPS
from tests.remote_runtime.controller import RuntimeTest


def stat(path: str) -> Dict[str, Any]:
    return {"kind": "stat", "of": path}


class ExchangeTest(RuntimeTest):
    def test_before_the_plan(self) -> None:
        """The answers come in the order of the questions; more may be asked, and then the plan."""
        target = self.target()
        target.until("facts")
        questions = [{"kind": "command", "of": "echo hi"}, stat(self.path("gone"))]
        target.send({"t": "ask", "questions": questions})
        first, second = target.until("answers")["answers"]
        self.assertEqual((first["stdout"], second["exists"]), ("hi\n", False))
        target.send({"t": "ask", "questions": [stat(self.root)]})
        (third,) = target.until("answers")["answers"]
        self.assertEqual(third["kind"], "directory")
        made = {"type": "exec", "name": "x", "properties": {"command": "true"}}
        self.assertEqual([event["status"] for event in target.push(made)], ["changed"])

    def test_all_answers_fit_one_frame(self) -> None:
        """The largest one gives way, and says so."""
        text = b"\xc3\xbc" * (100 << 10)
        small, large = self.write("small", b"x"), self.write("large", text + text)
        other = self.write("other", text)
        target = self.target()
        target.until("facts")
        asked = [{"kind": "file", "of": path} for path in (small, large, other)]
        target.send({"t": "ask", "questions": asked})
        answers = target.until("answers")["answers"]
        self.assertEqual(answers[0]["content"], "x")
        self.assertIn("too many to send", answers[1]["error"])
        self.assertEqual(len(answers[2]["content"]), 100 << 10)

    def refused(self, *messages: Dict[str, Any]) -> str:
        target = self.target()
        target.until("facts")
        for message in messages:
            target.send(dict(message, t="ask"))
        text: str = target.until("done")["error"]["message"]
        return text

    def test_what_is_no_question(self) -> None:
        """Ends the run."""
        self.assertIn("without questions", self.refused({}))
        self.assertIn("without its kind", self.refused({"questions": [{"kind": "stat"}]}))
        for kind in ("no_such", "exec", "../x"):
            self.assertTrue(self.answer_or_refusal(kind))

    def answer_or_refusal(self, kind: str) -> str:
        target = self.target()
        target.until("facts")
        target.send({"t": "ask", "questions": [{"kind": kind, "of": "x"}]})
        if kind == "exec":
            return str(target.until("done")["error"]["message"])
        return str(target.until("answers")["answers"][0]["error"])

    def test_too_many(self) -> None:
        """In one message, or in all."""
        many = [stat("/srv/%d" % number) for number in range(MAX_LOOKUPS)]
        self.assertIn("64 lookups", self.refused({"questions": [*many, stat("/")]}))
        self.assertIn("64", self.refused({"questions": many}, {"questions": [stat("/")]}))
