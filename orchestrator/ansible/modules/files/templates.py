"""``template``, and the templates that tasks and lookups name (controller)."""

import posixpath
import re
from pathlib import Path
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import task_scoped_variables
from orchestrator.ansible.jinja.parsing import parse_template
from orchestrator.ansible.jinja.possible_values import loses_newline, resolve
from orchestrator.ansible.jinja.scope import OPEN, Scope
from orchestrator.ansible.jinja.template_files import rewrite
from orchestrator.ansible.jinja.unparse import literal
from orchestrator.ansible.modules.files.attributes import (
    attributes,
    common,
    own_mode,
    target_path,
    with_directory,
)
from orchestrator.ansible.modules.mapping_context import Context, is_vaulted, maps
from orchestrator.ansible.modules.module_arguments import LOST_NEWLINE, Arguments, expression_of
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task
from orchestrator.ansible.source.yaml_reader import read_text


@maps("template", refused="newline_sequence", unless=("\n", "\\n"))
def template(context: Context, arguments: Arguments) -> list[Entry]:
    """Templates of the project."""
    arguments.refuse("output_encoding", unless=("utf-8",))
    arguments.refuse(
        "block_start_string", "block_end_string", "comment_start_string", "comment_end_string",
        "variable_start_string", "variable_end_string",
    )  # fmt: skip
    keeps = arguments.flag("trim_blocks", default=True) is False
    strips = arguments.flag("lstrip_blocks", default=False)
    words = ["trim_blocks: False"] * keeps + ["lstrip_blocks: True"] * bool(strips)
    context.template_header = f"#jinja2: {', '.join(words)}\n" if words else ""
    source = arguments.source("src")
    path = target_path(context, arguments, source)
    found = context.files.find("templates", source)
    own = attributes(context, arguments, own_mode(arguments, found[1]) if found else "0644")
    content = f"{{{{ {template_call(context, arguments.raw('src'), source)} }}}}"
    entry = Entry("file", path, common(context, arguments, {"content": content, **own}))
    return with_directory(context, arguments, entry)


def template_call(context: Context, raw: Any, source: str) -> str:
    """The call of ``template()`` for a template of the project."""
    files = context.files
    if "{{" in source:
        base = files.base / "templates"
        if not base.is_dir() or (
            source.startswith(("/", "{{ Data")) and not known_relative(context, raw, "templates")
        ):
            context.check(
                "the path is relative to this manifest; put a ccm template there, "
                "or set the variable accordingly"
            )
            return f"template({expression_of(raw, context.scope)}{_keywords(context, None)})"
        known = {str(one) for one in resolve(raw, context.scope).values}
        found = [one for one in base.rglob("*") if one.is_file() and files.holds(one)]
        parts = {name for one in found for name in _PART.findall(read_text(one))} - known
        for one in sorted(found):
            name = one.relative_to(base).as_posix()
            if name not in parts and not _is_of_loop(context, one):  # parts come with the others
                _take_possible(context, name, one, known)
        path = expression_of(raw, context.scope)
        prefix = literal(posixpath.join(files.prefix, "templates") + "/")
        path = f"({path})" if " if " in path or " or " in path else path
        return f"template({prefix} ~ {path}{_keywords(context, None)})"
    place = files.find("templates", source)
    if place is None:
        raise NotConvertible(f"the template '{source}' is not in the project")
    written, original = place
    if original.is_dir():
        raise NotConvertible(f"the template {source} is a directory")
    if is_vaulted(original):
        raise NotConvertible(f"{source} is encrypted with ansible-vault")
    written = _take_template(context, source, original=original, written=written)
    if loses_newline(read_text(original), _template_scope(context)):
        context.check(LOST_NEWLINE)
    return f"template({literal(written)}{_keywords(context, original)})"


_PART = re.compile(r"\{%-?\s*(?:include|import|from)\s+['\"]([^'\"]+)['\"]")
"""The name of a template that another template reads."""


def _take_possible(context: Context, name: str, original: Path, known: set[str]) -> None:
    """A template that a variable may name; NotConvertible only if the project has that value."""
    try:
        _take_template(context, name, original=original)
    except NotConvertible as error:
        if not known or name in known:
            raise
        context.check(f"the variable must have another value: {error.reason}")


def _is_of_loop(context: Context, original: Path) -> bool:
    """Whether a template reads the element of a loop, and this task has none."""
    names = parse_template(read_text(original)).find_all(nodes.Name)
    places = {one.ctx for one in names if one.name == "item"}  # store: a loop of its own
    return places == {"load"} and "item" not in context.scope.locals


