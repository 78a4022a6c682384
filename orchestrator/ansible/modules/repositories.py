"""Package repositories of apt and dnf, and their keys (controller)."""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import is_template, outputs, path_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.modules.accounts import state_of
from orchestrator.ansible.modules.files.attributes import directories_above
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, number_or_text
from orchestrator.ansible.output.manifest_entries import Entry, slug
from orchestrator.ansible.problems import NotConvertible, TemplateArgument

_WORD = re.compile(r"(?:\{\{(?:(?!\}\}).)*\}\}|[^\s{]|\{(?!\{))+")
_OPTION = re.compile(r"\[((?:\{\{(?:(?!\}\}).)*\}\}|[^\]{]|\{(?!\{))*)\]\s*")
_MODES = ("0644", "644", 0o644)
"""The ways in which a task writes the mode of a repository's file."""
_OPTIONS = {"arch": "architectures", "signed-by": "signed_by"}


@maps("apt_repository", root=True, refused="mode", unless=_MODES)
def apt_repository(context: Context, arguments: Arguments) -> list[Entry]:
    """A line of sources.list."""
    arguments.refuse("validate_certs", unless=(True,))
    arguments.ignore(
        "update_cache", "update_cache_retries", "update_cache_retry_max_delay", "install_python_apt"
    )
    line = arguments.required("repo")
    known = [one for one in arguments.sample("repo").values if isinstance(one, str)]
    if line.startswith("ppa:") or (known and all(one.startswith("ppa:") for one in known)):
        return _ppa(context, arguments, line)
    arguments.ignore("codename")
    state = state_of(arguments)
    file = arguments.text("filename")
    try:
        found = _parsed(line)
        name = file.removesuffix(".list") if file is not None else _suggested(found["url"])
    except NotConvertible:
        return _as_line(context, line, file, state)
    if "{{" in name or "{{" in state:
        return _as_line(context, line, file, state)
    context.check(f"ccm writes {name}.sources; remove {name}.list if the original wrote it")
    if state != "present":
        return [Entry("repository", name, {"ensure": state})]
    return [Entry("repository", name, found)]


def _ppa(context: Context, arguments: Arguments, line: str) -> list[Entry]:
    """A PPA, which is added by a program of Ubuntu."""
    arguments.ignore("filename", "codename")
    absent = state_of(arguments) == "absent"
    word = line.removeprefix("ppa:") if "{{" not in line else (
        "{{ (" + line[2:-2].strip() + ") | replace('ppa:', '') }}" if line.startswith("{{") else
        line.removeprefix("ppa:"))  # fmt: skip
    test = f'grep -rqsF "{word}/ubuntu" /etc/apt/sources.list.d'
    command = f"add-apt-repository -y {'--remove ' if absent else ''}ppa:{word}"
    properties = {"command": command, "onlyif" if absent else "unless": test}
    context.check("runs add-apt-repository; ccm has no resource type for a PPA")
    return [context.exec(f"PPA {word}", properties)]


def _as_line(context: Context, line: str, file: str | None, state: str) -> list[Entry]:
    """A line that contains variables: the file as the original writes it."""
    name = (file or slug(context.task.name or "repository")).removesuffix(".list")
    if file is None and context.looped and line.startswith("{{") and line.count("{{") == 1:
        plain = f"({line[2:-2].strip()}) | regex_replace('^deb(-src)? +(\\\\[[^]]*\\\\] *)?', '')"
        name = "{{ " + plain + " | regex_replace('[^A-Za-z0-9]+', '_') }}"
    path = f"/etc/apt/sources.list.d/{name}.list"
    if file is None:
        context.check(f"the original names the file after the address, not {name}.list")
    if "{{" in state:
        raise TemplateArgument("state", str(context.task.args["state"]))
    if state != "present":
        return [_without_line(context, line)]
    own = {"owner": "root", "group": "root", "mode": "0644"}
    body = Entry("file", path, {"content": line + "\n", **own})
    command = {"command": "apt-get -q update", "refresh_only": True}
    title = context.unique(f"read the packages of {name}")
    update = Entry("exec", title, command, subscribe=[f"file#{path}"])
    if context.looped or "{{" in path:
        context.check("run apt-get update after a change, or set update_cache on the packages")
        return [body]
    return [body, update]


