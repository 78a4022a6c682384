"""The context of a module's mapper, in addition to the arguments (controller)."""

import os
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task

DIRECTORIES = frozenset(
    [
        "/",
        "/tmp",
        "/opt",
        "/etc",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/usr/local/src",
        "/usr/src",
        "/usr/bin",
        "/usr/sbin",
        "/root",
        "/var/tmp",
        "/srv",
        "/usr/share",
        "/var/lib",
        "/var/cache",
        "/usr/local",
        "/usr/local/lib",
        "/usr/local/share",
        "/etc/profile.d",
        "/etc/cron.d",
        "/etc/apt/keyrings",
        "/usr/share/keyrings",
        "/etc/apt/trusted.gpg.d",
        "/etc/systemd/system",
        "/lib/systemd/system",
        "/usr/lib/systemd/system",
        "/etc/sudoers.d",
        "/etc/init.d",
        "/etc/logrotate.d",
        "/etc/yum.repos.d",
        "/etc/apt/sources.list.d",
        "/etc/default",
        "/etc/security",
        "/etc/security/limits.d",
        "/etc/sysctl.d",
        "/etc/systemd",
        "/home",
        "/usr",
        "/usr/lib",
        "/var",
        "/var/log",
        "/var/spool",
    ]
)
"""Directories that every host has, or that contain only files."""

_OWN_COMMANDS = ("command", "shell", "raw", "script")  # modules whose command is the original's
_COMMANDS = ("command", "unless", "onlyif")


@dataclass
class Files:
    """The directories where a role or playbook keeps its files, and the base of written paths."""

    base: Path  # of the role or the playbook
    prefix: str  # of the same in paths of the manifest
    used: dict[str, Path] = field(default_factory=dict)  # paths of the manifest, and the originals
    texts: dict[str, str] = field(default_factory=dict)  # of templates, as they are written
    problems: dict[str, str] = field(default_factory=dict)
    given: dict[str, set[str]] = field(default_factory=dict)  # names that calls of a template pass
    temporary: set[str] = field(default_factory=set)  # paths that a task creates temporarily
    # paths of the controller that each host makes for itself
    on_hosts: set[str] = field(default_factory=set)

    def is_on_hosts(self, path: str) -> bool:
        """Whether a path on the controller is in a directory that differs on each host."""
        return any(path == one or path.startswith(one.rstrip("/") + "/") for one in self.on_hosts)

    def find(self, kind: str, name: str) -> tuple[str, Path] | None:
        """Return the path of a file in the manifest, and the original; None if it is missing."""
        if name.startswith(("/", "~")):
            return None
        for folder in (kind, ""):
            original = self.base / folder / name
            if os.path.exists(original) and self.holds(original):
                written = posixpath.normpath(posixpath.join(self.prefix, folder or kind, name))
                return written, original
        return None

    def holds(self, path: Path) -> bool:
        """Whether a path belongs to the project. Symlinks that lead outside it do not."""
        return _inside(self.base, path)

    def take(self, written: str, original: Path) -> None:
        """Record a file that the manifest needs."""
        self.used[written] = original


def _inside(base: Path, path: Path) -> bool:
    try:
        path.resolve().relative_to(base.resolve())
    except ValueError:
        return False
    return True


