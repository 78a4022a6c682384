"""Owner, group and mode of files, the directories above them, and their paths (controller)."""

import posixpath
import re
from pathlib import Path
from typing import Any

from orchestrator.ansible.jinja.possible_values import resolve
from orchestrator.ansible.modules.mapping_context import Context, base_name, clean_path
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.symbolic_modes import mode_of_new_file, relative_mode

UNSUPPORTED = ("attributes", "attr", "access_time_format", "modification_time_format")
_CONTEXT = ("seuser", "serole", "setype", "selevel")
TIMES = ("access_time", "modification_time")
OF_ROOT = {"owner": "root", "group": "root", "mode": "0755"}


def attributes(
    context: Context, arguments: Arguments, mode: str, directory: bool = False
) -> dict[str, Any]:
    """Owner, group and mode, with a mark if the original does not change them."""
    arguments.refuse(*UNSUPPORTED)
    for name in arguments.others(*_CONTEXT):
        context.check(f"{name}, a part of the SELinux context, is not managed")
    arguments.refuse(*TIMES, unless=("preserve", "now"))
    arguments.ignore("unsafe_writes")
    user = context.become_user or "root"
    own = {"owner": arguments.text("owner"), "group": arguments.text("group")}
    given = arguments.raw("mode")
    if not directory and relative_mode(given) and "X" not in given:
        own["mode"] = mode_of_new_file(given)
        context.check(
            f"this is the mode of a new file; the original changes an existing one by {given}"
        )
    else:
        own["mode"] = mode if given == "preserve" else arguments.mode("mode", directory=directory)
    missing = [name for name, one in own.items() if one is None]
    if missing:
        what = "directory" if directory else "file"
        words = re.sub(r", (\w+)$", r" and \1", ", ".join(missing))
        context.check(
            f"the original does not set the {words} of an existing {what}, but this resource does"
        )
    defaults = {"owner": user, "group": user, "mode": mode}
    return {name: one if one is not None else defaults[name] for name, one in own.items()}


def directories_above(
    context: Context, path: str, own: dict[str, Any] | None = None
) -> list[Entry]:
    """Commands for missing directories above a path, which the original creates.

    They get the attributes ``own``, by default those of root. There are none for a computed path.
    """
    own = {**OF_ROOT, **(own or {})}
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


def check_above(context: Context, arguments: Arguments) -> None:
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


def common(context: Context, arguments: Arguments, properties: dict[str, Any]) -> dict[str, Any]:
    """Add the arguments that all modules for the content of files share; return ``properties``."""
    properties.update(validation(arguments))
    if arguments.flag("backup", default=False):
        properties["backup"] = True
        context.note("backups are named .NAME.~1~, and the newest 5 are kept")
    force = arguments.boolean("force")
    if force is not None and force is not True:
        properties["replace"] = force
    arguments.ignore("follow", "decrypt", "checksum", "_original_basename")
    return properties


def own_mode(arguments: Arguments, original: Path) -> str:
    """The mode of a project file with ``mode: preserve``, else the mode of a new file."""
    mode = original.stat().st_mode & 0o777
    return f"{mode:04o}" if arguments.raw("mode") == "preserve" else "0644"


def with_directory(context: Context, arguments: Arguments, entry: Entry) -> list[Entry]:
    """A file, and the directory that it is copied into, which the original creates."""
    if not str(arguments.raw("dest", "path")).endswith("/"):
        return [entry]
    own = {name: entry.properties[name] for name in ("owner", "group")}
    return [*directories_above(context, entry.name, own), entry]
