"""``file``, ``copy`` and ``template`` (controller)."""

import posixpath
import re
from pathlib import Path
from typing import Any

from jinja2 import meta

from orchestrator.ansible.jinja import task_scoped_variables
from orchestrator.ansible.jinja.parsing import is_template, parse_template
from orchestrator.ansible.jinja.possible_values import loses_newline, resolve
from orchestrator.ansible.jinja.scope import OPEN, Scope
from orchestrator.ansible.jinja.template_files import rewrite
from orchestrator.ansible.jinja.unparse import literal
from orchestrator.ansible.modules.guarded_commands import shell
from orchestrator.ansible.modules.mapper import Context, base_name, clean_path, is_vaulted, maps
from orchestrator.ansible.modules.module_arguments import LOST_NEWLINE, Arguments, expression_of
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.symbolic_modes import mode_of_new_directory, relative_mode
from orchestrator.ansible.source.tasks import Task
from orchestrator.ansible.source.yaml_reader import read_text

_UNSUPPORTED = ("attributes", "attr", "access_time_format", "modification_time_format")
_CONTEXT = ("seuser", "serole", "setype", "selevel")
_TIMES = ("access_time", "modification_time")
_MAX_FILES = 200
_OF_ROOT = {"owner": "root", "group": "root", "mode": "0755"}


def attributes(
    context: Context, arguments: Arguments, mode: str, directory: bool = False
) -> dict[str, Any]:
    """Owner, group and mode, with a mark if the original does not change them."""
    arguments.refuse(*_UNSUPPORTED)
    for name in arguments.others(*_CONTEXT):
        context.check(f"{name}, a part of the SELinux context, is not managed")
    arguments.refuse(*_TIMES, unless=("preserve", "now"))
    arguments.ignore("unsafe_writes")
    user = context.become_user or "root"
    own = {"owner": arguments.text("owner"), "group": arguments.text("group")}
    own["mode"] = (
        mode if arguments.raw("mode") == "preserve" else arguments.mode("mode", directory=directory)
    )
    missing = [name for name, one in own.items() if one is None]
    if missing:
        what = "directory" if directory else "file"
        words = re.sub(r", (\w+)$", r" and \1", ", ".join(missing))
        context.check(
            f"{words} {'is' if len(missing) == 1 else 'are'} not set in the original, "
            f"which does not change them if the {what} exists"
        )
    defaults = {"owner": user, "group": user, "mode": mode}
    return {name: one if one is not None else defaults[name] for name, one in own.items()}


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
    raise NotConvertible(f"state {state}")


def directories_above(
    context: Context, path: str, own: dict[str, Any] | None = None
) -> list[Entry]:
    """Commands for missing directories above a path, which the original creates.

    They get the attributes ``own``, by default those of root. There are none for a computed path.
    """
    own = {**_OF_ROOT, **(own or {})}
    found: list[Entry] = []
    parent = posixpath.dirname(path)
    while parent.strip("/") and not (
        "{{" in parent or "${" in parent or context.is_directory(parent)
    ):
        command = f"install -d -o {own['owner']} -g {own['group']} -m {own['mode']} {parent}"
        properties = {"command": command, "creates": parent, "affects": [parent]}
        made = Entry("exec", f"make {parent}", properties, changes=False, implied=True)
        found.insert(0, made)
        parent = posixpath.dirname(parent)
    return found


def _check_above(context: Context, arguments: Arguments) -> None:
    """Mark a computed directory if a known value of it may be below a missing directory."""
    names = ("path", "dest", "name")
    parents = [posixpath.dirname(str(one).rstrip("/")) for one in arguments.sample(*names).values]
    if not parents:
        parents = resolve(posixpath.dirname(str(arguments.raw(*names))), arguments.scope).values
    if any(one.strip("/") and not context.is_directory(one) for one in map(str, parents)):
        context.check(
            "in the original, missing parent directories get the owner, group and mode of the "
            "directory; here, they belong to root"
        )


