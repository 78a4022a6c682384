"""``include_vars`` and ``set_fact``, and files whose names depend on facts (controller)."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.conversion import looped_vars
from orchestrator.ansible.conversion.manifest_context import Choice, Conversion
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.fact_file_names import (
    CASES,
    has_known_facts,
    own_expression,
    own_values,
    parts_of_name,
)
from orchestrator.ansible.jinja.parsing import (
    in_role,
    is_template,
    names_in,
    only_expression,
    outputs,
    path_of,
    tree_of,
)
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.output.manifest_entries import CHECK, Record, both, slug
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task, listed
from orchestrator.ansible.source.yaml_reader import Map, VaultFileError, is_readable, read_map
from remote_runtime.errors import CcmError


@dataclass
class Candidate:
    """A file name with the values of the facts in it."""

    path: Path
    name: str
    facts: tuple[tuple[str, str], ...]  # the words of the fact, and its value for Ansible


def include_vars(builder: Conversion, task: Task, record: Record) -> None:
    """Files of variables, as entries of the hierarchy."""
    if task.args.get("dir") is not None:
        raise NotConvertible("include_vars with dir")
    if task.args.get("name") is not None:
        _note_named(builder, task, record)
        return
    if task.loop is not None and not task.loop[0].endswith("first_found"):
        _in_loop(builder, task, record)
        return
    names, first_found = _names(task)
    if first_found:
        names = _with_known_facts(builder, record, names)
    fine, count = _may_find_none(task), len(builder.includes)
    read_before = builder.scope.uses.data & builder.project_variables
    said = _of_names(builder, task, record=record, names=names, first_found=first_found, fine=fine)
    files = [one for choice in builder.includes[count:] for one in choice.files.values()]
    if changed := sorted(read_before & {name for one in files for name in one}):
        text = f"earlier tasks read this value of {', '.join(changed)}, too"
        builder.comment(record, f"{text}; in the original, they read the earlier one")
    builder.report(task, record, said or "not needed: the role has none of these files")


_EACH_KEY = re.compile(r"""\{\{\s*item\.key\s*\}\}["']?\s*:\s*["']?\{\{\s*item\.value\s*\}\}""")
_UNSET_KEY = (
    *("item.key not in vars", "not item.key in vars", "vars[item.key] is not defined"),
    *("vars[item.key] is undefined", "not vars[item.key] is defined"),
)


def _note_named(builder: Conversion, task: Task, record: Record) -> None:
    """Variables in a map, which a later task sets one by one. NotConvertible for other uses."""
    name = str(task.args["name"])
    builder.scope.uses.broken[name] = f"it uses {name}, a map of all variables of a file"
    if not _EACH_KEY.search(builder.sources) or is_template(name):
        raise NotConvertible("include_vars with name")
    builder.named[name] = task
    builder.report(task, record, "its variables are set by a later task")


def set_each(builder: Conversion, task: Task, record: Record) -> None:
    """``set_fact`` of each variable in a map that ``include_vars`` has read. NotConvertible."""
    try:
        _set_each(builder, task, record)
    except NotConvertible:
        for one in builder.named.values():
            note_broken(builder, one)
        raise


def _set_each(builder: Conversion, task: Task, record: Record) -> None:
    value = task.loop[1] if task.loop is not None else ""
    node: Any = only_expression(value) if is_template(value) else None
    if isinstance(node, nodes.Filter) and node.name == "dict2items":
        node = node.node
    path = path_of(node) if node is not None else None
    file_task = builder.named.get(path[0]) if path is not None and not path[1] else None
    given = {key: one for key, one in task.args.items() if key != "cacheable"}
    if file_task is None or not _EACH_KEY.fullmatch("".join(f"{k}:{v}" for k, v in given.items())):
        raise NotConvertible("set_fact with a computed name")
    when = [" ".join(str(one).split()) for one in listed(task.keywords.get("when"))]
    weak = [one for one in when if one in _UNSET_KEY]
    own = listed(file_task.keywords.get("when"))
    if any("item" in one for one in when if one not in weak):
        raise NotConvertible("set_fact with a computed name, under a condition on it")
    whole = file_task.with_keywords(
        when=[*own, *[one for one in when if one not in weak and one not in own]]
    )
    whole.args = {key: one for key, one in file_task.args.items() if key != "name"}
    if _conditions(builder, whole)[1] and not any(map(is_template, _names(whole)[0])):
        raise NotConvertible("set_fact with a computed name, under a condition")
    before = len(builder.includes)
    include_vars(builder, whole, record)
    for choice in builder.includes[before:]:
        choice.weak = bool(weak)


def _with_known_facts(builder: Conversion, record: Record, names: list[str]) -> list[str]:
    """The names whose facts are known; the others are marked, unless there are only such."""
    known = [one for one in names if not is_template(one) or has_known_facts(one)]
    if not known:
        return names
    for one in names:
        if one not in known:
            text = f"without the file {_plain(one)}, which the original may read instead"
            builder.comment(record, text)
    return known


def _in_loop(builder: Conversion, task: Task, record: Record) -> None:
    """Files of variables in a loop, each like the file of a task without a loop."""
    said = ""
    for one in looped_vars.files_of(task):
        if is_template(one.name) and not has_known_facts(one.name):
            raise NotConvertible(f"a file name that depends on more than known facts: {one.name}")
        if one.optional and not is_template(one.name) and _vars_file(builder, one.name) is None:
            continue
        said = _of_names(
            builder, one.task, record=record, names=[one.name], first_found=one.optional,
            fine=one.optional,
        ) or said  # fmt: skip
    builder.report(task, record, said or "not needed: the role has none of these files")


def _of_names(
    builder: Conversion, task: Task, *, record: Record, names: list[str], first_found: bool,
    fine: bool,
) -> str:  # fmt: skip
    """Read the first of these files that exists; return where its variables are now.

    ``fine``: the original continues without any of them. Empty if there is none.
    """
    conditions, others = _conditions(builder, task)
    if len(names) == 1 and is_template(names[0]) and not has_known_facts(names[0]):
        for file_name, tests in by_value(builder, task, names[0], "vars"):
            when = [*listed(task.keywords.get("when")), *tests]
            _as_facts(builder, task.with_keywords(when=when), record, [file_name])
        return "in data"
    if conditions == ["false"]:
        return "the condition is never true on a host that ccm manages"
    if others and not any(is_template(one) for one in names):
        _as_facts(builder, task, record, names)
        return "in data"
    if others:
        text = f"the original reads these variables only if {' and '.join(map(str, others))}"
        builder.comment(record, text)
    if not any(is_template(one) for one in names):
        _literal_file(builder, names, conditions)
    elif not _by_facts(
        builder, names, conditions=conditions, first_found=first_found, none_is_fine=fine
    ):
        return ""
    by_facts = bool(conditions) or is_template(names[0])
    return "in overrides, by the hierarchy" if by_facts else "in data"


def _as_facts(builder: Conversion, task: Task, record: Record, names: list[str]) -> None:
    """Turn variables of a file that is read under a condition on data into facts under
    that condition.
    """
    for name in names:
        path = _vars_file(builder, name)
        if path is None:
            continue
        found = _read(path)
        for key, value in found.items():
            check_fact(builder, task, name=key, value=value, variables=task.variables)
        for key, value in found.items():
            kept = replace(task, keywords=dict(task.keywords))
            when = listed(task.keywords.get("when"))
            if builder.facts.get(key) is None and is_included(builder, key):
                note_unset(builder, task, key)
                text = f"{key} is not changed, although the original sets it here"
                builder.mark(record, CHECK, text)
                continue
            builder.keep_fact(key, value, when, kept)
        return
    raise NotConvertible(f"the file '{names[0]}' is not in the project")


def is_included(builder: Conversion, name: str) -> bool:
    """Whether a file that a task before this one includes sets a variable."""
    return any(name in one for choice in builder.includes for one in choice.files.values())


def _names(task: Task) -> tuple[list[str], bool]:
    """The names of the files in order, and whether a missing file is allowed."""
    name = task.file
    if not isinstance(name, str):
        raise NotConvertible("include_vars without a file")
    if task.loop is not None:
        word, value = task.loop
        if word.rsplit("_", 2)[-2:] != ["first", "found"] or "item" not in name:
            raise NotConvertible(f"include_vars with {word}")
        return _found_names(value), True
    name = in_role(name)
    looked = _first_found_of(name, task)
    return (looked, True) if looked is not None else ([name], False)


def _found_names(value: Any) -> list[str]:
    """The files of ``with_first_found``."""
    found: list[str] = []
    for one in listed(value):
        if isinstance(one, dict):
            paths = [str(path) for path in listed(one.get("paths"))]
            if any(not _is_vars(path) for path in paths):
                raise NotConvertible("first_found with its own paths")
            found += [str(name) for name in listed(one.get("files"))]
        else:
            found.append(str(one))
    if not found:
        raise NotConvertible("first_found without files")
    return [in_role(one) for one in found]


_ROLE_PATH = re.compile(r"^\s*\{\{\s*role_path\s*\}\}$")


def _is_vars(path: str) -> bool:
    path = _ROLE_PATH.sub(".", path)
    return path.rstrip("/").rsplit("/", 1)[-1] in ("vars", "defaults", "tasks") or path in ("", ".")


def _first_found_of(name: str, task: Task) -> list[str] | None:
    """The files of ``{{ lookup('first_found', params) }}``; None for other names."""
    node = only_expression(name) if is_template(name) else None
    if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name):
        return None
    if node.node.name not in ("lookup", "query", "q") or not node.args:
        return None
    first = node.args[0]
    if not isinstance(first, nodes.Const) or not str(first.value).endswith("first_found"):
        return None
    variables = task.variables
    path = path_of(node.args[1]) if len(node.args) > 1 else None
    value = variables.get(path[0]) if path is not None and not path[1] else None
    if value is None:
        raise NotConvertible("first_found with computed files")
    return _found_names(value)


