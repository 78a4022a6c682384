"""Reasons why a part of a project cannot be converted (controller)."""

from remote_runtime.errors import InputError, Problem


class NotConvertible(Exception):  # noqa: N818 - a result that the conversion catches; no error
    """A task, a property or an expression that has no exact equivalent; the text is the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TemplateArgument(NotConvertible):
    """An argument is a template, but the conversion needs its value."""

    def __init__(self, argument: str, value: str) -> None:
        super().__init__(f"{argument} is a template: {value}")
        self.argument = argument


def bad_input(message: str, hint: str) -> InputError:
    """The error for a file of the project that cannot be read."""
    return InputError([Problem(message, hint=hint)])
