"""Hints for other tools' terms in a manifest (controller)."""

_PREFIXES = ("ansible.builtin.", "ansible.legacy.", "ansible.posix.", "community.general.")
_EXEC = "use the type exec, with command"
_PACKAGE = "use the type package"
_REPOSITORY = "use the type repository"
_SYSTEMD = "use the type service"
_EDIT = "use the type edit, with line, block, settings or replace"
_APPLY = "use the type apply, which runs the resources of another manifest"
_ARCHIVE = "use the type archive; creates is the path of an extracted file"

_TYPES = {
    "copy": "use the type file, with content or source",
    "template": "use the type file, with content: \"{{ template('NAME.j2') }}\"",
    "directory": "use the type file, with ensure: directory",
    "symlink": "use the type link, with target",
    **dict.fromkeys(
        ("lineinfile", "blockinfile", "replace", "ini_file", "file_line", "ini_setting", "augeas"),
        _EDIT,
    ),
    **dict.fromkeys(("apt", "yum", "dnf", "zypper", "apk", "pacman", "packages"), _PACKAGE),
    **dict.fromkeys(("apt_repository", "deb822_repository", "yum_repository"), _REPOSITORY),
    **dict.fromkeys(("yumrepo", "apt_source"), _REPOSITORY),
    "apt_key": "use the type repository, with key and fingerprint",
    "rpm_key": "use the type repository, with key and fingerprint",
    "pip": "use the type package, with provider: pip and environment",
    "npm": "use the type package, with provider: npm and path",
    **dict.fromkeys(("vcsrepo", "checkout"), "use the type git, with url and ref"),
    **dict.fromkeys(("command", "shell", "script", "raw", "cmd", "run"), _EXEC),
    **dict.fromkeys(("systemd", "systemd_service", "sysvinit", "services"), _SYSTEMD),
    **dict.fromkeys(("get_url", "unarchive", "remote_file", "uri", "download"), _ARCHIVE),
    **dict.fromkeys(
        ("include", "import_tasks", "include_tasks", "import_role", "include_role", "role"), _APPLY
    ),
    "wait_for": "use the type wait",
    "set_fact": "put values under data at the top of the manifest",
    "vars": "put values under data at the top of the manifest",
    **dict.fromkeys(("modprobe", "kmod", "kernel_module"), "use the type module"),
    "fstab": "use the type mount",
    "hostname": "use the type exec, with hostnamectl as the command and with unless",
    "debug": "ccm shows what it changes; pre_message prints a line before the run",
    "notify": "add subscribe to the resource that reacts",
    "files": "use the type file",
}
_PROPERTIES = {
    "state": "ensure",
    "when": "control",
    "loop": "foreach",
    "with_items": "foreach",
    "with_dict": "foreach",
    "enabled": "enable",
    "src": "source",
    "opts": "options",
    "params": "options",
    "fstype": "type",
    "passno": "pass",
    "sysctl_file": "file",
    "ignoreerrors": "ignore_unknown",
    "cmd": "command",
    "chdir": "cwd",
    "revision": "ref",
    "recursive": "submodules",
    "key_file": "ssh_key",
    "accept_hostkey": "known_host",
    "text": "content",
    "uris": "urls",
    "baseurl": "url",
    "repo": "url",
    "gpgkey": "key",
    "signed-by": "signed_by",
    "virtualenv": "environment",
    "virtualenv_python": "python",
    "extra_args": "options",
    "install_options": "options",
    "registry": "index_url",
}
_VERSIONS = ("ref", "ensure")
_NAMES = ("target", "dest", "destination", "path")


def type_hint(word: str, known: list[str]) -> str:
    """The ccm equivalent of another tool's type; "" for an unknown word."""
    for prefix in _PREFIXES:
        word = word.removeprefix(prefix)
    if word in known:
        return f"use the type {word}"
    return _TYPES.get(word, "")


def property_hint(word: str, known: list[str]) -> str:
    """The ccm equivalent of another tool's property; "" for an unknown word."""
    if word == "notify":
        return "add subscribe to the resource that reacts"
    if word == "path" and "file" in known:
        return "use the property file"
    if word in _NAMES:
        return f"the name of a resource is its key: - NAME: {{...}}; properties: {', '.join(known)}"
    if word == "become":
        return "become is a setting of the run: use --become, or become in the inventory"
    own = "device" if word == "src" and "device" in known else _PROPERTIES.get(word)
    if word == "version":
        own = next((each for each in _VERSIONS if each in known), None)
    return f"use the property {own}" if own in known else ""