def _conditions(builder: Conversion, task: Task) -> tuple[list[str], list[Any]]:
    """The conditions of a task on facts, as expressions, and its other conditions as written."""
    from orchestrator.ansible.conversion.conditions import read_conditions

    scope, entries = builder.scope.having(no_data=True), builder.manifest.entries()
    expressions: list[str] = []
    others: list[Any] = []
    for one in listed(task.keywords.get("when")):
        try:
            found = read_conditions([one], scope, entries)
        except NotConvertible:
            read_conditions([one], builder.scope, entries)  # NotConvertible, if it is neither
            others.append(one)
            continue
        if found.control or found.on_change:
            raise NotConvertible("variables that depend on results of earlier tasks")
        if found.never:
            return ["false"], []
        expressions += found.expressions
    return expressions, others


def _literal_file(builder: Conversion, names: list[str], conditions: list[str]) -> None:
    for name in names:
        path = _vars_file(builder, name)
        if path is not None:
            entry = f"vars:{slug(Path(name).stem)}"
            order = entry
            if conditions:
                word = literal(slug(Path(name).stem))
                order = "vars:{{ " + f"{word} if {both(conditions)} else ''" + " }}"
            builder.includes.append(Choice(order, {entry: _read(path)}))
            return
    raise NotConvertible(f"the file '{names[0]}' is not in the project")


