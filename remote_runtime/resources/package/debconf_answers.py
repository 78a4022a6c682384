"""The answers that a resource gives to the questions of a package's scripts (target)."""

from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional

from remote_runtime.base import Change
from remote_runtime.errors import ResourceError
from remote_runtime.packages.package_info import Answer, Installed
from remote_runtime.reporting.masking import MASKED

if TYPE_CHECKING:
    from remote_runtime.host.package_ports import PackageReader

PASSWORD, MULTISELECT = "password", "multiselect"


class Pending(NamedTuple):
    """An answer that differs from debconf's current one, which is None if there is none."""

    answer: Answer
    found: Optional[str]


class Answers(object):
    """The answers of one resource; ``given`` is the property, ``hidden`` means that they must not
    be shown.
    """

    def __init__(self, package: "PackageReader", answers: Mapping[str, Any], hidden: bool) -> None:
        self._package, self._hidden = package, hidden
        self._wanted = [
            Answer(question, str(one["type"]), line_of(one["value"]))
            for question, one in sorted(answers.items())
        ]

    def trouble(self, manager: str) -> Optional[ResourceError]:
        """Return the reason why answers are not supported by this package manager."""
        if self._package.asks:
            return None
        reason = "packages of %s do not use debconf; omit debconf"
        return ResourceError(reason % manager, kind="resource.unsupported")

    @property
    def told(self) -> List[str]:
        """The questions whose answers debconf keeps; scripts delete passwords."""
        return [one.question for one in self._wanted if one.type != PASSWORD]

    def pending(self, installed: Installed) -> List[Pending]:
        """Return the answers that differ. A password is compared only for an installation, because
        scripts delete it.
        """
        wanted = [one for one in self._wanted if not (installed.version and one.type == PASSWORD)]
        if not wanted:
            return []
        stored = self._package.answers([one.question for one in wanted])
        return [
            Pending(one, stored.get(one.question))
            for one in wanted
            if not is_given(one, stored.get(one.question))
        ]

    def kept(self) -> Mapping[str, Optional[str]]:
        """Return debconf's current value for each answer, without passwords and other secrets."""
        visible = [one for one in self._wanted if not self._is_hidden(one)]
        stored = self._package.answers_now([one.question for one in visible])
        return {one.question: stored.get(one.question) for one in visible}

    def unachieved(self, installed: Installed) -> str:
        """The answers that were given but are missing, as text; "" if there are none."""
        for answer, pending in self.pending(installed):
            description = "answer to %s" % answer.question
            if not self._is_hidden(answer):
                description += " is %r, not %r" % (pending or "", answer.value)
            else:
                description += " differs"
            return "debconf's %s: the scripts of %s have changed it" % (
                description,
                self._package.title,
            )
        return ""

    def _is_hidden(self, answer: Answer) -> bool:
        hidden = self._hidden or self._package.is_secret(answer.value)
        return answer.type == PASSWORD or hidden

    def change(self, pending: Pending) -> Change:
        """The record of a changed answer."""
        answer, value_before = pending
        what = "debconf %s" % answer.question
        if self._is_hidden(answer):
            return Change(what, None if value_before is None else MASKED, MASKED)
        return Change(what, value_before, answer.value)


def line_of(value: object) -> str:
    """A value as debconf keeps it: a word for a boolean, and one line for a text of several."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\n", "\\n")


def is_given(answer: Answer, current: Optional[str]) -> bool:
    """Return whether a value equals this answer; the order of multiple choices is ignored."""
    if current is None or answer.type != MULTISELECT:
        return current == answer.value
    return _choices(current) == _choices(answer.value)


def _choices(value: str) -> List[str]:
    return sorted(part.strip() for part in value.split(",") if part.strip())
