"""``find`` and ``tempfile`` (controller)."""

import re
from dataclasses import replace

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import is_template, only_expression, path_of, tree_of
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.modules.guarded_commands import shell, words
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, shell_word
from orchestrator.ansible.output.manifest_entries import Entry, slug
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task

_KINDS = {"file": "-type f", "directory": "-type d", "link": "-type l", "any": ""}
_COMMA = nodes.Const(",")
_OR = "-o -name"
_ONE_LINE = '! -path "*[[:cntrl:]]*"'  # else a user could put any path on a line of its own
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SIZES = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def found_files(arguments: Arguments) -> str:
    """Return a command that lists the paths that the module finds, one per line, without those with
    control characters. NotConvertible.
    """
    arguments.refuse("contains", "read_whole_file", "mode", "exact_mode", "encoding", "limit",
                 unless=(False, True))  # fmt: skip
    arguments.refuse("age_stamp", unless=("mtime",))
    arguments.ignore("get_checksum", "checksum_algorithm")
    for one in ("paths", "path", "name"):
        _join_in_command(arguments, one, "", regex=False)
    paths = " ".join(shell_word(one) for one in arguments.listed("paths", "path", "name"))
    kind = arguments.literal("file_type", default="file")
    if kind not in _KINDS or not paths:
        raise NotConvertible(f"find of the type {kind}")
    depth = arguments.text("depth")
    if not arguments.flag("recurse", default=False):
        depth = "1"
    sign = "-regex" if arguments.flag("use_regex", default=False) else "-name"
    start = ".*/" if sign == "-regex" else ""
    regex = arguments.raw("use_regex") is not None
    for one in ("patterns", "pattern"):
        _join_in_command(arguments, one, _OR, regex)
    for one in ("excludes", "exclude"):
        _join_in_command(arguments, one, "! -name", regex)
    patterns = [one for one in arguments.listed("patterns", "pattern") if one != "*"]
    names = [f"{sign} {shell_word(start + one.lstrip('^'))}" for one in patterns]
    many = len(names) > 1 or _OR in "".join(names)
    either = f"\\( {' -o '.join(names)} \\)" if many else "".join(names)
    excluded = [f"! {sign} {shell_word(one)}" for one in arguments.listed("excludes", "exclude")]
    hidden = "" if arguments.flag("hidden", default=False) else '! -name ".*"'
    line = words(
        "find", "-L" if arguments.flag("follow", default=False) else "", paths, "-mindepth 1",
        f"-maxdepth {depth}" if depth else "", _KINDS[kind], either, *excluded, hidden,
        _age(arguments), _size(arguments), _ONE_LINE,
    )  # fmt: skip
    return shell(f"{line} 2>/dev/null || true")


def search_of_all(task: Task) -> Task | None:
    """A loop over a list that is not literal, each element of it a path, as one search of all
    paths; None for other loops.
    """
    assert task.loop is not None
    word, value = task.loop
    control = task.keywords.get("loop_control") or {}
    given = [one for one in ("paths", "path", "name") if one in task.args]
    paths = only_expression(task.args[given[0]]) if given and is_template(value) else None
    if not isinstance(control, dict) or control.get("index_var") or paths is None:
        return None
    variable = str(control.get("loop_var", "item"))
    others = repr({key: one for key, one in task.args.items() if key != given[0]})
    if path_of(paths) != (variable, []) or re.search(rf"\b{variable}\b", others):
        return None
    if word not in ("loop", "with_items", "with_flattened", "with_list"):
        return None
    whole = nodes.Filter(tree_of(value), "flatten", [], [], None, None)
    args = {**task.args, given[0]: "{{ " + unparse(whole) + " }}"}
    return replace(task, args=args, loop=None)


def _join_in_command(arguments: Arguments, name: str, between: str, regex: bool) -> None:
    """Write words that a variable holds as a list, or joins with commas, as words of the command.
    NotConvertible.
    """
    value = arguments.raw(name)
    node = only_expression(value) if is_template(value) else None
    if node is None:
        return
    if isinstance(node, nodes.Filter) and node.name == "join" and node.args == [_COMMA]:
        given = node.node
    elif arguments.sample(name).all_kinds() == {"text"}:
        return
    else:  # a list, or a string, which is a list of one
        given = nodes.Filter(nodes.List([node]), "flatten", [], [], None, None)
    if regex:
        raise NotConvertible(f"{name} of find from a list")
    separator: list[nodes.Expr] = [nodes.Const(f'" {between} "' if between else '" "')]
    joined = nodes.Filter(given, "join", separator, [], None, None)
    arguments.replace(name, "{{ " + unparse(joined) + " }}")


def _age(arguments: Arguments) -> str:
    value = arguments.text("age")
    if value is None:
        return ""
    match = re.fullmatch(r"(-?)(\d+)([smhdw]?)", value)
    if match is None:
        raise NotConvertible(f"the age {value}")
    minutes = int(match.group(2)) * _UNITS[match.group(3) or "s"] // 60
    return f"-mmin {'-' if match.group(1) else '+'}{minutes}"


def _size(arguments: Arguments) -> str:
    value = arguments.text("size")
    if value is None:
        return ""
    match = re.fullmatch(r"(-?)(\d+)([bkmgt]?)", value.lower())
    if match is None:
        raise NotConvertible(f"the size {value}")
    number = int(match.group(2)) * _SIZES[match.group(3)]
    return f"-size -{number + 1}c" if match.group(1) else f"-size +{max(number - 1, 0)}c"


def temporary_path(task: Task) -> str:
    """Return the path that replaces a temporary file, the same on each push."""
    return f"/var/tmp/ccm-{slug(str(task.keywords.get('register') or task.name))}"


@maps("tempfile")
def tempfile(context: Context, arguments: Arguments) -> list[Entry]:
    """A temporary file or directory, under a fixed name."""
    state = arguments.literal("state", default="file")
    arguments.ignore("path", "prefix", "suffix")
    if state not in ("file", "directory"):
        raise NotConvertible(f"ccm has no equivalent of state {state}")
    path = temporary_path(context.task)
    context.files.temporary.add(path)
    context.check(f"its path is {path}; the original uses a different one on each run")
    line = f"install -d -m 0700 {path}"
    if state == "file":
        line = f"install -m 0600 /dev/null {path}"
    return [context.exec(f"make {path}", {"command": line})]
