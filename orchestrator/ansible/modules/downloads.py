"""``get_url``, ``unarchive`` and ``git`` (controller)."""

import posixpath
import re
from typing import Any

from orchestrator.ansible.jinja.parsing import is_template, only_expression, path_of
from orchestrator.ansible.modules.commands import single_quoted
from orchestrator.ansible.modules.mapping_context import Context, clean_path, maps
from orchestrator.ansible.modules.module_arguments import Arguments, number_or_text
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_ENDINGS = {
    ".tar.gz": "-z", ".tgz": "-z", ".tar.bz2": "-j", ".tbz2": "-j", ".tar.xz": "-J", ".txz": "-J",
    ".tar": "", ".tar.zst": "--zstd", ".zip": "zip",
}  # fmt: skip


def _checksum(arguments: Arguments, properties: dict[str, Any]) -> tuple[str, str] | None:
    """Set the checksum; return it instead if ``download`` lacks its algorithm."""
    value = arguments.text("checksum")
    if value is None or value == "":
        return None
    match = re.fullmatch(r"(sha256|sha512):\s*(https?://\S+|\{\{.*)", value)
    if match and not match.group(2).startswith("{{"):
        properties["checksum_url"] = match.group(2)
        return None
    other = re.match(r"(md5|sha1|sha224|sha384):\s*", value)
    if other is not None:
        return other.group(1), value[other.end() :]
    if re.search(r"https?://|_url", value):
        raise NotConvertible("a computed address of a checksum file")
    properties["checksum"] = value
    return None


def _checked(context: Context, path: str, kind: str, value: str) -> Entry:
    """A test of a checksum that ``download`` does not support, after the file is in place."""
    test = f'echo "{value}  {path}" | {kind}sum --check --quiet'
    context.check(f"the checksum is tested after the file is in place, by {kind}sum")
    properties = {"command": f"sh -c {single_quoted(test)}", "timeout": "60s"}
    return Entry("wait", context.unique(f"checksum of {path}"), properties, changes=False)


def _target(context: Context, arguments: Arguments, url: str) -> str:
    """The path of the file: ``dest``, or the file name from the URL below ``dest`` if that is a
    directory.
    """
    raw = arguments.required("dest")
    path = raw
    if raw.endswith("/") or context.is_directory(raw):
        name = posixpath.basename(url.split("?")[0])
        if not name or ("{{" in url and not re.fullmatch(r"[^{}]*(\{\{.*?\}\}[^{}]*)*", name)):
            raise NotConvertible("dest is a directory, and the name of the file is computed")
        if name.count("{{") != name.count("}}"):
            raise NotConvertible("dest is a directory, and the name of the file is computed")
        path = raw.rstrip("/") + "/" + name
    elif "{{" in raw.rsplit("/", 1)[-1] and not re.search(r"\.\w+$", raw):
        context.check("dest must be the path of the file, not of a directory")
    return path


def _attributes(arguments: Arguments, properties: dict[str, Any]) -> None:
    properties.update(arguments.texts_by_name("owner", "group"))
    mode = arguments.mode("mode")
    if mode is not None:
        properties["mode"] = mode
    timeout = arguments.text("timeout")
    if timeout is not None:
        properties["timeout"] = f"{timeout}s"
    for name, own in (("url_username", "username"), ("url_password", "password")):
        value = arguments.text(name, name.removeprefix("url_"))
        if value is not None:
            properties[own] = value
    headers = arguments.raw("headers")
    if headers is not None:
        if not isinstance(headers, dict):
            raise NotConvertible("headers as text")
        properties["headers"] = arguments.value("headers")


_PLAIN = re.compile(r"[\w./:@%+,=-]*")
"""Characters that need no quotes in a command."""


