"""Plays: each becomes a manifest that applies its roles (controller)."""

import fnmatch
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.conversion import handlers, keywords, uncertain_variables
from orchestrator.ansible.conversion.manifest_builder import Builder
from orchestrator.ansible.conversion.project_converter import (
    Project,
    asks_that_are_read,
    file_word,
    parameters,
    role_name,
    tags_of,
)
from orchestrator.ansible.conversion.variables import DataPlan
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template, parse_expression
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.template_files import template_text
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.modules.files.templates import look_up_file
from orchestrator.ansible.modules.mapping_context import Files
from orchestrator.ansible.output.manifest_entries import (
    KEPT,
    Comment,
    Entry,
    Manifest,
    Record,
    numbered,
)
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.playbooks import Play, project_root, within
from orchestrator.ansible.source.tasks import flat, listed
from orchestrator.ansible.source.yaml_reader import Map, VaultFileError, read_map
from remote_runtime.errors import CcmError

_LOCAL = frozenset(["localhost", "127.0.0.1"])
# The options of ccm push that correspond to keywords of a play.
_ROLLOUT = {
    "serial": "corresponds to --waves of ccm push",
    "max_fail_percentage": "corresponds to --max-fail of ccm push",
    "any_errors_fatal": "corresponds to --max-fail 0 of ccm push",
    "strategy": "is not converted: in ccm push, no host waits for others between resources",
    "throttle": "corresponds to --forks of ccm push",
    "order": "has no equivalent in ccm push, which keeps the order of the inventory",
}


def convert_plays(project: Project, plays: list[Play], base: Path, title: str) -> None:
    """Write site.yaml, and an additional manifest for each play that needs its own."""
    site = Manifest("site.yaml", [title])
    single = len(plays) == 1 and plays[0].hosts.strip() in ("all", "*") and not plays[0].when
    every = {one.hosts.strip() for one in plays if not _is_local(one)}
    earlier: set[str] = set()  # the hosts of the plays so far
    for play in plays:
        project.play_hosts = _play_hosts(project, play, plays, len(every) == 1)
        if _is_local(play):
            _keep_play(project, site, play, "it runs on the controller, not on hosts")
            continue
        try:
            condition = host_condition(play.hosts, project)
        except NotConvertible as error:
            _keep_play(project, site, play, error.reason)
            continue
        if single:
            site.title += _comments(play)
            _convert_play(project, play, manifest=site, base=base, follows=True)
            return
        name = _unused(project, file_word(play.name or play.hosts).lower())
        manifest = Manifest(f"{name}.yaml", [play.name or f"Hosts {play.hosts}", *_comments(play)])
        follows = earlier <= {play.hosts.strip(), "all", "*"}
        _convert_play(project, play, manifest=manifest, base=base, follows=follows)
        earlier.add(play.hosts.strip())
        entry = Entry("apply", manifest.path, comments=[play.name] if play.name else [])
        entry.conditions = [condition] if condition else []
        entry.tags = tags_of(play.keywords.get("tags"))
        site.items.append(entry)
    project.manifests.append(site)


def _is_local(play: Play) -> bool:
    return set(play.hosts.replace(",", ":").split(":")) <= _LOCAL


def _unused(project: Project, name: str) -> str:
    known = {one.path.removesuffix(".yaml") for one in project.manifests}
    return numbered(name, {*known, "site", "hosts", "ccm"})


def _comments(play: Play) -> list[str]:
    found = []
    for word, text in _ROLLOUT.items():
        if word in play.keywords:
            found.append(f"CHECK: {word}: {play.keywords[word]} of the play {text}")
    if play.keywords.get("vars_prompt"):
        asked = listed(play.keywords["vars_prompt"])
        names = [str(one.get("name")) for one in asked if isinstance(one, Map)]
        found.append(f"NOT CONVERTED: the original prompts for {', '.join(names)}; use --data")
    return found


def _keep_play(project: Project, site: Manifest, play: Play, reason: str) -> None:
    shown = play.name or play.hosts
    builder = Builder(site, Scope(), Files(play.path.parent, ""), project)
    lines = [f"NOT CONVERTED: the play '{shown}': {reason}"]
    site.items.append(Comment([*lines, *builder.original(str(play.path), play.line, play.end)]))
    for task in flat([*play.pre_tasks, *play.tasks, *play.post_tasks]):
        project.records.append(
            Record(task.module, task.name, task.path, task.line, KEPT, [reason], site.path)
        )
    project.notes.append(f"the play '{shown}' is not converted: {reason}")