def _directory(context: Context, arguments: Arguments, path: str) -> list[Entry]:
    recurse = arguments.flag("recurse", default=False)
    relative = relative_mode(arguments.raw("mode"))
    raw = str(arguments.raw("mode"))
    if relative:
        arguments.replace("mode", None)
    has_mode = arguments.raw("mode") is not None
    complete = has_mode and None not in (arguments.raw("owner"), arguments.raw("group"))
    owner, group = arguments.text("owner"), arguments.text("group")
    own = attributes(
        context, arguments, mode_of_new_directory(raw) if relative else "0755", directory=True
    )
    above = [] if own == _OF_ROOT else directories_above(context, path, own)
    parent = posixpath.dirname(path)
    if own != _OF_ROOT and ("{{" in parent or not parent.startswith("/")):
        _check_above(context, arguments)
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
    words: list[str] = []
    tests: list[str] = []
    if owner is not None or group is not None:
        words.append(f"chown -R {owner or ''}{':' + group if group is not None else ''} {path}")
        for name, value in (("user", owner), ("group", group)):
            tests += [f"! -{name} {value}"] if value is not None else []
    if mode:
        words.append(f"chmod -R {mode} {path}")
        if re.fullmatch(r"[0-7]+", mode):
            tests.append(f"! -type l ! -perm {mode}")
        else:
            context.check("the mode of the directory's content is set on each push")
            tests.append("-true")
    test = f"find {path} {' -o '.join(tests)} | grep -q ."
    properties = {"command": " && ".join(words), "provider": "shell", "onlyif": shell(test)}
    return context.exec(f"set the content of {path}", properties)


def _link(context: Context, arguments: Arguments, path: str) -> list[Entry]:
    target = arguments.required("src")
    if arguments.boolean("force") not in (None, False):
        context.check("ccm replaces links and empty directories, but no files or full directories")
    if any(arguments.raw(name) is not None for name in ("owner", "group", "mode")):
        context.check("owner, group and mode of the link, or of its target, are not managed")
    return [Entry("link", path, {"target": target})]


def _existing(context: Context, arguments: Arguments, path: str) -> list[Entry]:
    """Return the named attributes of an existing path; the others are kept."""
    arguments.refuse(*_UNSUPPORTED, *_TIMES, "recurse", unless=(False, "preserve"))
    arguments.ignore("unsafe_writes", "src")
    owner, group = arguments.text("owner"), arguments.text("group")
    relative = relative_mode(arguments.raw("mode"))
    if relative and "X" in str(arguments.raw("mode")):
        raise NotConvertible("X of a mode, which depends on the file")
    mode = None if relative else arguments.mode("mode")
    words, wanted = [], []
    if owner is not None or group is not None:
        both = f"{owner or ''}:{group}" if group is not None else str(owner)
        words.append(f"chown {both} {path}")
        signs = "%U" if group is None else "%G" if owner is None else "%U:%G"
        if any(one is not None and one.isdigit() for one in (owner, group)):
            signs = signs.replace("%U", "%u").replace("%G", "%g")
        wanted.append((signs, str(owner) if group is None else both.lstrip(":")))
    if mode is not None:
        words.append(f"chmod {mode} {path}")
        wanted.append(("%a", mode.lstrip("0") or "0" if "{{" not in mode else _without_zero(mode)))
    if relative:
        made = [_relative_mode(context, path, str(arguments.raw("mode")), relative)]
        if not words:
            return made
        raise NotConvertible("a relative mode together with an owner")
    if not words:
        raise NotConvertible("state file without attributes, which only tests the path")
    pattern, expected = " ".join(one for one, _ in wanted), " ".join(one for _, one in wanted)
    if mode is not None and "{{" in mode:
        context.check(
            "a symbolic mode in the variable is set, and counts as a change, on each push"
        )
    properties: dict[str, Any] = {
        "command": " && ".join(words),
        "provider": "shell",
        "unless": f"test \"$(stat -L -c '{pattern}' {path})\" = '{expected}'",
        "affects": [path],
    }
    if "{{" in path:
        del properties["affects"]
    return [context.exec(f"set the mode of {path}", properties)]