_REMOVAL = """\
for file in $(grep -lsxF -- "$line" /etc/apt/sources.list /etc/apt/sources.list.d/*.list); do
  grep -vxF -- "$line" "$file" > "$file.ccm"
  if [ -s "$file.ccm" ]; then cat "$file.ccm" > "$file"; else rm "$file"; fi
  rm "$file.ccm"
done
apt-get -q update"""
_IS_THERE = 'grep -qsxF -- "$line" /etc/apt/sources.list /etc/apt/sources.list.d/*.list'


def _without_line(context: Context, line: str) -> Entry:
    """The removal of a line from all files, and of files that have no other line."""
    properties = {
        "command": _REMOVAL,
        "provider": "shell",
        "environment": [f"line={line}"],
        "onlyif": _IS_THERE,
    }
    title = f"remove {line}" if context.looped else context.title(f"remove {line}")
    return Entry("exec", context.unique(title), properties)


def _parsed(line: str) -> dict[str, Any]:
    options = ""
    match = re.match(r"(deb|deb-src)\s+", line)
    if match is None:
        raise NotConvertible("a repository whose line is a variable")
    kind, rest = match.group(1), line[match.end() :]
    inner = _OPTION.match(rest)
    if inner is not None:
        options, rest = inner.group(1), rest[inner.end() :]
    words = _WORD.findall(rest)
    if len(words) < 2:
        raise NotConvertible("a repository without suite")
    found: dict[str, Any] = {"url": words[0], "suites": [words[1]]}
    if words[2:]:
        found["components"] = words[2:]
    if kind == "deb-src":
        found["types"] = ["deb-src"]
    for one in _WORD.findall(options):
        key, _, value = one.partition("=")
        if key not in _OPTIONS or not value:
            raise NotConvertible(f"the option {key} of a repository")
        found[_OPTIONS[key]] = value.split(",") if "{{" not in value else [value]
    return found


def _suggested(url: str) -> str:
    plain = re.sub(r"^\w+://(?:[^@/]*@)?", "", url)
    return re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"\{\{.*?\}\}", "", plain)).strip("_") or "apt"


@maps("deb822_repository", root=True)
def deb822_repository(context: Context, arguments: Arguments) -> list[Entry]:
    """A file of sources in the format deb822."""
    written = arguments.required("name")
    name = slug(written) if "{{" not in written else written
    state = arguments.literal("state", default="present")
    arguments.ignore("install_python_debian")
    if arguments.others("mode", unless=_MODES):
        context.check("the file has the mode 0644, unlike in the original")
    if state == "absent":
        arguments.ignore(
            "uris", "suites", "components", "types", "architectures", "signed_by", "enabled"
        )
        return [Entry("repository", name, {"ensure": "absent"})]
    properties: dict[str, Any] = {}
    uris = arguments.texts("uris")
    if isinstance(uris, list) and len(uris) == 1:
        properties["url"] = uris[0]
    else:
        properties["urls" if isinstance(uris, list) else "url"] = uris
    for word in ("suites", "components", "types", "architectures"):
        value = arguments.texts(word)
        if value is not None:
            is_one = isinstance(value, str) and not arguments.sample(word).all_kinds() & {"list"}
            properties[word] = [value] if is_one else value
    key = _key_of_sources(context, arguments, name, properties)
    properties.update(arguments.booleans_by_name("enabled"))
    trusted = arguments.boolean("trusted")
    if trusted is True:
        properties["gpgcheck"] = False
    elif trusted not in (None, False):
        raise NotConvertible("trusted is a variable")
    return [*key, Entry("repository", name, properties)]


def _key_of_sources(
    context: Context, arguments: Arguments, name: str, properties: dict[str, Any]
) -> list[Entry]:
    """Set how a repository is signed; return the resources for its key."""
    key = arguments.text("signed_by")
    if key is None:
        return []
    begun = _beginnings(str(arguments.raw("signed_by")), arguments.scope)
    if key.startswith("/"):
        properties["signed_by"] = [key]
        return []
    if begun and all(one.startswith("http") for one in begun):
        path = f"/etc/apt/keyrings/{name}.asc"
        context.check(f"check that the key is armored: {path} contains the download unchanged")
        properties["signed_by"] = [path]
        own = {"owner": "root", "group": "root", "mode": "0644"}
        return [*directories_above(context, path), Entry("download", path, {"url": key, **own})]
    if "{{" in key and not begun:
        raise NotConvertible("a key that is a variable, which may be a path, a URL or the key")
    if begun and all(one.startswith("/") for one in begun):
        properties["signed_by"] = [key]
    else:
        properties["key"] = key
    return []