def _convert_play(
    project: Project, play: Play, *, manifest: Manifest, base: Path, follows: bool
) -> None:
    """``follows``: all hosts of the play were hosts of each earlier one."""
    project.play_vars = _play_vars(project, play, base)
    project.in_play = _applied_roles(project, [play])
    become = text_rewriter.as_bool(play.keywords.get("become", True))
    project.is_root = become is not False
    project.play_handlers = handlers.read(play.handlers, "")
    project.environment = keywords.environment_of(play.keywords.get("environment"))
    plan = DataPlan(layers=project.layers, others=project.plan_of(None).others)
    plan.own = project.play_vars
    values = plan.values()
    sources = play.path.read_text(encoding="utf-8", errors="replace")
    files = Files(play.path.parent, "")
    builder = Builder(
        manifest, Scope(values, late=values, files="files", templates="templates",
                        fleet=project.fleet, play_hosts=project.play_hosts.get("", {})),
        files, project,
        first=not project.started, is_root=project.is_root, sources=sources,
    )  # fmt: skip
    builder.scope.locate = partial(look_up_file, files)
    builder.scope.statements = template_text
    builder.project_variables = set(values)
    builder.environment = project.environment
    builder.handlers = list(project.play_handlers)
    for name in project.in_play:
        role = project.role(name)
        if role is not None:
            builder.handlers += handlers.read(role.handlers, name)
    builder.stack = [str(play.path)]
    inherited = ("become_user", "no_log", "ignore_errors")
    outer: dict[str, Any] = {key: play.keywords[key] for key in inherited if key in play.keywords}
    if play.when:
        outer["when"] = play.when
    if not follows:
        uncertain_variables.forget_values(builder)
    uncertain_variables.recall(builder)
    builder.run(play.pre_tasks, outer)
    builder.flush()
    for one in play.roles:
        _role(project, builder, one, play)
    builder.run(play.tasks, outer)
    builder.flush()
    builder.run(play.post_tasks, outer)
    builder.flush()
    for entry in manifest.entries():
        if entry.type == "apply" and entry.record is None:
            project.notes += [f"{manifest.path}: {entry.name}: {text}" for text in entry.checks]
    uncertain_variables.remember(builder)
    _note_missing(project, builder, project.finish(builder, plan))
    manifest.asks = asks_that_are_read(builder)
    project.started = True


def _note_missing(project: Project, builder: Builder, missing: set[str]) -> None:
    if missing:
        names = ", ".join(sorted(missing))
        project.notes.append(f"{builder.manifest.path}: nothing sets {names}")


def _play_vars(project: Project, play: Play, base: Path) -> Map:
    found = Map()
    variables = play.keywords.get("vars")
    for one in listed(variables):
        if isinstance(one, dict):
            found.update(one)
    if isinstance(variables, Map):
        found.path, found.lines = variables.path, dict(variables.lines)
    for name in listed(play.keywords.get("vars_files")):
        name = _with_defaults(project, found, name)
        if not isinstance(name, str) or is_template(name):
            project.notes.append(f"vars_files with a computed name is not converted: {name}")
            _hide_computed(project, play, name)
            continue
        what = f"{play.path}:{play.line}: the variables file {name}"
        path = within(project_root(base), play.path.parent / name, what)
        try:
            if os.path.isfile(path):
                found.update(read_map(path))
            else:
                project.notes.append(f"the variables file '{name}' is not in the project")
        except VaultFileError:
            project.notes.append(f"{name}: encrypted with ansible-vault; it is not converted")
    return found


def _hide_computed(project: Project, play: Play, names: Any) -> None:
    """Do not convert readers of variables in files with computed names."""
    plain = {play.path.parent / str(one) for one in listed(play.keywords.get("vars_files"))}
    for name in map(str, listed(names)):
        pattern = re.sub(r"\{\{.*?\}\}", "*", name)
        if pattern.startswith("/") or ".." in pattern or "{" in pattern:
            continue
        for path in sorted(set(play.path.parent.glob(pattern)) - plain):
            try:
                found = read_map(path) if path.is_file() else Map()
            except (VaultFileError, CcmError):
                continue
            reason = f"vars_files of the play set it in {path.name}, whose name is computed"
            for key in found:
                project.earlier[key] = uncertain_variables.Earlier("", f"{key}: {reason}")


_DEFAULTED = re.compile(r"\{\{\s*(\w+)\s*\|\s*(?:default|d)\(\s*(['\"])([^'\"{}]*)\2\s*\)\s*\}\}")


def _with_defaults(project: Project, play_vars: Map, name: Any) -> Any:
    """The name of a variables file, with the defaults of variables that nothing sets."""
    known = {key for layer in project.layers for key in layer.values} | set(play_vars)

    def value(match: re.Match[str]) -> str:
        """The default, with a note; the whole expression if the project has the variable."""
        if match[1] in known:
            return match[0]
        project.notes.append(f"vars_files {name}: read without {match[1]}, which nothing sets")
        return match[3]

    return _DEFAULTED.sub(value, name) if isinstance(name, str) else name