def is_vaulted(path: Path) -> bool:
    """Whether a file is encrypted with ansible-vault; False if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(15) == b"$ANSIBLE_VAULT;"
    except OSError:
        return False


@dataclass
class Context:
    """One task during its conversion."""

    task: Task
    scope: Scope
    files: Files
    names: Callable[[str], str]  # makes a name of an exec unique
    directories: set[str] = field(default_factory=set)
    become_user: str | None = None
    environment: list[str] = field(default_factory=list)
    environment_map: str = ""  # an expression whose result is a map of further variables
    looped: bool = False
    checks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cache_valid: str = ""  # update_cache of packages
    on_found: bool = False  # whether the elements of its loop are on the host already
    template_variables: dict[str, Any] = field(default_factory=dict)
    template_header: str = ""  # a first line of templates that sets how blanks are read
    template_problems: dict[str, str] = field(default_factory=dict)
    requests: dict[str, Any] = field(default_factory=dict)
    needed: list[str] = field(default_factory=list)  # conditions without which it has no resource

    def check(self, text: str) -> None:
        """Mark a difference from the original."""
        if text not in self.checks:
            self.checks.append(text)

    def note(self, text: str) -> None:
        """Add an explanation to the resource."""
        if text not in self.notes:
            self.notes.append(text)

    def title(self, fallback: str) -> str:
        """The name of the task, or another text, as the name of a resource."""
        name = re.sub(r"\s+", " ", self.task.name).strip()
        if not name:
            return fallback
        if "{{" in name or "{%" in name:
            from orchestrator.ansible.jinja import text_rewriter

            try:
                return text_rewriter.text(name, self.scope)
            except NotConvertible:
                return fallback
        from orchestrator.ansible.jinja.text_rewriter import plain_text

        return plain_text(name)

    def unique(self, name: str) -> str:
        """A name that no other exec in the manifest has."""
        if self.looped and "{{" not in name:
            name = f"{name}: {{{{ item if item is string else index }}}}"
        return self.names(name)

    def exec(self, title: str, properties: dict[str, Any], sensitive: bool = False) -> Entry:
        """A command with the name of the task, or with this title if it has none."""
        return Entry("exec", self.unique(self.title(title)), properties, sensitive=sensitive)

    def require_quoted(self, entries: list[Entry], is_answer: Callable[[str], bool]) -> None:
        """NotConvertible if a shell would read an answer of the host as more than one word: a user
        there may choose it, such as the name of a file. ``is_answer`` tells it of data.
        """
        names = _COMMANDS[1:] if self.task.module in _OWN_COMMANDS else _COMMANDS
        commands = [one.properties for one in entries if one.type in ("exec", "wait")]
        texts = [str(one.get(name, "")) for one in commands for name in names]
        for one in re.findall(r"\{\{(.*?)\}\}", "\n".join(texts), re.DOTALL):
            answered = "Asked." in one or (self.on_found and re.search(r"\bitem\b", one))
            answered = answered or any(map(is_answer, re.findall(r"\bData\.(\w+)", one)))
            if answered and not one.rstrip().endswith("| quote"):
                raise NotConvertible("a command with text that only the host has")

    def user(self) -> dict[str, Any]:
        """The property ``user`` of a command that does not run as root."""
        return {} if self.become_user in (None, "root") else {"user": self.become_user}

    def is_directory(self, path: str) -> bool:
        """Whether a path on the target is a directory, if known."""
        return path.rstrip("/") in DIRECTORIES or path in self.directories

    def as_root(self) -> None:
        """NotConvertible if the task runs as a user other than root."""
        if self.user():
            raise NotConvertible(
                f"become_user {self.become_user} for the module {self.task.module}"
            )


Mapper = Callable[[Context, Any], list[Entry]]

MAPPERS: dict[str, Mapper] = {}
"""The mapper of each module."""


def maps(
    *modules: str, root: bool = False, refused: str = "", unless: Any = (), ignored: str = ""
) -> Callable[[Mapper], Mapper]:
    """Register the modules that a function converts, which may need ``root``.

    ``refused`` and ``ignored`` are names of parameters: those without an equivalent, if their value
    is not one of ``unless``, and those that make no difference.
    """

    def register(mapper: Mapper) -> Mapper:
        """Register a function for these modules, with the checks of their parameters."""

        def convert(context: Context, arguments: Any) -> list[Entry]:
            if root:
                context.as_root()
            arguments.refuse(*refused.split(), unless=unless)
            arguments.ignore(*ignored.split())
            return mapper(context, arguments)

        MAPPERS.update(dict.fromkeys(modules, convert))
        return convert

    return register


def clean_path(text: str) -> str:
    """A path in ccm's form: without a trailing slash, doubled slashes and dots."""
    if text.startswith("~"):
        raise NotConvertible(f"the path {text} in the home directory of a user")
    if "{{" in text or "${" in text:
        return re.sub(r"(?<=.)/+$", "", text)
    if not text.startswith("/"):
        raise NotConvertible(f"the path {text} is not absolute")
    path = posixpath.normpath(text)
    return re.sub(r"^//+", "/", path)


def base_name(source: str) -> str:
    """Return the file name in a path that may contain expressions; "" if it is unknown."""
    parts: list[str] = re.findall(r"\{\{.*?\}\}|[^{]+|\{", source)
    name = ""
    for one in reversed(parts):
        if not one.startswith("{{"):
            _, sign, last = one.rpartition("/")
            name = last + name
            if sign:
                return name
        elif name or one != parts[0]:
            name = one + name
        else:
            return "{{ (" + one[2:-2].strip() + ") | basename }}"
    return name
