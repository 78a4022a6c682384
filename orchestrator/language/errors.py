"""Errors of evaluating an expression (controller)."""

from remote_runtime.errors import CcmError, Position


class EvaluationError(CcmError):
    """A valid expression could not be evaluated for this host."""

    default_kind = "template"

    def __init__(self, message: str, where: Position | None = None, kind: str = "") -> None:
        super().__init__(message, kind)
        self.where = where

    def __str__(self) -> str:
        return f"{self.message} ({self.where})" if self.where else self.message


NEEDS_FACTS = "facts.timeout"
NEEDS_ANSWERS = "ask.unasked"
NEEDS_DATA = "data.unread"
NEEDS_STORE = "data.kv"
NEEDS_ARCHIVE = "archive.unread"
NEEDS_SECRETS = "secret.unread"
NEEDS = {
    NEEDS_FACTS: "facts that only a host reports",
    NEEDS_ANSWERS: "answers to lookups",
    NEEDS_DATA: "--hiera data that was not read",
    NEEDS_STORE: "the key-value store",
    NEEDS_ARCHIVE: "an archive that was not read",
    NEEDS_SECRETS: "secrets, which this command does not read",
}
"""The kinds of errors that are not mistakes of the user, with a description of the
missing input.
"""


class FactsUnavailableError(EvaluationError):
    """An expression read a family of facts that the host could not gather in time."""

    default_kind = NEEDS_FACTS

    def __init__(self, family: str, reason: str) -> None:
        super().__init__(f"the facts {family!r} are not available on this host: {reason}")


class OtherFactsError(FactsUnavailableError):
    """An expression reads facts of another host, and these are not known."""

    def __init__(self, name: str, reason: str) -> None:
        EvaluationError.__init__(self, f"the facts of {name} are not known: {reason}")


class NeedSecretsError(FactsUnavailableError):
    """An expression reads a secret, but this command reads none."""

    default_kind = NEEDS_SECRETS

    def __init__(self, what: str) -> None:
        EvaluationError.__init__(self, f"{what} is not read by this command")


class NoAnswerError(FactsUnavailableError):
    """An expression reads a lookup of ``ccm.ask`` that has no answer."""

    default_kind = "ask"

    def __init__(self, name: str, reason: str, kind: str = "") -> None:
        EvaluationError.__init__(self, f"Asked.{name} has no answer: {reason}", None, kind)


class UnavailableFamilyError(FactsUnavailableError):
    """An expression read a family of facts that another host could not gather in time."""

    def __init__(self, host: str, family: str, reason: str) -> None:
        message = f"the facts {family!r} of {host} were not gathered: {reason}"
        EvaluationError.__init__(self, message)


class NeedFileError(CcmError):
    """``file()`` names a file on the target whose text is not in the scope.

    A signal, not a failure: the caller may read the file, add it to the scope's ``target_files``
    and evaluate again.
    """

    default_kind = "template.file"

    def __init__(self, path: str) -> None:
        super().__init__(f"file({path!r}) reads a file on the target")
        self.path = path