def _role(project: Project, builder: Builder, value: Any, play: Play) -> None:
    name = role_name(value)
    variables = dict(value) if isinstance(value, dict) else {}
    try:
        for word in ("delegate_to", "run_once", "become_user", "connection"):
            if word in variables:
                raise NotConvertible(f"ccm has no equivalent of the keyword {word} of a role")
        entry = project.role_entry(builder, name, "main", parameters(variables))
        conditions = [*play.when, *listed(variables.get("when"))]
        entry.conditions = [text_rewriter.condition(one, builder.scope) for one in conditions]
        entry.tags = tags_of(variables.get("tags"))
    except NotConvertible as error:
        builder.manifest.items.append(Comment([f"NOT CONVERTED: {error.reason}", f"  {value}"]))
        project.notes.append(f"{builder.manifest.path}: {error.reason}")
        return
    builder.manifest.items.append(entry)
    if entry.conditions:
        uncertain_variables.forget_values(builder, name)
    uncertain_variables.recall(builder)


def host_condition(pattern: str, project: Project) -> str:
    """The hosts of a play as a condition, empty for all. NotConvertible."""
    parts = [one.strip() for one in re.split(r"[:,]", pattern) if one.strip()]
    wanted: list[str] = []
    needed: list[str] = []
    for part in parts:
        sign, word = (part[0], part[1:]) if part[0] in "!&" else ("", part)
        if is_template(word) or word.startswith("~"):
            raise NotConvertible(f"ccm cannot convert the hosts {pattern}")
        test = _member(word, project)
        if sign == "!":
            needed.append(unparse(nodes.Not(parse_expression(test))))
        elif sign == "&" and test != "true":
            needed.append(f"({test})" if " or " in test else test)
        elif not sign:
            wanted.append(test)
    if "true" in wanted:
        wanted = []
    either = " or ".join(wanted)
    if needed and len(wanted) > 1:
        either = f"({either})"
    return " and ".join([*([either] if either else []), *needed])


def _member(word: str, project: Project) -> str:
    if "[" in word:
        raise NotConvertible(f"ccm cannot convert the hosts {word}")
    if word in ("all", "*"):
        return "true"
    if word == "ungrouped":
        return "Host.groups == []"
    if "*" in word or "?" in word:
        pattern = re.escape(word).replace(r"\*", ".*").replace(r"\?", ".")
        groups = fnmatch.filter(sorted(project.hosts.groups), word)
        tests = [f"{literal(one)} in Host.groups" for one in groups]
        return " or ".join([f"Host.name is match({literal(pattern + '$')})", *tests])
    if word in project.hosts.names() and word not in project.hosts.groups:
        return f"Host.name == {literal(word)}"
    return f"{literal(word)} in Host.groups"


_PLAY_HOSTS = ("ansible_play_hosts", "ansible_play_hosts_all", "play_hosts")


def _play_hosts(
    project: Project, play: Play, plays: list[Play], is_same: bool
) -> dict[str, dict[str, str]]:
    """The names of the hosts of a play with their expression, for each role, and "" for the play.

    A role that another play applies to other hosts has none. ``is_same``: all plays have the same
    hosts.
    """
    text = _hosts_of(project, play.hosts)
    if not text:
        return {}
    names = [*_PLAY_HOSTS, *([] if "serial" in play.keywords else ["ansible_play_batch"])]
    found = dict.fromkeys(names, text)
    others = [one for one in plays if one.hosts.strip() != play.hosts.strip()]
    own = [*_applied_roles(project, [play])]
    roles = [one for one in own if is_same or one not in _mentioned_roles(project, others, own)]
    return {"": found, **dict.fromkeys(roles, found)}


def _hosts_of(project: Project, pattern: str) -> str:
    """The hosts of groups and single hosts; "" for other patterns."""
    parts = []
    for word in re.split(r"[:,]", pattern):
        word = word.strip()
        if word in ("all", "*"):
            parts.append("Groups.all")
        elif word in project.hosts.groups:
            parts.append(f"Groups[{literal(word)}]")
        elif word in project.hosts.names():
            parts.append(literal([word]))
        else:
            return ""
    return parts[0] if len(parts) == 1 else f"(({' + '.join(parts)}) | unique | list)"


def _applied_roles(project: Project, plays: list[Play]) -> list[str]:
    """The roles of plays, with their dependencies."""
    waiting = [role_name(one) for play in plays for one in play.roles]
    found: list[str] = []
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        found.append(name)
        role = project.role(name)
        waiting += map(role_name, role.dependencies) if role is not None else ()
    return found


_INCLUDED_ROLE = re.compile(
    r"^( *)(?! ).*\b(?:include|import)_role\b.*(?:\n(?:\1 .*|[ \t]*$))*", re.MULTILINE
)
"""The line that includes a role, and the lines that are indented below it."""


def _mentioned_roles(project: Project, plays: list[Play], names: list[str]) -> set[str]:
    """The roles that other plays, or their roles, apply or may include by name."""
    applied = _applied_roles(project, plays)
    texts = [one.path.read_text(encoding="utf-8", errors="replace") for one in plays]
    roles = [project.role(one) for one in applied]
    texts += [one.sources() for one in roles if one is not None]
    tasks = [match[0] for text in texts for match in _INCLUDED_ROLE.finditer(text)]
    return {*applied, *(one for one in names if any(one in task for task in tasks))}
