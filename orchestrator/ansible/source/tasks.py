"""Tasks and blocks as written in a file: module, arguments and keywords (controller)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.key_values import key_values
from orchestrator.ansible.source.yaml_reader import Map

KEYWORDS = frozenset(
    [
        "action",
        "any_errors_fatal",
        "args",
        "async",
        "become",
        "become_exe",
        "become_flags",
        "become_method",
        "become_user",
        "changed_when",
        "check_mode",
        "collections",
        "connection",
        "debugger",
        "delay",
        "delegate_facts",
        "delegate_to",
        "diff",
        "environment",
        "failed_when",
        "ignore_errors",
        "ignore_unreachable",
        "local_action",
        "loop",
        "loop_control",
        "module_defaults",
        "name",
        "no_log",
        "notify",
        "poll",
        "port",
        "register",
        "remote_user",
        "retries",
        "run_once",
        "tags",
        "throttle",
        "timeout",
        "until",
        "vars",
        "when",
        "listen",
    ]
)
BLOCK_WORDS = frozenset(["block", "rescue", "always"])
COLLECTIONS = (
    "ansible.builtin.", "ansible.legacy.", "ansible.posix.", "community.general.",
    "community.crypto.", "community.mysql.", "ansible.mysql.", "community.postgresql.",
    "community.rabbitmq.", "community.docker.",
)  # fmt: skip
LOCAL = ("localhost", "127.0.0.1")
"""Names for the controller in ``delegate_to``."""
FREE_FORM = frozenset(["command", "shell", "raw", "script"])
COMMAND_WORDS = (
    "chdir", "creates", "executable", "expand_argument_vars", "removes", "stdin",
    "stdin_add_newline", "strip_empty_ends", "warn", "argv", "cmd", "decrypt",
)  # fmt: skip


@dataclass
class Task:
    """One task. ``source`` has the lines of its file, for the comment of an unconverted task."""

    module: str
    full_module: str
    args: dict[str, Any]
    keywords: dict[str, Any]
    path: str
    line: int
    end: int
    free_form: str = ""
    problem: str = ""
    loop: tuple[str, Any] | None = None  # the keyword and its value

    @property
    def name(self) -> str:
        """Return the displayed name, empty if it has none."""
        return str(self.keywords.get("name") or "")

    @property
    def is_local(self) -> bool:
        """Whether it runs on the controller."""
        words = self.keywords
        return words.get("delegate_to") in LOCAL or words.get("connection") == "local"

    @property
    def is_once(self) -> bool:
        """Whether it runs on only one host of the play."""
        word = str(self.keywords.get("run_once", "")).strip().lower()
        return word not in ("", "no", "off", "n", "f", "false", "0")

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of the task."""
        found = self.keywords.get("vars")
        return dict(found) if isinstance(found, dict) else {}

    @property
    def file(self) -> Any:
        """The included file, as written; None if none is named."""
        name = self.free_form or self.args.get("file") or self.args.get("_raw_params")
        return next(iter(self.args.values())) if not name and len(self.args) == 1 else name

    def with_keywords(self, **changes: Any) -> Task:
        """The same task with other keywords."""
        return replace(self, keywords={**self.keywords, **changes})


@dataclass
class Block:
    """Tasks with common keywords."""

    keywords: dict[str, Any]
    tasks: list[Task | Block]
    rescue: list[Task | Block] = field(default_factory=list)
    always: list[Task | Block] = field(default_factory=list)
    path: str = ""
    rescue_lines: tuple[int, int] = (0, 0)


_MAX_OPEN = 100
_PARTS_OF_BLOCKS = ("block", "rescue", "always")


def short_name(module: str) -> str:
    """The name of a module without its collection."""
    for prefix in COLLECTIONS:
        if module.startswith(prefix):
            return module[len(prefix) :]
    return module


def read_tasks(value: Any, path: str) -> list[Task | Block]:
    """The tasks of a file. Anything that is not a task becomes a task with a ``problem``."""
    if value is None:
        return []
    if not isinstance(value, list):
        return [_odd(value, path, "a task file must contain a list")]
    return [_read_one(one, path) for one in value]


def _odd(value: Any, path: str, problem: str) -> Task:
    line = value.line if isinstance(value, Map) else 1
    end = value.end if isinstance(value, Map) else 1
    return Task("", "", {}, {}, path, line, end, problem=problem)


