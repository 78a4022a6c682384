"""Reads the project file and checks it (controller)."""

import os
from typing import Any
from urllib.parse import urlsplit

import schemas
from inventory.yaml_document import (
    Mapping,
    Node,
    Scalar,
    Sequence,
    ambiguous_values,
    node_at,
    read_document,
    to_plain,
)
from orchestrator.project.discovery import ProjectFile
from orchestrator.project.settings import SETTINGS, PositionedValue, Project
from orchestrator.sources.address import is_url
from orchestrator.support.durations import parse_seconds
from remote_runtime.errors import InputError, Problem
from remote_runtime.text import duration


def read_project(found: list[ProjectFile]) -> Project:
    """Return the content of the project file that ``project_files`` found.

    InputError with every mistake in it, or if there are two different ones.
    """
    read = [(file, _read(file)) for file in found]
    if len(read) > 1 and _values(read[0][1]) != _values(read[1][1]):
        paths = [file.path for file, _ in read]
        message = f"{paths[0]} and {paths[1]} differ, but a project has only one such file"
        hint = "change to the directory of the manifest, or remove one of them"
        raise InputError([Problem(message, None, hint, "input.project")])
    return read[0][1]


def project_notes(found: list[ProjectFile]) -> list[Problem]:
    """A note for each place in these files that YAML 1.1 would read differently."""
    return [note for file in found for note in ambiguous_values(read_document(file.path, []))]


def _values(project: Project) -> Any:
    """The values, at any depth."""
    settings = {name: _real(name, value) for name, (value, _) in project.settings.items()}
    rollouts = {
        name: {
            key: value if isinstance(value, bool) else [word.value for word in value]
            for key, (value, _) in options.items()
        }
        for name, options in project.rollouts.items()
    }
    return settings, rollouts, {**project.secrets}, {**project.history_token}


def _real(name: str, value: Any) -> Any:
    if isinstance(value, list) and name != "source_hosts":
        return [one if is_url(one) else os.path.realpath(one) for one in value]
    return os.path.realpath(value) if name == "data_dir" else value


def _read(file: ProjectFile) -> Project:
    problems: list[Problem] = []
    root = read_document(file.path, problems)
    problems += _complaints(root)
    if not problems and isinstance(root, Mapping):
        problems += [*_logins(root), *_missing_data(root, file.directory), *_bad_durations(root)]
    if problems:
        raise InputError(sorted(problems, key=lambda one: one.where[1:] if one.where else (0, 0)))
    if not isinstance(root, Mapping):
        return Project()
    settings = {
        setting.name: PositionedValue(_value(setting.name, node, file.directory), node.position)
        for setting in SETTINGS
        if setting.in_file and (node := root.get(setting.word)) is not None
    }
    rollouts = root.get("rollouts")
    named = rollouts.entries if isinstance(rollouts, Mapping) else {}
    keys = root.get("secrets")
    return Project(
        settings,
        {name: _rollout(node) for name, (_, node) in named.items()},
        _secrets(to_plain(keys), file.directory) if isinstance(keys, Mapping) else {},
        os.path.abspath(file.directory),
        _history_token(root.get("history_token"), file.directory),
    )


def _history_token(node: Node | None, directory: str) -> dict[str, str]:
    """The source of the token for the history, with an absolute path."""
    written = to_plain(node) if isinstance(node, Mapping) else {}
    if "file" in written:
        return {"file": os.path.abspath(_directory(written["file"], directory))}
    return dict(written)


def _secrets(written: dict[str, Any], directory: str) -> dict[str, Any]:
    """The keys of secrets with absolute paths, lists and seconds."""
    vault, age = dict(written.get("vault") or {}), dict(written.get("age") or {})
    ids = {name: _password(one, directory) for name, one in (vault.get("ids") or {}).items()}
    vault = {**_password(vault, directory), **({"ids": ids} if ids else {})}
    listed = {key: [one] if isinstance(one, str) else one for key, one in age.items()}
    if "identity" in listed:
        listed["identity"] = [_directory(one, directory) for one in listed["identity"]]
    commands = {}
    for name, one in (written.get("cmd") or {}).items():
        one = {"command": one} if isinstance(one, str) else one
        seconds = (parse_seconds(str(one["timeout"])),) if "timeout" in one else ()
        commands[name] = (one["command"], *seconds)
    return {"vault": vault, "age": listed, "cmd": commands}


