"""A command of the user and how it runs (target): that of a resource, or a guard."""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.host import interpreters
from remote_runtime.text import duration, shell_words
from remote_runtime.validation.command_rules import parse_umask

_INHERITED = ("cwd", "environment", "path", "user", "group", "umask", "timeout")


class Command(NamedTuple):
    """A command with everything that decides how it runs; ``timeout`` in seconds, None for none.

    Without an ``interpreter``, the text is split as a POSIX shell quotes; nothing is expanded.
    """

    text: str
    interpreter: str
    boolean: bool
    cwd: Optional[str]
    environment: Dict[str, str]
    path: Optional[str]
    user: Optional[str]
    group: Optional[str]
    umask: Optional[int]
    timeout: Optional[float]
    returns: Tuple[int, ...]

    def start(self, find: Callable[[str], str]) -> interpreters.Start:
        """The program and its arguments; ``find`` looks programs up.

        ``ResourceError`` for a text that cannot be split into words.
        """
        if self.interpreter:
            return interpreters.start(self.interpreter, self.text, self.boolean, find)
        try:
            argv = shell_words.split(self.text)
        except ValueError as error:
            message = "cannot parse the command: %s" % error
            raise ResourceError(message, kind="resource.command") from error
        if not argv:
            raise ResourceError("the command is empty", kind="resource.command")
        return interpreters.Start(argv)


def of_command(name: str, properties: Dict[str, Any], provider: str) -> Command:
    """The command of a resource, which ``provider`` runs where no interpreter does."""
    return _command(
        properties.get("command") or name,
        properties,
        interpreter=_interpreter(properties, "interpreter", provider),
        boolean=bool(properties.get("convert_boolean_return", False)),
        returns=properties.get("returns"),
    )


def of_guard(guard: Any, properties: Dict[str, Any], provider: str) -> Command:
    """A guard, which inherits from its resource what its map does not set.

    The exit codes are not inherited: those of the command say nothing about a guard.
    """
    own = guard if isinstance(guard, dict) else {"command": guard}
    merged = {key: properties.get(key) for key in _INHERITED}
    merged.update({key: own[key] for key in _INHERITED if key in own})
    return _command(
        str(own["command"]),
        merged,
        interpreter=_interpreter(properties, "guard_interpreter", provider),
        boolean=bool(properties.get("convert_boolean_return", True)),
        returns=own.get("returns"),
    )


def _interpreter(properties: Dict[str, Any], key: str, provider: str) -> str:
    given = str(properties.get(key, "default"))
    return given if given != "default" else "sh" if provider == "shell" else ""


def _command(
    command: str, values: Dict[str, Any], *, interpreter: str, boolean: bool, returns: Any
) -> Command:
    def text(key: str) -> Optional[str]:
        return None if values.get(key) is None else str(values[key])

    def parsed(key: str, parse: Callable[[str], Any]) -> Any:
        value = text(key)
        return None if value is None else parse(value)

    return Command(
        text=command,
        interpreter=interpreter,
        boolean=boolean,
        cwd=text("cwd"),
        environment=dict(_pair(entry) for entry in values.get("environment") or []),
        path=text("path"),
        user=text("user"),
        group=text("group"),
        umask=parsed("umask", parse_umask),
        timeout=parsed("timeout", duration.parse) or None,
        returns=tuple(returns or (0,)),
    )


def _pair(entry: str) -> Tuple[str, str]:
    key, _, value = entry.partition("=")
    return key, value


def expected(returns: Tuple[int, ...]) -> str:
    """The accepted codes for people: "0", "0 or 4"."""
    codes: List[str] = [str(code) for code in returns]
    return codes[0] if len(codes) == 1 else "%s or %s" % (", ".join(codes[:-1]), codes[-1])
