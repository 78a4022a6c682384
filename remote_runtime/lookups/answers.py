"""Answers one lookup (target): a command, a file, the status of a path, or the answers of a type.

A question is a rendered declaration of the manifest: its ``kind``, its subject ``of``, and for a
command how it runs. An answer has texts, numbers and booleans by name, or only an ``error``. The
host is read through the context, so that a preview can ask again over the overlay.
"""

from typing import TYPE_CHECKING, Any, Dict

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ProtocolError, ResourceError
from remote_runtime.plan_item import Item

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.registry import Registry
    from remote_runtime.system.process.commands import Result

Question = Dict[str, Any]
Answer = Dict[str, Any]

MAX_SECONDS = 10.0  # maximum seconds of one command
LARGEST = 1 << 20  # bytes of a file, and of each output of a command
_COMMAND, _FILE, _STAT = "command", "file", "stat"
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # the exit codes of shells


def answer(question: Question, context: "Context", registry: "Registry") -> Answer:
    """Return the answer, or the ``error`` with the reason. ``Unknowable`` in a preview."""
    kind, of = question["kind"], question["of"]
    try:
        if kind == _COMMAND:
            return _command(question, context)
        if kind == _FILE:
            return _file(of, context)
        if kind == _STAT:
            return _status(of, context)
        lookup_answer = registry.create(item_of(question)).answer()
    except ResourceError as error:
        if isinstance(error, Unknowable):
            raise
        return {"error": error.message}
    if lookup_answer is None:
        raise ProtocolError("there is no lookup %r" % kind)
    return lookup_answer


def item_of(question: Question) -> Item:
    """Return the resource to which a question about a type refers."""
    return Item(index=0, type=question["kind"], name=question["of"], properties={})


def is_of_type(question: Question) -> bool:
    """Return whether a type of resource has lookups."""
    return question["kind"] not in (_COMMAND, _FILE, _STAT)


def _file(path: str, context: "Context") -> Answer:
    status = context.files.status(path, follow=True)
    if status is None:
        return {"exists": False, "content": ""}
    if status.kind != "file":
        raise ResourceError("%s is not a regular file (%s)" % (path, status.kind))
    data = context.files.read(path, LARGEST, follow=True)
    try:
        return {"exists": True, "content": data.decode("utf-8")}
    except UnicodeDecodeError as error:
        raise ResourceError("%s is not UTF-8 text (at byte %d)" % (path, error.start)) from error


def _status(path: str, context: "Context") -> Answer:
    """Return the status of a path; the size is reported only for files, because that of a directory
    depends on the file system.
    """
    status = context.files.status(path)
    if status is None:
        attributes = dict.fromkeys(("mode", "owner", "group", "target"), "")
        return dict(attributes, exists=False, kind="absent", size=0)
    return {
        "exists": True,
        "kind": status.kind,
        "mode": "%04o" % (status.mode & 0o7777),
        "owner": context.accounts.user_name(status.uid),
        "group": context.accounts.group_name(status.gid),
        "size": status.size if status.kind == "file" else 0,
        "target": context.files.link(path) if status.kind == "symlink" else "",
    }


def _command(question: Question, context: "Context") -> Answer:
    from remote_runtime.host.command_ports import of_guard

    command = of_guard(dict(question, command=question["of"]), {}, "posix")
    timeout = min(command.timeout or MAX_SECONDS, MAX_SECONDS)
    commands = context.user_commands
    words = command.start(commands.find).argv
    message, _ = commands.lacking(words[0], command.path, command.cwd)
    if message:
        there = message.endswith("is not an executable file")
        code = NOT_EXECUTABLE if there else NOT_FOUND
        return {"exit_code": code, "stdout": "", "stderr": message + "\n"}
    result = commands.run(
        words,
        cwd=command.cwd,
        env=command.environment,
        path=command.path,
        timeout=timeout,
        user=command.user,
        group=command.group,
        umask=command.umask,
        limit=2 * (LARGEST + 1),  # so that one that is too long is detected
    )
    if result.timed_out:
        raise ResourceError(result.ending(timeout))
    return _of_result(result)


def _of_result(result: "Result") -> Answer:
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if len(text.encode("utf-8", "surrogateescape")) > LARGEST:
            raise ResourceError("its %s is larger than %d MiB" % (name, LARGEST >> 20))
    return {"exit_code": result.code, "stdout": result.stdout, "stderr": result.stderr}