def _password(one: Any, directory: str) -> dict[str, Any]:
    """The source of a password; plain text is the name of its file."""
    found = {"password_file": one} if isinstance(one, str) else dict(one)
    if "password_file" in found:
        found["password_file"] = _directory(found["password_file"], directory)
    return {key: found[key] for key in ("password_file", "command") if key in found}


def _bad_durations(root: Mapping) -> list[Problem]:
    found: list[Problem] = []
    age = root.get("facts_max_age")
    if isinstance(age, Scalar):
        try:
            duration.parse(age.text)
        except ValueError:
            message = f"facts_max_age must be a duration, not {age.text[:40]!r}"
            found.append(Problem(message, age.position, "write 1h, 10m or 0s", "input.project"))
    keys = root.get("secrets")
    commands = keys.get("cmd") if isinstance(keys, Mapping) else None
    for _, one in commands.pairs() if isinstance(commands, Mapping) else ():
        node = one.get("timeout") if isinstance(one, Mapping) else None
        if isinstance(node, Scalar):
            try:
                parse_seconds(node.text)
            except ValueError as error:
                found.append(Problem(str(error), node.position, "as 10s or 2m", "input.project"))
    return found


def _rollout(node: Node) -> dict[str, PositionedValue]:
    """The options of one rollout, in the words that flags accept, so 22:00 is not read as
    a number.
    """
    entries = node.entries if isinstance(node, Mapping) else {}
    return {
        key: PositionedValue(_words(value), value.position) for key, (_, value) in entries.items()
    }


def _words(node: Node) -> bool | list[PositionedValue]:
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    return words_of(node)


def words_of(node: Node) -> list[PositionedValue]:
    """A word or a list of words, in the form that flags accept."""
    nodes = node.nodes if isinstance(node, Sequence) else [node]
    return [PositionedValue(one.text, one.position) for one in nodes if isinstance(one, Scalar)]


def _value(name: str, node: Node, directory: str) -> Any:
    if name == "registration":
        text = str(to_plain(node))
        return text if "://" in text else _path(text, directory)
    if name == "history" and not is_url(str(to_plain(node))):
        return os.path.abspath(_directory(str(to_plain(node)), directory))
    if name == "data_dir":
        return _directory(str(to_plain(node)), directory)
    if name in ("inventory", "hiera", "source_hosts"):
        entries = node.nodes if isinstance(node, Sequence) else [node]
        texts = [entry.text for entry in entries if isinstance(entry, Scalar)]
        return texts if name == "source_hosts" else [_path(text, directory) for text in texts]
    return to_plain(node)


def _path(text: str, directory: str) -> str:
    """A path relative to the file's directory; names separated by commas are hosts."""
    if is_url(text):
        return text
    path = os.path.normpath(os.path.join(directory, os.path.expanduser(text)))
    return text if "," in text and not os.path.exists(path) else path


def _directory(text: str, directory: str) -> str:
    return os.path.normpath(os.path.join(directory, os.path.expanduser(text)))


def _missing_data(root: Mapping, directory: str) -> list[Problem]:
    node = root.get("data")
    if not isinstance(node, Scalar) or os.path.isdir(_directory(node.text, directory)):
        return []
    message = f"the data directory {_directory(node.text, directory)} does not exist"
    hint = "create it, or specify the directory that contains default.yaml"
    return [Problem(message, node.position, hint, "input.project")]


def _logins(root: Mapping) -> list[Problem]:
    found = []
    variables = {
        "registration": "CCM_REGISTRATION",
        "nats": "CCM_NATS",
        "history": "CCM_HISTORY_TOKEN",
    }
    for name, variable in variables.items():
        node = root.get(name)
        if isinstance(node, Scalar) and "://" in node.text and "@" in urlsplit(node.text).netloc:
            hint = f"the file is shared with others: set the credentials in {variable}"
            found.append(
                Problem(f"{name} contains credentials", node.position, hint, "input.secret")
            )
    return found


def _complaints(root: Node) -> list[Problem]:
    """The violations of the schema, each with its position."""
    from orchestrator.manifest.checks.schema_errors import SchemaValidator

    found = []
    for one in SchemaValidator(schemas.load("project"))(to_plain(root), "the project file"):
        where = node_at(root, one.path, of_key=one.unknown_key).position
        hint = one.hint
        if one.path[:1] == ("ccm",):
            hint = "this is a manifest: rename it, for example to site.yaml"
        elif one.path[:1] == ("signers",):
            hint = "a checkout must not list approvers: use --signers or CCM_SIGNERS"
        found.append(Problem(one.message, where, hint, "input.project"))
    return found
