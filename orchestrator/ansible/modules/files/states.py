"""``file``: directories, links and attributes (controller)."""

import posixpath
import re
import shlex
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template, parse_expression
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.modules.files.attributes import (
    OF_ROOT,
    TIMES,
    UNSUPPORTED,
    attributes,
    check_above,
    directories_above,
)
from orchestrator.ansible.modules.guarded_commands import shell
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.symbolic_modes import mode_of_new_directory, relative_mode


@maps("file")
def file(context: Context, arguments: Arguments) -> list[Entry]:
    """States of paths."""
    raw = arguments.raw("path", "dest", "name")
    path = arguments.path("path", "dest", "name")
    arguments.ignore("follow", "force" if arguments.raw("state") != "link" else "follow")
    arguments.ignore("_original_basename", "_diff_peek")
    state = arguments.literal("state")
    if context.task.is_local:
        context.files.on_hosts.add(path)
    if state is None:
        state = "directory" if arguments.raw("recurse") is not None else "file"
    if state == "absent":
        arguments.ignore("owner", "group", "mode", "recurse", "src")
        if path in context.files.temporary:
            command = {"command": f"rm -rf {path}", "onlyif": f"test -e {path}"}
            return [context.exec(f"remove {path}", command)]
        if is_template(raw) and re.search(r"[*?\[]", path.split("{{")[0]):
            raise NotConvertible("a pattern as the path")
        return [Entry("file", path, {"ensure": "absent", "force": True})]
    if state == "directory":
        named = [arguments.raw(one) is not None for one in ("owner", "group", "mode")]
        recurse = arguments.flag("recurse", default=False)
        if (context.on_found or "Asked." in path) and any(named) and not (all(named) or recurse):
            return _existing(context, arguments, path)
        return _directory(context, arguments, path)
    if state == "link":
        return _link(context, arguments, path)
    if state == "touch":
        times = {arguments.raw("access_time"), arguments.raw("modification_time")}
        if times != {"preserve"}:
            context.note("the original also sets the times of the file on each run")
        return [Entry("file", path, attributes(context, arguments, "0644"))]
    if state == "file":
        return _existing(context, arguments, path)
    raise NotConvertible(f"ccm has no equivalent of state {state}")


def _directory(context: Context, arguments: Arguments, path: str) -> list[Entry]:
    recurse = arguments.flag("recurse", default=False)
    relative = relative_mode(arguments.raw("mode"))
    raw = str(arguments.raw("mode"))
    if relative:
        arguments.replace("mode", None)
    has_mode = arguments.raw("mode") is not None
    complete = has_mode and None not in (arguments.raw("owner"), arguments.raw("group"))
    owner, group = arguments.text("owner"), arguments.text("group")
    if relative:
        arguments.replace("mode", mode_of_new_directory(raw))
        text = f"this is the mode of a new directory; the original changes an existing one by {raw}"
        context.check(text)
    own = attributes(context, arguments, "0755", directory=True)
    above = [] if own == OF_ROOT else directories_above(context, path, own)
    parent = posixpath.dirname(path)
    if own != OF_ROOT and ("{{" in parent or not parent.startswith("/")):
        check_above(context, arguments)
    context.directories.add(path)
    properties: dict[str, Any] = {"ensure": "directory", **own}
    made = [*above, Entry("file", path, properties)]
    keeps_x = "X" in raw  # only executable files in the directory stay executable
    if recurse and complete and str(own["mode"]).isdigit() and not keeps_x:
        properties["recurse"] = True
        properties["file_mode"] = own["mode"]
    elif recurse and (owner or group or has_mode or relative):
        mode = raw if relative or keeps_x else str(own["mode"]) if has_mode else ""
        made.append(_below(context, path, owner=owner, group=group, mode=mode))
    return made


def _below(
    context: Context, path: str, *, owner: str | None, group: str | None, mode: str
) -> Entry:
    """Return a resource that sets what ``recurse`` sets in a directory, if it differs."""
    word = _word(path)
    words: list[str] = []
    tests: list[str] = []
    if owner is not None or group is not None:
        words.append(f"chown -R {owner or ''}{':' + group if group is not None else ''} {word}")
        for name, value in (("user", owner), ("group", group)):
            tests += [f"! -{name} {value}"] if value is not None else []
    if mode:
        words.append(f"chmod -R {mode} {word}")
        if re.fullmatch(r"[0-7]+", mode):
            tests.append(f"! -type l ! -perm {mode}")
        else:
            context.check("the mode of the directory's content is set on each push")
            tests.append("-true")
    test = f"find {word} {' -o '.join(tests)} | grep -q ."
    properties = {"command": " && ".join(words), "provider": "shell"}
    properties["onlyif"] = shell(test) if word == path else test
    return context.exec(f"set the content of {path}", properties)


