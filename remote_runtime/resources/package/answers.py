"""The answers that a resource gives to the questions of a package's scripts (target)."""

from typing import TYPE_CHECKING, Any, Callable, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.base import Action, Change, Missing
from remote_runtime.effects import UNKNOWN, Uncertainty, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.values import Answer, Installed
from remote_runtime.reporting.masking import MASKED
from remote_runtime.resources.package import wording

if TYPE_CHECKING:
    from remote_runtime.context import Context

PASSWORD, MULTISELECT = "password", "multiselect"


class _Pending(NamedTuple):
    """An answer that differs from what debconf has, None for nothing."""

    answer: Answer
    found: Optional[str]


class Answers(object):
    """Those of one resource; ``given`` is the property.

    ``hides`` tells whether nobody may see a value.
    """

    def __init__(
        self,
        provider: PackageManager,
        name: str,
        given: Mapping[str, Any],
        hides: Callable[[str], bool],
    ) -> None:
        self._provider, self._name, self._hides = provider, name, hides
        self._wanted = [
            Answer(question, str(one["type"]), line_of(one["value"]))
            for question, one in sorted(given.items())
        ]

    def trouble(self) -> Optional[ResourceError]:
        """Why nothing can be answered with this package manager."""
        if self._provider.asks:
            return None
        why = "packages of %s ask no questions through debconf; leave debconf out"
        return ResourceError(why % self._provider.name, kind="resource.unsupported")

    def pending(self, installed: Installed) -> List[_Pending]:
        """Those that differ. A password counts for an installation only: scripts forget it."""
        wanted = [one for one in self._wanted if not (installed.version and one.type == PASSWORD)]
        if not wanted:
            return []
        found = self._provider.answers([one.question for one in wanted])
        return [
            _Pending(one, found.get(one.question))
            for one in wanted
            if not is_given(one, found.get(one.question))
        ]

    def kept(self) -> Mapping[str, Optional[str]]:
        """What debconf has in the place of each, without passwords and other secrets."""
        shown = [one for one in self._wanted if not self._is_hidden(one)]
        found = self._provider.answers([one.question for one in shown], planned=False)
        return {one.question: found.get(one.question) for one in shown}

    def actions(
        self, context: "Context", installed: Installed, lock_timeout: float
    ) -> List[Action]:
        """What sets those that differ; before the package comes, if it is to come."""
        pending = self.pending(installed)
        if not pending:
            return []
        changes = [self._change(one) for one in pending]
        answers = [one.answer for one in pending]
        name = self._name.partition(":")[0]

        def act() -> None:
            self._provider.set_answers(name, answers, lock_timeout)
            self._provider.acted()

        action = Action(wording.ANSWERED, act, changes, [_rewriting(self._provider.answer_files)])
        if context.noop:
            trouble = self._provider.answer_trouble()
            if trouble is not None:
                raise Missing(trouble.message, would=[action], hint=trouble.hint)
            self._provider.plan_answers(answers)
        return [action]

    def suppose(self, context: "Context") -> None:
        """In a preview: say so where the scripts of the package may choose other answers."""
        names = [one.question for one in self._wanted if one.type != PASSWORD]
        uncertainty = self._provider.chooses(self._name, names) if names else ""
        if uncertainty:
            context.suppose(uncertainty)

    def unachieved(self, installed: Installed) -> str:
        """Which answer is not there, although it was given; "" for none."""
        for answer, found in self.pending(installed):
            given = "answer to %s" % answer.question
            if not self._is_hidden(answer):
                given += " is %r, not %r" % (found or "", answer.value)
            else:
                given += " is another one"
            return "debconf's %s: the scripts of %s have changed it" % (given, self._name)
        return ""

    def _is_hidden(self, answer: Answer) -> bool:
        return answer.type == PASSWORD or self._hides(answer.value)

    def _change(self, pending: _Pending) -> Change:
        answer, found = pending
        what = "debconf %s" % answer.question
        if self._is_hidden(answer):
            return Change(what, None if found is None else MASKED, MASKED)
        return Change(what, found, answer.value)


def line_of(value: object) -> str:
    """A value as debconf keeps it: a word for a boolean, and one line for a text of several."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\n", "\\n")


def is_given(answer: Answer, found: Optional[str]) -> bool:
    """Whether a value is this answer; the order of several choices does not count."""
    if found is None or answer.type != MULTISELECT:
        return found == answer.value
    return _choices(found) == _choices(answer.value)


def _choices(value: str) -> List[str]:
    return sorted(part.strip() for part in value.split(",") if part.strip())


def _rewriting(files: Sequence[str]) -> UnknownEffect:
    uncertainty = Uncertainty(UNKNOWN, "debconf writes its database in its own form")
    return UnknownEffect(
        uncertainty, lambda kind, value, present: kind in ("path", "content") and value in files
    )
