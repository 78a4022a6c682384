"""``copy``: files and directories of the project (controller)."""

import posixpath
from pathlib import Path
from typing import Any

from orchestrator.ansible.modules.files.attributes import (
    OF_ROOT,
    attributes,
    common,
    directories_above,
    own_mode,
    target_path,
    with_directory,
)
from orchestrator.ansible.modules.files.templates import known_relative
from orchestrator.ansible.modules.mapping_context import Context, clean_path, is_vaulted, maps
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_MAX_FILES = 200


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
        return [Entry("file", path, common(context, arguments, {"content": body, **own}))]
    source = arguments.source("src")
    here = context.files.is_on_hosts(source)
    if here:
        context.check(f"{source} is on each host; in the original, it is on the controller")
    if arguments.flag("remote_src", default=False) or here:
        path = target_path(context, arguments, source)
        if source.endswith("/"):
            raise NotConvertible("a directory on the target as the source")
        context.check("the source must be a file, not a directory")
        own = attributes(context, arguments, "0644")
        return [Entry("file", path, common(context, arguments, {"source": source, **own}))]
    return _local_copy(context, arguments, source)


def _local_copy(context: Context, arguments: Arguments, source: str) -> list[Entry]:
    if "{{" in source:
        known = known_relative(context, arguments.raw("src"), "files")
        if not (context.files.base / "files").is_dir() or (
            source.startswith(("/", "{{ Data")) and not known
        ):
            return _beside(context, arguments, source)
        _take_all(context)
        path = target_path(context, arguments, source)
        own = attributes(context, arguments, "0644")
        written = posixpath.join(context.files.prefix, "files", source)
        return [Entry("file", path, common(context, arguments, {"source": written, **own}))]
    found = context.files.find("files", source)
    if found is None:
        raise NotConvertible(f"'{source}' is not in the project")
    written, original = found
    if original.is_dir():
        return _tree(context, arguments, source=source, written=written, original=original)
    if is_vaulted(original):
        raise NotConvertible(f"{source} is encrypted with ansible-vault")
    path = target_path(context, arguments, source)
    own = attributes(context, arguments, own_mode(arguments, original))
    context.files.take(written, original)
    entry = Entry("file", path, common(context, arguments, {"source": written, **own}))
    return with_directory(context, arguments, entry)


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
    return [Entry("file", path, common(context, arguments, {"source": source, **own}))]


def _tree(
    context: Context, arguments: Arguments, *, source: str, written: str, original: Path
) -> list[Entry]:
    """A directory of files: one resource each."""
    base = clean_path(arguments.required("dest"))
    if not source.endswith("/"):
        base = posixpath.join(base, posixpath.basename(source))
    own = attributes(context, arguments, "0644")
    shared = common(context, arguments, {})
    mode = arguments.mode("directory_mode")
    if mode is None:
        context.check("directories that exist keep their mode in the original; here it is 0755")
    directory = {**own, "mode": mode or "0755"}
    made = tree(
        context, written=written, original=original, base=base,
        directory=directory, file={**own, **shared},
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
    entries = [Entry("file", base, {"ensure": "directory", **(directory or OF_ROOT)})]
    for one in found:
        name = one.relative_to(original).as_posix()
        path = posixpath.join(base, name)
        own = {**OF_ROOT, "mode": f"{one.stat().st_mode & 0o777:04o}"}
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