def _read(path: Path) -> Map:
    try:
        return read_map(path)
    except VaultFileError as error:
        raise NotConvertible(f"{path.name} is encrypted with ansible-vault") from error


def _vars_file(builder: Conversion, name: str) -> Path | None:
    base = builder.files.base
    for folder in ("vars", "", "defaults", "tasks"):
        for ending in ("", ".yml", ".yaml"):
            path = base / folder / (name + ending)
            if os.path.isfile(path) and is_readable(path):
                return path
    return None


def note_unset(builder: Conversion, task: Task, name: str) -> None:
    """Mark a variable that a task does not set, so that its readers are not converted.

    If the task has a condition and something else sets the variable, it is only marked as
    uncertain.
    """
    uses = builder.scope.uses
    conditions = [str(one) for one in listed(task.keywords.get("when")) if one is not True]
    known = name in builder.project_variables or name in builder.facts or is_included(builder, name)
    if conditions and known:
        uses.uncertain[name] = (
            f"{name} has its value from before '{task.name or task.module}', which is not "
            f"converted; the original sets it if {' and '.join(conditions)}"
        )
        return
    uses.broken.setdefault(
        name, f"it uses {name} of '{task.name or task.module}', which is not converted"
    )


def note_broken(builder: Conversion, task: Task) -> None:
    """Make the variables of an unconverted ``include_vars`` unreadable."""
    folder = builder.files.base / "vars"
    paths = sorted(folder.glob("*.y*ml")) if os.path.isdir(folder) else []
    try:
        names, _ = _names(task)
    except NotConvertible:
        names = ["{{ }}"]
    if not any(is_template(one) for one in names):
        own = {_vars_file(builder, one) for one in names}
        paths = [one for one in paths if one in own]
    for path in paths:
        if path.stem == "main":
            continue
        try:
            found = read_map(path)
        except (VaultFileError, CcmError):
            continue
        for name in found:
            note_unset(builder, task, name)