def _read_one(value: Any, path: str) -> Task | Block:
    if not isinstance(value, Map):
        return _odd(value, path, "a task must be a map")
    if _has_many_open(value):
        return _odd(value, path, "templates that are not closed")
    if "block" in value:
        return _read_block(value, path)
    keywords: dict[str, Any] = {}
    loop: tuple[str, Any] | None = None
    modules: list[str] = []
    for key, one in value.items():
        if key == "loop" or key.startswith("with_"):
            loop = (key, one)
        elif key in KEYWORDS:
            keywords[key] = one
        else:
            modules.append(key)
    task = Task("", "", {}, keywords, path, value.line, value.end, loop=loop)
    for word in ("action", "local_action"):
        if word in keywords and not modules:
            return _from_action(task, word)
    if len(modules) != 1:
        task.problem = f"unknown keywords: {', '.join(modules)}" if modules else "no module"
        return task
    return _with_module(task, modules[0], value[modules[0]])


def _has_many_open(value: Map) -> bool:
    """Whether a text has many ``{{`` without a ``}}`` between them: each search for templates would
    look through the rest of it for every one.
    """
    left: list[Any] = [one for key, one in value.items() if key not in _PARTS_OF_BLOCKS]
    while left:
        one = left.pop()
        parts = one.split("}}") if isinstance(one, str) else ()
        if any(part.count("{{") > _MAX_OPEN for part in parts):
            return True
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return False


def _from_action(task: Task, word: str) -> Task:
    value = task.keywords.pop(word)
    if word == "local_action":
        task.keywords["delegate_to"] = "localhost"
    if isinstance(value, Map):
        rest = {key: one for key, one in value.items() if key != "module"}
        return _with_module(task, str(value.get("module", "")), rest)
    module, _, text = str(value).strip().partition(" ")
    return _with_module(task, module, text)


def _with_module(task: Task, module: str, value: Any) -> Task:
    task.full_module = module
    task.module = short_name(module)
    try:
        task.args, task.free_form = _arguments(task.module, value)
    except NotConvertible as error:
        task.problem = error.reason
    extra = task.keywords.pop("args", None)
    if isinstance(extra, dict):
        task.args = {**extra, **task.args}
    elif extra is not None:
        task.problem = "args is a template"
    return task


def _arguments(module: str, value: Any) -> tuple[dict[str, Any], str]:
    if value is None:
        return {}, ""
    if isinstance(value, dict):
        given = dict(value)
        free = ""
        for word in ("_raw_params", "cmd", "free_form"):
            if word in given and module in FREE_FORM:
                free = str(given.pop(word))
        return given, free
    if isinstance(value, list):
        if module == "meta":
            raise NotConvertible("several actions")
        return {"_list": value}, ""
    text = str(value)
    if module in FREE_FORM:
        found, rest = key_values(text, COMMAND_WORDS)
        return dict(found), rest
    found, rest = key_values(text)
    return dict(found), rest


def _read_block(value: Map, path: str) -> Block:
    parts = {word: read_tasks(value.get(word), path) for word in BLOCK_WORDS}
    keywords = {key: one for key, one in value.items() if key not in BLOCK_WORDS}
    block = Block(keywords, parts["block"], parts["rescue"], parts["always"], path)
    if "rescue" in value:
        later = [n for key, n in value.lines.items() if n > value.lines["rescue"]]
        block.rescue_lines = (value.lines["rescue"], min(later, default=value.end + 1) - 1)
    return block


_INHERITED = (
    "become", "become_user", "delegate_to", "ignore_errors", "environment", "run_once", "no_log",
    "collections", "module_defaults", "connection", "any_errors_fatal", "check_mode",
)  # fmt: skip


def flat(tasks: list[Task | Block]) -> list[Task]:
    """The tasks, with blocks replaced by their tasks."""
    found: list[Task] = []
    for one in tasks:
        if isinstance(one, Block):
            found += flat([*one.tasks, *one.rescue, *one.always])
        else:
            found.append(one)
    return found


def listed(value: Any) -> list[Any]:
    """A value as a list: empty for None, and a single value as its only entry."""
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list) else [value]


def _vars(value: Any) -> dict[str, Any]:
    """Return variables as a map, including variables in a list of maps."""
    found: dict[str, Any] = {}
    for one in listed(value):
        if isinstance(one, dict):
            found.update(one)
    return found


def inherit(keywords: dict[str, Any], outer: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a task within a block or an include that has keywords."""
    result = dict(keywords)
    when = listed(outer.get("when")) + listed(keywords.get("when"))
    if when:
        result["when"] = when
    tags: list[Any] = []
    for one in (outer, keywords):
        for tag in listed(one.get("tags")):
            tags += tag.split(",") if isinstance(tag, str) else [tag]
    if tags:
        result["tags"] = tags
    notify = listed(outer.get("notify")) + listed(keywords.get("notify"))
    if notify:
        result["notify"] = notify
    for word in _INHERITED:
        if word in outer and word not in keywords:
            result[word] = outer[word]
    variables = {**_vars(outer.get("vars")), **_vars(keywords.get("vars"))}
    if variables:
        result["vars"] = variables
    return result