@maps("get_url")
def get_url(context: Context, arguments: Arguments) -> list[Entry]:
    """Downloads."""
    arguments.refuse(
        "client_cert", "client_key", "ciphers", "use_gssapi", "unredirected_headers", "attributes",
        "seuser", "setype", "selevel", "serole",
    )  # fmt: skip
    arguments.refuse(validate_certs=True, use_proxy=True)
    arguments.ignore("http_agent", "tmp_dest", "decompress", "force_basic_auth", "unsafe_writes",
                 "use_netrc", "sha256sum")  # fmt: skip
    if arguments.flag("backup", default=False):
        context.check("no backup of a replaced file is kept")
    url = arguments.required("url")
    path = _target(context, arguments, url)
    properties: dict[str, Any] = {"url": url}
    other = _checksum(arguments, properties)
    force = arguments.boolean("force", "thirsty")
    if force is not None and force is not False:
        properties["force"] = force
    _attributes(arguments, properties)
    if context.task.is_local:
        context.files.on_hosts.add(clean_path(path))
    made = [Entry("download", clean_path(path), properties)]
    if other is not None:
        made.append(_checked(context, clean_path(path), *other))
    return made


@maps("unarchive", ignored="decrypt list_files unsafe_writes follow")
def unarchive(context: Context, arguments: Arguments) -> list[Entry]:
    """Archives from a URL, from the project or on the host."""
    arguments.refuse("exclude", "include", "attributes", "seuser", "setype", unless=([],))
    arguments.refuse(keep_newer=False, validate_certs=True)
    source, target = arguments.source("src"), clean_path(arguments.required("dest"))
    remote = _is_remote(context, arguments, source, target)
    creates = arguments.text("creates")
    options = arguments.raw("extra_opts") or []
    owner, group, mode = arguments.text("owner"), arguments.text("group"), arguments.mode("mode")
    if "://" in source.split("{{")[0] or (remote and _is_url(arguments)):
        if options:
            raise NotConvertible("an archive from a URL with extra_opts")
        if mode is not None:
            context.check(f"the original gives all extracted files the mode {mode}")
        return _from_url(context, source, target=target, creates=creates, own=(owner, group))
    entries: list[Entry] = []
    path = source
    if not remote:
        found = context.files.find("files", source)
        if found is None or found[1].is_dir():
            raise NotConvertible(f"'{source}' is not in the project")
        context.files.take(*found)
        path = f"/var/cache/{posixpath.basename(source)}"
        own = {"source": found[0], "owner": "root", "group": "root", "mode": "0600"}
        entries.append(Entry("file", path, own))
        context.check(f"a copy of the archive is kept in {path}")
    _require_words(path, target, owner, group)
    words = _tar_options(options, path)
    if words is None and (owner or group):
        raise NotConvertible("owner and group of a zip archive")
    if mode is not None:
        context.check(f"the original gives all extracted files the mode {mode}")
    if words is None and creates is None:
        raise NotConvertible("a zip archive without creates")
    if words is None:
        properties: dict[str, Any] = {"command": f"unzip -o {path} -d {target}"}
    else:
        properties = _by_tar(words, f"-f {path}", target=target, owner=owner, group=group)
    if creates is not None:
        properties.pop("unless", None)
        properties["creates"] = creates
    entries.append(context.exec(f"extract {path}", properties))
    return entries


def _is_remote(context: Context, arguments: Arguments, source: str, target: str) -> bool:
    """Whether the archive is on the host."""
    if arguments.raw("copy") is None:
        remote = arguments.flag("remote_src", "copy", default=False)
    else:
        remote = not arguments.flag("copy", default=True)
    if context.task.is_local:
        known = context.files.is_on_hosts(source) or "://" in source or _is_url(arguments)
        if not known:
            raise NotConvertible("delegate_to: localhost with an archive on the controller")
        context.files.on_hosts.add(target)
    if not remote and context.files.is_on_hosts(source):
        context.check(f"{source} is on each host; in the original, it is on the controller")
        return True
    return remote


def _is_url(arguments: Arguments) -> bool:
    raw = arguments.raw("src")
    node = only_expression(raw) if is_template(raw) else None
    path = path_of(node) if node is not None else None
    if path is not None and not path[1] and path[0] in arguments.scope.values:
        own = [str(one) for one in arguments.scope.values[path[0]]]
        if own and all(one.startswith(("http://", "https://")) for one in own):
            return True
    known = [one for one in arguments.sample("src").values if isinstance(one, str)]
    return bool(known) and all("://" in one for one in known)


def _require_words(*arguments: str | None) -> None:
    """Raise NotConvertible if a shell does not read an unquoted string as one word."""
    for one in arguments:
        if one and not _PLAIN.fullmatch(re.sub(r"\{\{.*?\}\}", "", one)):
            raise NotConvertible(f"an archive with {one}, which a shell does not read as one word")


