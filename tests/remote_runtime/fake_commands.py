"""A command door for tests of types and providers: recorded answers, and what was asked."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from remote_runtime.context import Context
from remote_runtime.plan_item import Item
from remote_runtime.system.process.commands import Result

from . import fakes

Answer = Union[Result, str]


class FakeCommands(object):
    """Answers commands by the beginning of their words.

    ``on(words, answer, ...)``: the answers are given in turn, the last one for ever; a text is what
    a command printed that ended well. A command without an answer is an error of the test. One that
    is run in a namespace of its own is answered like itself, and told in ``aside``, too.
    """

    def __init__(self, missing: Sequence[str] = ()) -> None:
        self.asked: List[str] = []
        self.aside: List[str] = []
        self.environments: List[Dict[str, str]] = []
        self.during: Optional[Callable[[], None]] = None
        self._missing = missing
        self._answers: List[Tuple[str, List[Answer]]] = []

    def on(self, words: str, *answers: Answer) -> None:
        """Answer commands that begin with these words; the latest such call counts."""
        self._answers.insert(0, (words, list(answers)))

    def find(self, program: str, path: Optional[str] = None, cwd: Optional[str] = None) -> str:
        return "" if program in self._missing else "/usr/bin/" + program

    def is_program(self, path: str) -> bool:
        return path not in self._missing

    def run(self, argv: Sequence[str], **options: Any) -> Result:
        words = list(argv)
        within = words[0] == "unshare"
        line = " ".join(words[words.index("--") + 1 :] if within else words)
        self.asked.append(line)
        self.aside += [line] if within else []
        self.environments.append(options.get("env") or {})
        if self.during is not None:
            self.during()
        for beginning, answers in self._answers:
            if line.startswith(beginning):
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                return Result(0, answer, "") if isinstance(answer, str) else answer
        raise AssertionError("the test has no answer to: " + line)

    def count(self, words: str) -> int:
        """How many commands began with these words."""
        return len([line for line in self.asked if line.startswith(words)])


def make_context(commands: FakeCommands, items: Sequence[Item] = (), noop: bool = False) -> Context:
    """A run with a fake command door; ``notices_of`` has what it notices."""
    notices: List[Tuple[str, str]] = []
    context = fakes.context(
        items,
        commands=commands,
        noop=noop,
        on_notice=lambda level, text: notices.append((level, text)),
    )
    context.__dict__["notices"] = notices
    return context


def notices_of(context: Context) -> List[Tuple[str, str]]:
    """What a context of ``make_context`` has kept."""
    kept: List[Tuple[str, str]] = context.__dict__["notices"]
    return kept