def _by_facts(
    builder: Conversion, names: list[str], *, conditions: list[str], first_found: bool,
    none_is_fine: bool,
) -> bool:  # fmt: skip
    """Add a hierarchy entry for the first name that has a file.

    False if no name has a file and the original continues.
    """
    words: list[str] = []
    files: dict[str, Map] = {}
    for name in names:
        if not is_template(name):
            path = _vars_file(builder, name)
            if path is not None:
                key = slug(Path(name).stem)
                files[f"vars:{key}"] = _read(path)
                words.append(literal(key))
            continue
        found = _candidates(builder, name, "vars")
        if not found:
            continue
        for one in found:
            for key in _own_words(one):
                files.setdefault(f"vars:{key}", _read(one.path))
        words.append(own_expression(name))
    if not files and first_found:
        return False
    if not files:
        raise NotConvertible(f"no file matches {names[0]}")
    known = [one.removeprefix("vars:") for one in files]
    if len(words) == 1 and not conditions:
        order = "vars:{{ " + words[0] + " }}"
    else:
        choice = f"[{', '.join(words)}] | select('in', {literal(known)}) | first | default('')"
        if conditions:
            choice = f"({choice}) if {both(conditions)} else ''"
        order = "vars:{{ " + choice + " }}"
    builder.includes.append(Choice(order, files))
    has_fallback = first_found and any(not is_template(one) for one in names)
    if not has_fallback and not none_is_fine:
        tests = " or ".join(f"{one} in {literal(known)}" for one in words if one[0] != "'")
        message = f"the original has no variables for this host ({', '.join(names)})"
        that = f"not ({both(conditions)}) or {tests}" if conditions else tests
        builder.manifest.assertions.append(
            {"that": that, "message": text_rewriter.plain_text(_plain(message))}
        )
    return True


def _may_find_none(task: Task) -> bool:
    """Whether the original continues if it finds none of the files (``skip: true``)."""
    given = [*listed(task.loop[1] if task.loop else None), *task.variables.values()]
    maps = [one for one in given if isinstance(one, dict)]
    return any(text_rewriter.as_bool(one.get("skip")) is True for one in maps)


def _plain(text: str) -> str:
    return re.sub(r"\{\{(.*?)\}\}", lambda found: found[1].strip(), text)


def _candidates(builder: Conversion, name: str, folder: str) -> list[Candidate]:
    """Return the files of the role that a name with facts can refer to."""
    pattern, facts = "", []
    for kind, text in parts_of_name(name):
        if kind == "text":
            pattern += re.escape(text.lstrip("/") if not pattern else text)
        else:
            facts.append((kind, text))
            pattern += r"([^/]+?)"
    found: list[Candidate] = []
    base = builder.files.base
    for place in (folder, ""):
        directory = base / place
        files = sorted(directory.rglob("*")) if place else sorted(base.glob("*/*"))
        for path in files:
            relative = path.relative_to(directory).as_posix()
            match = re.fullmatch(pattern + (r"(?:\.ya?ml)?"), relative)
            if match is None or not os.path.isfile(path):
                continue
            values = tuple(
                (f"{kind}:{fact}", one)
                for (kind, fact), one in zip(facts, match.groups(), strict=True)
            )
            found.append(Candidate(path, relative, values))
        if found:
            break
    return found


def _own_words(candidate: Candidate) -> list[str]:
    """Return the hierarchy entries for a file: facts with ccm's values, joined by dashes."""
    words = [""]
    for kind, value in candidate.facts:
        own = own_values(kind, value)
        words = [f"{begun}-{one}" if begun else one for begun in words for one in own]
    return [one for one in words if one]


def candidates(
    builder: Conversion, task: Task, name: str, folder: str
) -> list[tuple[str, list[str]]]:
    """Return the files that a computed name can refer to, each with its conditions in
    Ansible's syntax.
    """
    looked = _first_found_of(name, task)
    if looked is not None:
        return _first_of(builder, looked, folder)
    scope = builder.scope
    node = only_expression(name)
    if node is not None:
        from orchestrator.ansible.jinja.possible_values import sample_of

        sample = sample_of(node, scope)
        if sample.values and not sample.open and not sample.kinds:
            texts_ = sorted({str(one) for one in sample.values})
            if len(texts_) == 1:
                return [(texts_[0], [])]
    found = _candidates(builder, name, folder)
    if not found:
        raise NotConvertible(f"no file matches {name}")
    return [(one.name, [_test_of(one)]) for one in found if _own_words(one)]


