"""Options of a command line: each in one place, and beyond it nobody knows of a parser."""

import ast
import re
from collections import Counter
from typing import Any

import schemas
from orchestrator.cli.command_lookup import build_parser, load_command
from orchestrator.cli.run_request import read_request
from orchestrator.project.settings import ROLLOUT
from remote_runtime.options import RunOptions
from tests.architecture.source import ROOT, modules, nodes, parsed, shown

CLI = ROOT / "orchestrator" / "cli"
PARSER = CLI / "parser.py"  # makes the namespaces


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Every function below a node."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def takes_words(function: ast.FunctionDef) -> bool:
    """Whether a function takes or makes what a parser read, or names it."""
    given = function.args
    names = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return "args" in names or any(
        isinstance(node, ast.Attribute) and node.attr == "Namespace" for node in ast.walk(function)
    )


COMMAND_FILES = {
    path
    for path in CLI.glob("*.py")
    if any(one.name == "run" and takes_words(one) for one in functions(parsed(path)))
}


def test_a_parsers_words_end_in_the_file_of_their_command() -> None:
    """Elsewhere only read_X takes a Namespace, beside the add_X that says what is in it."""
    beyond = [
        f"{shown(path)}:{function.lineno} {function.name}"
        for path in modules("orchestrator")
        if path not in COMMAND_FILES | {PARSER}
        for function in functions(parsed(path))
        if takes_words(function) and not function.name.startswith("read_")
    ]
    assert beyond == []


def test_a_command_hands_its_words_to_readers_only() -> None:
    """A command's file gives ``args`` to its own functions and to read_X, and to nothing else."""
    beyond = []
    for path in sorted(COMMAND_FILES):
        own = {function.name for function in functions(parsed(path))}
        for node in nodes(path):
            if isinstance(node, ast.Call) and any(
                isinstance(one, ast.Name) and one.id == "args" for one in node.args
            ):
                called = ast.unparse(node.func).rpartition(".")[2]
                if called not in own | {"getattr"} and not called.startswith("read_"):
                    beyond.append(f"{shown(path)}:{node.lineno} {called}")
    assert beyond == []


def test_what_is_read_is_added_beside_it() -> None:
    """Each read_X that commands share has its add_X in the same module, but for general ones."""
    for path in set(CLI.glob("*.py")) - COMMAND_FILES - {PARSER}:
        names = {function.name for function in functions(parsed(path))}
        read = {name.removeprefix("read_") for name in names if name.startswith("read_")}
        general = {"answers", "fields", "past", "request", "run_source"}
        assert {f"add_{name}" for name in read - general} <= names, path


def test_an_option_of_a_run_is_a_flag_and_a_field() -> None:
    """Of each field one flag of push has the name, which is all that reads and keeps it."""
    parser = build_parser("push", load_command("push"))
    flags = Counter(action.dest for action in parser.arguments)
    of_commands = ("status_only", "drift", "adhoc")  # ccm status, ccm drift and ccm run are so
    fields = [name for name in RunOptions._fields if name not in of_commands]
    assert {name: flags[name] for name in fields} == dict.fromkeys(fields, 1)
    words = parser.parse(["-i", "hosts.yaml", "site.yaml"])
    given: dict[str, Any] = {name: object() for name in fields}
    vars(words).update(given)
    options = read_request(words, "push")
    assert options.run == RunOptions(**given)
    assert {name: options.record()[name] for name in fields} == given


def test_an_option_of_a_rollout_stands_in_the_projects_file() -> None:
    """Each option of a rollout but the one that names it is a key of schemas/project.json."""
    parser = build_parser("push", load_command("push"))
    (group,) = (one for one in parser.groups if one.title == ROLLOUT)
    options = {action.dest for action in group.arguments} - {ROLLOUT}
    assert set(schemas.load("project")["$defs"]["rollout"]["properties"]) == options


def test_the_record_of_a_run_holds_no_value_of_data() -> None:
    """What was given by --data and --fact may be secret; a store of registrations has a login."""
    words = "-i hosts.yaml --data a.b=x1 --fact c=x2 --registration nats://u:x3@h/S site.yaml"
    parser = build_parser("push", load_command("push"))
    record = read_request(parser.parse(words.split()), "push").record()
    assert (record["data"], record["fact"]) == (["a.b"], ["c"])
    assert not {"x1", "x2", "x3"} & set(re.findall(r"x\d", str(record)))
