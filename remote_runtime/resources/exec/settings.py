"""How one command of an exec runs: the command itself or a guard (target)."""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from remote_runtime.text import duration
from remote_runtime.validation.command_rules import parse_umask

_INHERITED = ("cwd", "environment", "path", "user", "group", "umask", "timeout")


class Settings(NamedTuple):
    """A command with everything that decides how it runs; ``timeout`` in seconds, None for none."""

    command: str
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


def of_command(name: str, properties: Dict[str, Any]) -> Settings:
    """The settings of the exec's own command."""
    return _settings(
        properties.get("command") or name,
        properties,
        interpreter=properties.get("interpreter", "default"),
        boolean=bool(properties.get("convert_boolean_return", False)),
        returns=properties.get("returns"),
    )


def of_guard(guard: Any, properties: Dict[str, Any]) -> Settings:
    """The settings of a guard, which inherits from the exec what its map does not set.

    The exit codes are not inherited: those of the command say nothing about a guard.
    """
    own = guard if isinstance(guard, dict) else {"command": guard}
    merged = {key: properties.get(key) for key in _INHERITED}
    merged.update({key: own[key] for key in _INHERITED if key in own})
    return _settings(
        str(own["command"]),
        merged,
        interpreter=properties.get("guard_interpreter", "default"),
        boolean=bool(properties.get("convert_boolean_return", True)),
        returns=own.get("returns"),
    )


def _settings(
    command: str, values: Dict[str, Any], *, interpreter: str, boolean: bool, returns: Any
) -> Settings:
    def text(key: str) -> Optional[str]:
        return None if values.get(key) is None else str(values[key])

    def parsed(key: str, parse: Callable[[str], Any]) -> Any:
        value = text(key)
        return None if value is None else parse(value)

    return Settings(
        command=command,
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