def _beginnings(text: str, scope: Scope) -> list[str]:
    """Return the beginning of a string for each value of the variable that it starts with."""
    parts = outputs(text) if is_template(text) else None
    if not parts:
        return [] if is_template(text) else [text]
    first = parts[0]
    if isinstance(first, nodes.TemplateData):
        return [first.data]
    path = path_of(first)
    if path is None or path[1]:
        return []
    return [each for one in scope.values.get(path[0], []) for each in _beginnings(str(one), scope)]


@maps("yum_repository", root=True)
def yum_repository(context: Context, arguments: Arguments) -> list[Entry]:
    """A repository of dnf."""
    name = arguments.required("name")
    file = arguments.text("file")
    if file is not None and file.removesuffix(".repo") != name:
        context.check(f"ccm writes {name}.repo; the original writes {file}.repo")
    arguments.refuse("reposdir", unless=("/etc/yum.repos.d",))
    if arguments.others("mode", unless=_MODES) or arguments.others(
        "owner", "group", unless=("root",)
    ):
        context.check("the file belongs to root and has the mode 0644, unlike in the original")
    state = state_of(arguments)
    if state == "absent":
        arguments.ignore(*arguments.names())
        return [Entry("repository", name, {"ensure": "absent"})]
    key = arguments.raw("gpgkey")
    others = set(arguments.names()) - _OF_YUM - {"name", "file", "state", "reposdir", "mode",
                                                 "owner", "group", "gpgkey"}  # fmt: skip
    if others:
        return [_as_settings(context, arguments, name, sorted(others))]
    if key is not None and "file://" not in str(key) and not str(key).startswith("/"):
        return [_as_settings(context, arguments, name)]
    if arguments.raw("gpgcheck") is None:
        context.check("signatures are checked; the original leaves that to dnf.conf")
    return [Entry("repository", name, _of_yum(arguments))]


_OF_YUM = frozenset(
    ["baseurl", "metalink", "mirrorlist", "description", "username", "password", "enabled",
     "gpgcheck", "repo_gpgcheck", "priority"]
)  # fmt: skip
_SAFE = frozenset(
    ["metadata_expire", "sslverify", "sslcacert", "sslclientcert", "sslclientkey", "proxy",
     "proxy_username", "proxy_password", "cost", "timeout", "retries", "skip_if_unavailable",
     "exclude", "includepkgs", "module_hotfixes", "keepalive", "throttle", "bandwidth",
     "countme", "ip_resolve", "failovermethod", "enablegroups", "fastestmirror"]
)  # fmt: skip


def _as_settings(
    context: Context, arguments: Arguments, name: str, others: list[str] | None = None
) -> Entry:
    """A repository whose key is a URL; unlike ``repository``, ``edit`` needs no fingerprint."""
    file = (arguments.text("file") or name).removesuffix(".repo")
    settings: dict[str, Any] = {"name": arguments.required("description")}
    for word in ("baseurl", "gpgkey"):
        if arguments.texts(word) is not None:
            settings[word] = " ".join(arguments.listed(word))
    settings.update(
        arguments.texts_by_name(
            "metalink", "mirrorlist", "username", "password", "priority", "exclude", "includepkgs",
            "module_hotfixes",
        )
    )  # fmt: skip
    for word, flag in arguments.booleans_by_name("enabled", "gpgcheck", "repo_gpgcheck").items():
        is_known = isinstance(flag, bool)
        settings[word] = int(flag) if is_known else f"{{{{ {str(flag)[2:-2].strip()} | int }}}}"
    for word in others or []:
        if word not in _SAFE:
            raise NotConvertible(f"ccm has no equivalent of the parameter {word}")
        if word in settings:
            continue
        shown = arguments.text(word)
        if shown is not None:
            settings[word] = {"True": "1", "False": "0"}.get(shown, shown)
    if "gpgkey" in settings:
        context.check(
            "dnf reads the key from the URL; a `repository` with its fingerprint is safer"
        )
    path = f"/etc/yum.repos.d/{file}.repo"
    return Entry("edit", path, {"settings": {name: settings}, "create": True})