def _without_zero(mode: str) -> str:
    """A mode from a variable, in the form that ``stat`` prints."""
    if mode.count("{{") != 1 or not mode.startswith("{{"):
        raise NotConvertible("a mode of several parts")
    return "{{ (" + mode[2:-2].strip() + " | string).lstrip('0') }}"


def _relative_mode(context: Context, path: str, mode: str, tests: list[str]) -> Entry:
    """``chmod`` with a relative mode, unless the bits are already set."""
    test = f"find {path} -maxdepth 0 {' '.join(tests)} | grep -q ."
    properties = {"command": f"chmod {mode} {path}", "unless": shell(test)}
    return context.exec(f"set the mode of {path}", properties)


def target_path(context: Context, arguments: Arguments, source: str) -> str:
    """The path of the file: ``dest``, or the name of the source below ``dest`` if that is a
    directory.
    """
    raw = arguments.at_home(arguments.required("dest", "path"))
    if raw.endswith("/") or context.is_directory(raw):
        name = base_name(source)
        if "{{" in source and any(str(one)[-1:] == "/" for one in arguments.sample("src").values):
            raise NotConvertible("src is the content of a directory that a variable names")
        if not name:
            raise NotConvertible("dest is a directory, and the name of the file is computed")
        return clean_path(raw.rstrip("/") + "/" + name)
    known = arguments.sample("dest").values if raw.startswith("{{") else []
    ends = [posixpath.basename(one) for one in known if isinstance(one, str)]
    if ends and not any("." in one or one in source for one in ends):
        context.check("dest must be the path of the file, not of a directory")
    return clean_path(raw)


def validation(arguments: Arguments) -> dict[str, Any]:
    """The property ``validate``, if the task has it."""
    command = arguments.text("validate")
    if command is None:
        return {}
    if "%s" not in command:
        raise NotConvertible("validate without %s")
    return {"validate": command.replace("%s", "{}")}


def _common(context: Context, arguments: Arguments, properties: dict[str, Any]) -> dict[str, Any]:
    properties.update(validation(arguments))
    if arguments.flag("backup", default=False):
        properties["backup"] = True
        context.note("backups are named .NAME.~1~, and the newest 5 are kept")
    force = arguments.boolean("force")
    if force is not None and force is not True:
        properties["replace"] = force
    arguments.ignore("follow", "decrypt", "checksum", "_original_basename")
    return properties


@maps("copy")
def copy(context: Context, arguments: Arguments) -> list[Entry]:
    """Files with literal content, or from the project."""
    content = arguments.raw("content")
    arguments.refuse("local_follow", unless=(True, False))
    if content is not None:
        if not isinstance(content, str):
            raise NotConvertible("content that is not text")
        raw = arguments.required("dest")
        if raw.endswith("/"):
            raise NotConvertible("dest is a directory")
        path = clean_path(raw)
        arguments.ignore("remote_src")
        # Ansible preserves the mode of its temporary file.
        default = "0600" if arguments.raw("mode") == "preserve" else "0644"
        own = attributes(context, arguments, default)
        arguments.check_text("content")
        body = arguments.printed("content") or ""
        return [Entry("file", path, _common(context, arguments, {"content": body, **own}))]
    source = arguments.source("src")
    here = context.files.is_on_hosts(source)
    if here:
        context.check(f"{source} is on each host; in the original it is on the controller")
    if arguments.flag("remote_src", default=False) or here:
        path = target_path(context, arguments, source)
        if source.endswith("/"):
            raise NotConvertible("a directory on the target as the source")
        context.check("the source must be a file, not a directory")
        own = attributes(context, arguments, "0644")
        return [Entry("file", path, _common(context, arguments, {"source": source, **own}))]
    return _local_copy(context, arguments, source)