def look_up_file(files: Any, scope: Scope, kind: str, name: str) -> str:
    """The path of a file that ``lookup('file')`` or ``lookup('template')`` reads.

    NotConvertible if the project does not have it.
    """
    found = files.find(f"{kind}s", name)
    if found is None or found[1].is_dir():
        raise NotConvertible(f"the file '{name}' is not in the project")
    written: str = found[0]
    original: Path = found[1]
    if is_vaulted(original):
        raise NotConvertible(f"{name} is encrypted with ansible-vault")
    if kind == "file":
        files.take(written, original)
    else:
        context = Context(_NO_TASK, scope, files, str)
        arguments = _given_names(context, read_text(original))
        if arguments or scope.locals:
            raise NotConvertible(f"lookup of the template {name}, which reads a variable of a task")
        written = _take_template(context, name, original=original, written=written)
    return written


_NO_TASK = Task("", "", {}, {}, "", 0, 0)


_RELATIVE = re.compile(r"\{\{[^}]*(?:\|\s*basename|\.lstrip\(\s*['\"]/['\"]\s*\))\s*\}\}")
"""An expression whose value does not begin with a slash."""


def known_relative(context: Context, raw: Any, folder: str) -> bool:
    """Whether a path begins with a file name, or is known to be one of files of the role."""
    if _RELATIVE.match(str(raw)):
        return True
    known = [str(one) for one in resolve(raw, context.scope).values if one]
    found = [context.files.base / folder / one for one in known if one[0] != "/"]
    return len(found) == len(known) and any(one.is_file() for one in found)


def _take_template(
    context: Context, name: str, *, original: Path, written: str = "", included: bool = False
) -> str:
    """Rewrite a template and its included ones; return its path. NotConvertible."""
    files = context.files
    written = written or posixpath.join(files.prefix, "templates", name)
    body = read_text(original)
    header = "" if body.startswith("#jinja2:") else context.template_header
    arguments = _given_names(context, body) | ({header} - {""})
    plain, number = posixpath.splitext(written), 1
    while written in files.texts and arguments != files.given[written]:
        number += 1  # the same text with other names of variables
        written = f"{plain[0]}-{number}{plain[1]}"
    if written in files.texts:
        if written in files.problems:
            raise NotConvertible(files.problems[written])
        return written
    files.take(written, original)
    files.given[written] = arguments
    result = rewrite(body, _template_scope(context), path=name, header=header, included=included)
    files.texts[written] = result.text
    for include in result.includes:
        found = files.find("templates", include)
        if found is None:
            result.problems.append((1, f"it includes '{include}', which is not in the project"))
            continue
        _take_template(context, include, original=found[1], written=found[0], included=True)
    if result.problems:
        line, reason = result.problems[0]
        files.problems[written] = f"the template {name}, line {line}: {reason}"
        raise NotConvertible(files.problems[written])
    return written


def _given_names(context: Context, body: str) -> set[str]:
    """Return the names that this call passes to a template, but that are data in other calls."""
    scope = context.scope
    renamed = {name for name, new in scope.renames.items() if new.startswith("Data.")}
    names = (renamed | set(scope.task_vars)) & set(scope.values)
    found = {one for one in names if re.search(rf"\b{re.escape(one)}\b", body)}
    return found | task_scoped_variables.read_by_text(body, scope)


def _template_scope(context: Context) -> Scope:
    """Return a scope for a file in which names from the task are arguments of the template call."""
    scope = context.scope
    samples = {name: resolve(one, scope) for name, one in scope.task_vars.items()}
    for name, new in scope.renames.items():
        if new.startswith("Data."):
            samples[name] = resolve("{{ " + name + " }}", scope)
        else:
            samples[name] = scope.locals.get(new, OPEN)
    place = frozenset(task_scoped_variables.place_names(scope))
    data = scope.uses.optional
    optional = frozenset(
        name for name, new in scope.renames.items() if new.removeprefix("Data.") in data
    )
    inner = scope.having(task_vars={}, renames={}, place=place, optional=optional)
    return inner.with_locals(samples)


def _keywords(context: Context, original: Path | None) -> str:
    """The variables of the task that the template reads, as arguments."""
    body = read_text(original) if original is not None else ""
    body = " ".join([body, *task_scoped_variables.read_by_text(body, context.scope)])
    for name, reason in context.template_problems.items():
        if re.search(rf"\b{re.escape(name)}\b", body):
            raise NotConvertible(f"its variable {name}: {reason}")
    words = []
    for name, value in context.template_variables.items():
        includes = re.search(r"\{%-?\s*(?:include|import|from|extends)\b", body) is not None
        is_read = re.search(rf"\b{re.escape(name)}\b", body) is not None
        if original is not None and not is_read and not includes:
            continue
        words.append(f", {name}={value if isinstance(value, str) else literal(value)}")
    return "".join(words)