def _of_yum(arguments: Arguments) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    urls = arguments.texts("baseurl")
    if isinstance(urls, list) and len(urls) == 1:
        properties["url"] = urls[0]
    elif urls is not None:
        properties["url" if isinstance(urls, str) else "urls"] = urls
    properties.update(
        arguments.texts_by_name("metalink", "mirrorlist", "description", "username", "password")
    )
    properties.update(arguments.booleans_by_name("enabled", "gpgcheck", "repo_gpgcheck"))
    priority = arguments.text("priority")
    if priority is not None:
        properties["priority"] = number_or_text(priority)
    key = arguments.texts("gpgkey")
    if key is not None:
        paths = [one.removeprefix("file://") for one in key] if isinstance(key, list) else []
        if not paths or any(not one.startswith("/") for one in paths):
            raise NotConvertible("gpgkey from a URL, whose fingerprint ccm needs")
        properties["signed_by"] = paths
    return properties


@maps("apt_key", root=True, refused="validate_certs", unless=(True,))
def apt_key(context: Context, arguments: Arguments) -> list[Entry]:
    """A key that apt trusts for all repositories."""
    if state_of(arguments) != "present":
        raise NotConvertible("the removal of a key")
    number, ring = arguments.text("id"), arguments.text("keyring")
    own = {"owner": "root", "group": "root", "mode": "0644"}
    for name, source in (("data", "content"), ("file", "source")):
        if arguments.raw(name) is not None:
            path = f"/etc/apt/trusted.gpg.d/{slug(context.task.name or 'key')}.asc"
            context.check("an armored key is expected")
            return [Entry("file", path, {source: arguments.required(name), **own})]
    server = arguments.text("keyserver")
    if server is not None:
        return [_from_server(context, server, number, ring)]
    url = arguments.required("url")
    if "{{" in url:
        plain = re.sub(r"\{\{.*?\}\}|^\w+://", "", url)
        name = slug(plain if re.search(r"\w", plain) else context.task.name or "key")
    else:
        name = slug(re.sub(r"^\w+://", "", url))
    context.check(
        "the key is a file in trusted.gpg.d, which apt trusts for all repositories, as with "
        "apt_key; an armored key is expected"
    )
    path = ring or f"/etc/apt/trusted.gpg.d/{name}.asc"
    return [Entry("download", path, {"url": url, **own})]


def _from_server(context: Context, server: str, number: str | None, ring: str | None) -> Entry:
    """A key from a key server, fetched with gpg."""
    if number is None:
        raise NotConvertible("a key server without the key ID")
    path = ring or f"/etc/apt/trusted.gpg.d/{slug(context.task.name or 'key')}.gpg"
    command = (
        f"gpg --batch --no-default-keyring --keyring gnupg-ring:{path} "
        f"--keyserver {server} --recv-keys {number} && chmod 0644 {path}"
    )
    context.check("gpg does this; the key is a file that apt trusts for all repositories")
    properties = {"command": command, "provider": "shell", "creates": path}
    return context.exec(f"get the key {number}", properties)


@maps("rpm_key", root=True, refused="validate_certs", unless=(True,))
def rpm_key(context: Context, arguments: Arguments) -> list[Entry]:
    """A key of RPM."""
    if state_of(arguments) != "present":
        raise NotConvertible("the removal of a key")
    key, fingerprint = arguments.required("key"), arguments.text("fingerprint")
    properties: dict[str, Any] = {"command": f"rpm --import {key}"}
    if fingerprint is not None and "{{" not in fingerprint:
        short = re.sub(r"\s", "", fingerprint).lower()[-8:]
        properties["unless"] = f"rpm -q gpg-pubkey-{short}"
    else:
        context.check("the key is imported on each push because its fingerprint is not known")
    return [context.exec(f"import {key}", properties)]