def _local_copy(context: Context, arguments: Arguments, source: str) -> list[Entry]:
    if "{{" in source:
        known = _known_relative(context, arguments.raw("src"), "files")
        if not (context.files.base / "files").is_dir() or (
            source.startswith(("/", "{{ Data")) and not known
        ):
            return _beside(context, arguments, source)
        _take_all(context)
        path = target_path(context, arguments, source)
        own = attributes(context, arguments, "0644")
        written = posixpath.join(context.files.prefix, "files", source)
        return [Entry("file", path, _common(context, arguments, {"source": written, **own}))]
    found = context.files.find("files", source)
    if found is None:
        raise NotConvertible(f"{source} is not in the project")
    written, original = found
    if original.is_dir():
        return _tree(context, arguments, source=source, written=written, original=original)
    if is_vaulted(original):
        raise NotConvertible(f"{source} is encrypted with ansible-vault")
    path = target_path(context, arguments, source)
    own = attributes(context, arguments, _own_mode(arguments, original))
    context.files.take(written, original)
    entry = Entry("file", path, _common(context, arguments, {"source": written, **own}))
    return _with_directory(context, arguments, entry)


def _beside(context: Context, arguments: Arguments, source: str) -> list[Entry]:
    """A controller file that a variable names, with a path relative to the manifest."""
    known = [one for one in arguments.sample("src").values if isinstance(one, str) and one]
    for one in known:
        found = context.files.find("files", one)
        if found is not None and found[1].is_file():
            context.files.take(
                posixpath.join(posixpath.dirname(context.files.prefix), one), found[1]
            )
    context.check(
        "the path is relative to this manifest; put the file there, or set the variable accordingly"
    )
    path = target_path(context, arguments, source)
    own = attributes(context, arguments, "0644")
    return [Entry("file", path, _common(context, arguments, {"source": source, **own}))]


def _own_mode(arguments: Arguments, original: Path) -> str:
    """The mode of a project file with ``mode: preserve``, else the mode of a new file."""
    mode = original.stat().st_mode & 0o777
    return f"{mode:04o}" if arguments.raw("mode") == "preserve" else "0644"


def _with_directory(context: Context, arguments: Arguments, entry: Entry) -> list[Entry]:
    """A file, and the directory that it is copied into, which the original creates."""
    if not str(arguments.raw("dest", "path")).endswith("/"):
        return [entry]
    own = {name: entry.properties[name] for name in ("owner", "group")}
    return [*directories_above(context, entry.name, own), entry]


def _tree(
    context: Context, arguments: Arguments, *, source: str, written: str, original: Path
) -> list[Entry]:
    """A directory of files: one resource each."""
    base = clean_path(arguments.required("dest"))
    if not source.endswith("/"):
        base = posixpath.join(base, posixpath.basename(source))
    own = attributes(context, arguments, "0644")
    common = _common(context, arguments, {})
    mode = arguments.mode("directory_mode")
    if mode is None:
        context.check("directories that exist keep their mode in the original; here it is 0755")
    directory = {**own, "mode": mode or "0755"}
    made = tree(
        context, written=written, original=original, base=base,
        directory=directory, file={**own, **common},
    )  # fmt: skip
    return [*directories_above(context, base), *made]