def _link(context: Context, arguments: Arguments, path: str) -> list[Entry]:
    target = arguments.required("src")
    if arguments.boolean("force") not in (None, False):
        context.check(
            "ccm replaces links and empty directories, but not files or non-empty directories"
        )
    if any(arguments.raw(name) is not None for name in ("owner", "group", "mode")):
        context.check("the owner, group and mode of the link, or of its target, are not managed")
    return [Entry("link", path, {"target": target})]


def _existing(context: Context, arguments: Arguments, path: str) -> list[Entry]:
    """Return the named attributes of an existing path; the others are kept."""
    arguments.refuse(*UNSUPPORTED, *TIMES, "recurse", unless=(False, "preserve"))
    arguments.ignore("unsafe_writes", "src")
    owner, group = arguments.text("owner"), arguments.text("group")
    relative = relative_mode(arguments.raw("mode"))
    if relative and "X" in str(arguments.raw("mode")):
        raise NotConvertible("X of a mode, which depends on the file")
    mode = None if relative else arguments.mode("mode")
    word = _word(path)
    words, wanted = [], []
    if owner is not None or group is not None:
        both = f"{owner or ''}:{group}" if group is not None else str(owner)
        words.append(f"chown {both} {word}")
        signs = "%U" if group is None else "%G" if owner is None else "%U:%G"
        if any(one is not None and one.isdigit() for one in (owner, group)):
            signs = signs.replace("%U", "%u").replace("%G", "%g")
        wanted.append((signs, str(owner) if group is None else both.lstrip(":")))
    if mode is not None:
        words.append(f"chmod {mode} {word}")
        wanted.append(("%a", mode.lstrip("0") or "0" if "{{" not in mode else _without_zero(mode)))
    made = []
    if relative:
        made = [_relative_mode(context, path, str(arguments.raw("mode")), relative)]
        if not words:
            return _if_there(context, word, made)
    if not words:
        raise NotConvertible("state file without attributes, which only tests the path")
    pattern, expected = " ".join(one for one, _ in wanted), " ".join(one for _, one in wanted)
    if mode is not None and "{{" in mode:
        context.check("a symbolic mode in the variable is set on each push and counts as a change")
    properties: dict[str, Any] = {
        "command": " && ".join(words),
        "provider": "shell",
        "unless": f"test \"$(stat -L -c '{pattern}' {word})\" = '{expected}'",
        "affects": [path],
    }
    if "{{" in path:
        del properties["affects"]
    what = "owner" if relative else "mode"
    return _if_there(context, word, [context.exec(f"set the {what} of {path}", properties), *made])


def _if_there(context: Context, word: str, entries: list[Entry]) -> list[Entry]:
    """Do nothing for a missing path if the task ignores failures."""
    failed, ignored = (context.task.keywords.get(one) for one in ("failed_when", "ignore_errors"))
    if text_rewriter.as_bool(failed) is False or text_rewriter.as_bool(ignored):
        for one in entries:
            one.properties["unless"] = f"test ! -e {word} || {one.properties['unless']}"
    return entries


def _without_zero(mode: str) -> str:
    """A mode from a variable, in the form that ``stat`` prints."""
    if mode.count("{{") != 1 or not mode.startswith("{{"):
        raise NotConvertible("a mode of several parts")
    return "{{ (" + mode[2:-2].strip() + " | string).lstrip('0') }}"


def _relative_mode(context: Context, path: str, mode: str, tests: list[str]) -> Entry:
    """``chmod`` with a relative mode, unless the bits are already set."""
    word = _word(path)
    test = f"find {word} -maxdepth 0 {' '.join(tests)} | grep -q ."
    properties = {"command": f"chmod {mode} {word}", "provider": "shell", "unless": test}
    return context.exec(f"set the mode of {path}", properties)


def _word(path: str) -> str:
    """A path as a word of a shell; that of a file on the host may contain any character."""
    if "{{" not in path:
        return shlex.quote(path)
    node = parse_expression(text_expression(path))
    return f"{{{{ {unparse(nodes.Filter(node, 'quote', [], [], None, None))} }}}}"