def _tar_options(options: Any, path: str) -> list[str] | None:
    """The options of tar; None for a zip archive."""
    ending = next(
        (one for one in sorted(_ENDINGS, key=len, reverse=True) if path.endswith(one)), ""
    )
    if not ending and "{{" not in path:
        raise NotConvertible("an archive whose name does not show its format")
    kind = _ENDINGS.get(ending, "")
    if kind == "zip":
        return None
    if not isinstance(options, list) or any("{{" in str(one) for one in options):
        raise NotConvertible("computed extra_opts")
    return [*([kind] if kind else []), *(str(one) for one in options)]


def _by_tar(
    words: list[str], file: str, *, target: str, owner: str | None, group: str | None
) -> dict[str, Any]:
    """Return the properties that extract an archive if its files differ, and set their owner."""
    as_root = (owner, group) == ("root", "root")
    own = ["--no-same-owner"] if as_root else []
    properties = {"command": " ".join(["tar --extract", f"-C {target}", *words, *own, file])}
    if (owner or group) and not as_root:
        names = " ".join(["tar --list --show-transformed-names", *words, file])
        new = f"{owner or ''}{f':{group}' if group else ''}"
        properties["command"] += (
            f" && {names} | sed 's|^/*|./|' | (cd {target} && xargs -d '\\n' chown -h {new})"
        )
        properties["provider"] = "shell"
    flags = [one for one in words if one.startswith("-")]
    test = " ".join(["tar --diff", f"-C {target}", *flags, file])
    # For a stripped directory, tar reports that it cannot find "".
    same = "^tar: : |(Uid|Gid) differs" if owner or group else "^tar: : "
    if owner or group or any("strip" in one for one in flags):
        properties["unless"] = f"sh -c '! {test} 2>&1 | grep -qvE \"{same}\"'"
    else:
        properties["unless"] = f"sh -c '{test} >/dev/null 2>&1'"
    return properties


def _from_url(
    context: Context, source: str, *, target: str, creates: str | None, own: tuple[Any, Any]
) -> list[Entry]:
    name = posixpath.basename(source.split("?")[0])
    if not any(name.endswith(one) for one in _ENDINGS) or name.count("{{") != name.count("}}"):
        raise NotConvertible("an archive whose URL does not show its format")
    owner, group = own
    properties: dict[str, Any] = {
        "url": source, "extract_parent": target, "owner": "root", "group": "root",
    }  # fmt: skip
    if creates is not None:
        properties["creates"] = creates
        properties["cleanup"] = True
    else:
        context.check("the archive is kept in the directory; while it exists, nothing is extracted")
    if owner not in (None, "root") or group not in (None, "root"):
        context.check("the extracted files belong to root; set their owner with a file resource")
    else:
        context.check(
            "the extracted files belong to root, and group and others cannot write to them; "
            "the original keeps the owners and modes in the archive"
        )
    return [Entry("archive", f"{target.rstrip('/')}/{name}", properties)]


@maps("git")
def git(context: Context, arguments: Arguments) -> list[Entry]:
    """Checkouts."""
    arguments.refuse(
        "refspec", "reference", "separate_git_dir", "archive", "archive_prefix", "executable",
        "key_file", "ssh_opts", "verify_commit", "gpg_allowlist", "gpg_whitelist", "umask",
        "track_submodules", "remote", unless=(False, "origin"),
    )  # fmt: skip
    arguments.refuse(bare=False, clone=True)
    if arguments.flag("accept_hostkey", "accept_newhostkey", default=False) or arguments.flag(
        "accept_newhostkey", default=False
    ):
        context.check("ccm does not accept unknown host keys of servers: set known_host")
    properties: dict[str, Any] = {"url": arguments.required("repo", "name")}
    version = arguments.text("version")
    if version not in (None, "HEAD"):
        properties["ref"] = version
    properties.update(arguments.booleans_by_name("update", default=True))
    depth = arguments.text("depth")
    if depth is not None:
        properties["depth"] = number_or_text(depth)
    recursive = arguments.boolean("recursive")
    if recursive is not None and recursive is not True:
        properties["submodules"] = recursive
    properties.update(arguments.booleans_by_name("force", default=False))
    path = clean_path(arguments.required("dest"))
    context.directories.add(path)
    return [Entry("git", path, properties)]