def tree(
    context: Context, *, written: str, original: Path, base: str,
    directory: dict[str, Any] | None = None, file: dict[str, Any] | None = None,
) -> list[Entry]:  # fmt: skip
    """A directory of the project: one resource for each directory and file. NotConvertible.

    Without properties, they belong to root and keep their modes from the project.
    """
    found = sorted(original.rglob("*"))
    if len(found) > _MAX_FILES or any(one.is_symlink() for one in found):
        raise NotConvertible(f"a directory with links, or with more than {_MAX_FILES} files")
    entries = [Entry("file", base, {"ensure": "directory", **(directory or _OF_ROOT)})]
    for one in found:
        name = one.relative_to(original).as_posix()
        path = posixpath.join(base, name)
        own = {**_OF_ROOT, "mode": f"{one.stat().st_mode & 0o777:04o}"}
        if one.is_dir():
            entries.append(Entry("file", path, {"ensure": "directory", **(directory or own)}))
            continue
        place = posixpath.join(written, name)
        context.files.take(place, one)
        entries.append(Entry("file", path, {"source": place, **(file or own)}))
    return entries


def _take_all(context: Context) -> None:
    """Use all files of the role that are copied, because a variable names one of them."""
    base = context.files.base / "files"
    for one in sorted(base.rglob("*")):
        if one.is_file() and not one.is_symlink() and context.files.holds(one):
            written = Path(context.files.prefix, "files", one.relative_to(base))
            context.files.take(written.as_posix(), one)


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
    own = attributes(context, arguments, _own_mode(arguments, found[1]) if found else "0644")
    content = f"{{{{ {template_call(context, arguments.raw('src'), source)} }}}}"
    entry = Entry("file", path, _common(context, arguments, {"content": content, **own}))
    return _with_directory(context, arguments, entry)


def template_call(context: Context, raw: Any, source: str) -> str:
    """The call of ``template()`` for a template of the project."""
    files = context.files
    if "{{" in source:
        base = files.base / "templates"
        if not base.is_dir() or (
            source.startswith(("/", "{{ Data")) and not _known_relative(context, raw, "templates")
        ):
            context.check(
                "the path is relative to this manifest; put a ccm template there, "
                "or set the variable accordingly"
            )
            return f"template({expression_of(raw, context.scope)}{_keywords(context, None)})"
        for one in sorted(base.rglob("*")):
            if one.is_file() and files.holds(one) and not _is_of_loop(context, one):
                _take_template(context, one.relative_to(base).as_posix(), original=one)
        path = expression_of(raw, context.scope)
        prefix = literal(posixpath.join(files.prefix, "templates") + "/")
        path = f"({path})" if " if " in path or " or " in path else path
        return f"template({prefix} ~ {path}{_keywords(context, None)})"
    found = files.find("templates", source)
    if found is None:
        raise NotConvertible(f"the template {source} is not in the project")
    written, original = found
    if original.is_dir():
        raise NotConvertible(f"the template {source} is a directory")
    if is_vaulted(original):
        raise NotConvertible(f"{source} is encrypted with ansible-vault")
    written = _take_template(context, source, original=original, written=written)
    if loses_newline(read_text(original), _template_scope(context)):
        context.check(LOST_NEWLINE)
    return f"template({literal(written)}{_keywords(context, original)})"


def _is_of_loop(context: Context, original: Path) -> bool:
    """Whether a template reads the element of a loop, and this task has none."""
    read = meta.find_undeclared_variables(parse_template(read_text(original)))
    return "item" in read and "item" not in context.scope.locals


def look_up_file(files: Any, scope: Scope, kind: str, name: str) -> str:
    """The path of a file that ``lookup('file')`` or ``lookup('template')`` reads.

    NotConvertible if the project does not have it.
    """
    found = files.find(f"{kind}s", name)
    if found is None or found[1].is_dir():
        raise NotConvertible(f"the file {name} is not in the project")
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


def _known_relative(context: Context, raw: Any, folder: str) -> bool:
    """Whether a path begins with a file name, or is known to be one of files of the role."""
    if re.match(r"\{\{[^}]*\|\s*basename\s*\}\}", str(raw)):
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
            result.problems.append((1, f"it includes {include}, which is not in the project"))
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
    return scope.having(task_vars={}, renames={}, place=place).with_locals(samples)


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