def by_value(
    builder: Conversion, task: Task, name: str, folder: str
) -> list[tuple[str, list[str]]]:
    """Return the files that a name with variables can refer to, each with its condition.

    An assertion refuses a value without a file. Raises NotConvertible.
    """
    parts = outputs(name)
    if parts is None:
        raise NotConvertible(f"a file name with statements: {name}")
    texts_ = [one.data if isinstance(one, nodes.TemplateData) else None for one in parts]
    if not any(texts_):
        raise NotConvertible(f"a file name that depends on more than known facts: {name}")
    pattern = "".join("[^/]+" if one is None else re.escape(one) for one in texts_)
    base = builder.files.base / folder
    found = sorted(
        one.relative_to(base).as_posix()
        for one in base.rglob("*.y*ml")
        if re.fullmatch(pattern, one.relative_to(base).as_posix()) and str(one) not in builder.stack
    )
    if not found or len(found) > _MAX_FILES:
        raise NotConvertible(f"no file matches {name}, or too many do")
    made = [nodes.Const(o.data) if isinstance(o, nodes.TemplateData) else o for o in parts]
    written = unparse(nodes.Concat(made) if len(made) > 1 else made[0])
    scope = builder.scope_of(task)
    test = text_rewriter.condition(f"({written}) in {literal(found)}", scope)
    when = [text_rewriter.condition(one, scope) for one in listed(task.keywords.get("when"))
            if one is not True]  # fmt: skip
    that = f"not ({both(when)}) or {test}" if when else test
    message = text_rewriter.plain_text(_plain(f"there is no file {name} in the original"))
    builder.manifest.assertions.append({"that": that, "message": message})
    return [(one, [f"({written}) == {literal(one)}"]) for one in found]


_MAX_FILES = 16


def _test_of(candidate: Candidate) -> str:
    tests = []
    for kind, value in candidate.facts:
        how, fact = kind.split(":")
        word = f"ansible_{fact} | {how}" if how in CASES else f"ansible_{fact}"
        tests.append(f"{word} == {literal(value)}")
    return " and ".join(tests)


def first_files(builder: Conversion, task: Task, folder: str) -> list[tuple[str, list[str]]]:
    """The files of ``with_first_found``, each with its conditions in Ansible's syntax.
    NotConvertible.
    """
    assert task.loop is not None
    return _first_of(builder, _found_names(task.loop[1]), folder)


def _is_there(builder: Conversion, name: str, folder: str) -> bool:
    if folder == "tasks":
        return builder.task_file(name) is not None
    return builder.files.find(folder, name) is not None


def _first_of(builder: Conversion, names: list[str], folder: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    earlier: list[str] = []
    for name in names:
        if not is_template(name):
            if _is_there(builder, name, folder):
                return [*found, (name, [f"not ({one})" for one in earlier])]
            continue
        for one in _candidates(builder, name, folder):
            if not _own_words(one):
                continue
            test = _test_of(one)
            found.append((one.name, [test, *(f"not ({o})" for o in earlier)]))
        earlier += [_test_of(one) for one in _candidates(builder, name, folder)]
    if not found:
        raise NotConvertible(f"no file matches {names[0]}")
    return found


# --- set_fact


def own_default(name: str, value: Any) -> Any:
    """Reduce ``{{ a | default('x') }}`` in the fact ``a`` to its default: ``x``."""
    node = only_expression(value) if is_template(value) else None
    if not isinstance(node, nodes.Filter) or node.name not in ("default", "d"):
        return value
    if node.node is not None and len(node.args) == 1 and path_of(node.node) == (name, []):
        return "{{ " + unparse(node.args[0]) + " }}"
    return value


def check_fact(
    builder: Conversion, task: Task, *, name: str, value: Any, variables: dict[str, Any]
) -> None:
    """NotConvertible if a fact reads itself or something that cannot be known."""
    value = own_default(name, value)
    tree = tree_of(value) if not is_template(value) or only_expression(value) else None
    if tree is not None and name in names_in(tree):
        raise NotConvertible(f"{name} is computed from its own earlier value")
    scope = builder.scope.having(task_vars=variables)
    text_rewriter.value(value, scope)
    for one in listed(task.keywords.get("when")):
        if not isinstance(one, bool):
            text_rewriter.condition(one, scope)
