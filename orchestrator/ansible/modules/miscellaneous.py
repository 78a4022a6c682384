"""Modules for programs of the host: gems, snaps, file systems, Apache (controller)."""

import posixpath
import re
from typing import Any

from orchestrator.ansible.modules.edits import escaped
from orchestrator.ansible.modules.guarded_commands import by_program, state_of, word, words
from orchestrator.ansible.modules.mapping_context import Context, clean_path, maps
from orchestrator.ansible.modules.module_arguments import Arguments, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_HOME = 'HOME=$(getent passwd "$(id -un)" | cut -d: -f6)'


@maps(
    "gem",
    refused="gem_source repository bindir install_dir env_shebang build_flags force norc",
    unless=(False, True),
)
def gem(context: Context, arguments: Arguments) -> list[Entry]:
    """Gems of Ruby."""
    arguments.ignore("include_doc", "include_dependencies", "default")
    name, version = word(arguments, "name"), arguments.piece("-v ", "version")
    program = arguments.text("executable") or "gem"
    own = "--user-install" if arguments.flag("user_install", default=True) else "--no-user-install"
    state = state_of(arguments, "present", "latest", "absent")
    test = words(program, "list -i -e", version, name)
    if state == "absent":
        return by_program(context, "gem")(
            f"{program} uninstall -a -x {name}", onlyif=test, fallback=f"no gem {name}"
        )
    if state == "latest":
        return by_program(context, "gem")(
            f"{program} update {name} || {program} install {name}", fallback=f"gem {name}"
        )
    pre = "--prerelease" if arguments.flag("pre_release", default=False) else ""
    command = words(program, "install --no-document", own, pre, version, name)
    return by_program(context, "gem")(command, unless=f"{test} >/dev/null", fallback=f"gem {name}")


@maps("snap", root=True, refused="options dangerous")
def snap(context: Context, arguments: Arguments) -> list[Entry]:
    """Snaps."""
    channel = arguments.piece("--channel=", "channel")
    classic = "--classic" if arguments.flag("classic", default=False) else ""
    present = state_of(arguments, "present", "absent") == "present"
    arguments.required("name")
    made = []
    for name in arguments.listed("name"):
        one = shell_word(name)
        command = words("snap install", classic, channel, one) if present else f"snap remove {one}"
        made += by_program(context, "snap")(
            command, present=present, test=f"snap list {one}", fallback=f"snap {name}"
        )
    return made


@maps("composer", ignored="ignore_platform_reqs")
def composer(context: Context, arguments: Arguments) -> list[Entry]:
    """PHP packages in a directory, or of a user."""
    arguments.refuse("apcu_autoloader", "classmap_authoritative", unless=(False,))
    command = arguments.text("command") or "install"
    program = words(
        arguments.text("executable") or "", arguments.text("composer_executable") or "composer"
    )
    options = [
        "--no-interaction",
        "--no-dev" if arguments.flag("no_dev", default=True) and command == "install" else "",
        "--no-scripts" if arguments.flag("no_scripts", default=False) else "",
        "--no-plugins" if arguments.flag("no_plugins", default=False) else "",
        "--prefer-dist" if arguments.flag("prefer_dist", default=False) else "",
        "--optimize-autoloader"
        if arguments.flag("optimize_autoloader", default=True) and command == "install"
        else "",
    ]
    glob = arguments.flag("global_command", default=False)
    place = arguments.piece("--working-dir=", "working_dir")
    line = words(
        "COMPOSER_ALLOW_SUPERUSER=1",
        program,
        "global" if glob else "",
        command,
        arguments.piece("", "arguments", quote=False),
        *options,
        place,
    )
    if glob:
        line = f"export {_HOME}; {line}"
    return by_program(context, "composer")(line, fallback=f"composer {command}")


@maps("git_config", refused="list_all add_mode", unless=(False, "replace-all"))
def git_config(context: Context, arguments: Arguments) -> list[Entry]:
    """Settings of git."""
    name, value, repo = word(arguments, "name"), arguments.text("value"), arguments.text("repo")
    file = arguments.text("file")
    scope = arguments.literal("scope", default="local" if repo else "global")
    if scope not in ("local", "global", "system", "file"):
        raise NotConvertible(f"scope {scope}")
    program = words(
        f"git -C {shell_word(repo)} config" if scope == "local" and repo else "git config",
        f"--file {shell_word(str(file))}" if scope == "file" else f"--{scope}",
    )
    start = f"export {_HOME}; " if scope == "global" else ""
    if state_of(arguments, "present", "absent") == "absent":
        return by_program(context, "git")(
            f"{start}{program} --unset {name}",
            onlyif=f"{start}{program} --get {name}",
            fallback=f"no setting {name}",
        )
    if value is None:
        raise NotConvertible("git_config that only reads")
    shown = shell_word(value)
    test = f'{start}[ "$({program} --get {name})" = {shown} ]'
    return by_program(context, "git")(
        f"{start}{program} {name} {shown}", unless=test, fallback=f"setting {name}"
    )


@maps("make", refused="jobs")
def make(context: Context, arguments: Arguments) -> list[Entry]:
    """Targets of a makefile."""
    place, target = word(arguments, "chdir"), arguments.text("target") or ""
    program = arguments.text("make") or "make"
    values = arguments.raw("params") or {}
    if not isinstance(values, dict):
        raise NotConvertible("params as text")
    options = [
        f"{key}={shell_word(str(one))}" for key, one in (arguments.value("params") or {}).items()
    ]
    line = words(program, arguments.piece("-f ", "file"), f"-C {place}", *options, target)
    test = line.replace(program, f"{program} -q", 1)
    return by_program(context, "make")(
        line, unless=f"{test} >/dev/null 2>&1", fallback=f"make {target}"
    )


@maps("assemble", ignored="backup follow")
def assemble(context: Context, arguments: Arguments) -> list[Entry]:
    """A file that joins the files of a directory on the host."""
    arguments.refuse("delimiter", "regexp", "ignore_hidden", "decrypt", unless=(False, True))
    arguments.refuse("validate")
    if not arguments.flag("remote_src", default=True):
        raise NotConvertible("files on the controller")
    source, target = clean_path(arguments.required("src")), clean_path(arguments.required("dest"))
    parts = f"cat {source}/*"
    made = by_program(context, "the shell")(
        f"{parts} > {target}",
        unless=f"{parts} | cmp -s - {target}",
        fallback=f"assemble {target}",
        affects=[target] if "{{" not in target else None,
    )
    made[0].properties = {k: v for k, v in made[0].properties.items() if v is not None}
    from orchestrator.ansible.modules.files.attributes import attributes

    if any(arguments.raw(name) is not None for name in ("owner", "group", "mode")):
        made.append(Entry("file", target, attributes(context, arguments, "0644")))
    return made


@maps("htpasswd", ignored="crypt_scheme hash_scheme")
def htpasswd(context: Context, arguments: Arguments) -> list[Entry]:
    """Users in a password file, set with Apache's program."""
    path, user = word(arguments, "path", "dest", "destfile"), word(arguments, "name", "username")
    create = arguments.flag("create", default=True)
    owner = words(arguments.piece("", "owner"))
    group, mode = arguments.piece("", "group"), arguments.mode("mode")
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("password")
        return by_program(context, "htpasswd")(
            f"htpasswd -D {path} {user}",
            onlyif=f'grep -q "^"{user}: {path}',
            fallback=f"no user {user}",
        )
    secret = arguments.required("password")
    lines = [
        f"test -e {path} || install -m 0640 /dev/null {path}" if create else "",
        f'printf %s "$CCM_PASSWORD" | htpasswd -iB {path} {user}',
        f"chown {owner} {path}" if owner else "",
        f"chgrp {group} {path}" if group else "",
        f"chmod {mode} {path}" if mode else "",
    ]
    context.check("owner and mode of the file are set only together with a password")
    test = f'printf %s "$CCM_PASSWORD" | htpasswd -iv {path} {user}'
    return by_program(context, "htpasswd")(
        " && ".join(one if "||" not in one else f"{{ {one}; }}" for one in lines if one),
        unless=test,
        fallback=f"user {user}",
        environment=[f"CCM_PASSWORD={secret}"],
    )


@maps("pam_limits", root=True, refused="use_max use_min", unless=(False,), ignored="backup")
def pam_limits(context: Context, arguments: Arguments) -> list[Entry]:
    """Limits of logins."""
    domain, kind = arguments.required("domain"), arguments.required("limit_type")
    item = arguments.required("limit_item")
    path = arguments.text("dest") or "/etc/security/limits.conf"
    comment = arguments.text("comment")
    start = r"\s+".join(escaped(one) for one in (domain, kind, item))
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("value")
        return [Entry("edit", path, {"match": rf"^\s*{start}\s", "ensure": "absent"})]
    line = f"{domain}\t{kind}\t{item}\t{arguments.required('value')}"
    if comment:
        line += f"\t#{comment}"
    return [Entry("edit", path, {"line": line, "match": rf"^\s*{start}\s.*$", "create": True})]


@maps("capabilities", root=True)
def capabilities(context: Context, arguments: Arguments) -> list[Entry]:
    """Capabilities of a program."""
    path, text = word(arguments, "path", "key"), arguments.required("capability", "cap")
    name = re.split(r"[=+]", text)[0] if "{{" not in text else text
    present = state_of(arguments, "present", "absent") == "present"
    if not present and "{{" in text:
        raise NotConvertible("the removal of a computed capability")
    sign = text if present else f"{name}-eip"
    return by_program(context, "setcap")(
        f"setcap {shell_word(sign)} {path}",
        present=present,
        test=f"getcap {path} | grep -qiF {shell_word(name)}",
        fallback=f"capability {name}",
    )


@maps("acl", root=True, ignored="follow")
def acl(context: Context, arguments: Arguments) -> list[Entry]:
    """Access control lists of a path."""
    arguments.refuse("use_nfsv4_acls", "recalculate_mask", unless=(False, "default"))
    path, entry = word(arguments, "path", "name"), arguments.text("entry")
    recursive = "-R" if arguments.flag("recursive", default=False) else ""
    start = "d:" if arguments.flag("default", default=False) else ""
    if entry is None:
        kind, rights = arguments.literal("etype"), arguments.text("permissions") or ""
        entity = arguments.text("entity") or ""
        if kind is None:
            raise NotConvertible("acl that only reads")
        entry = f"{kind}:{entity}:{rights}"
    kind, entity, rights = [*entry.split(":"), "", ""][:3]
    if state_of(arguments, "present", "absent") == "absent":
        return by_program(context, "setfacl")(
            words("setfacl", recursive, f"-x {start}{kind}:{entity}", path),
            onlyif=f'getfacl -p {path} | grep -q "^{kind}:{entity}:"',
            fallback="no access",
        )
    shown = "".join(one if one in rights.lower() else "-" for one in "rwx")
    line = f"{'default:' if start else ''}{kind}:{entity}:{shown}"
    if "{{" in rights:
        raise NotConvertible("computed permissions")
    context.check("the test reads the path itself, not its contents")
    return by_program(context, "setfacl")(
        words("setfacl", recursive, f"-m {start}{kind}:{entity}:{rights}", path),
        unless=f'getfacl -p {path} 2>/dev/null | grep -qx "{line}"',
        fallback=f"access of {entity}",
    )


@maps("filesystem", root=True, refused="force resizefs uuid", unless=(False,))
def filesystem(context: Context, arguments: Arguments) -> list[Entry]:
    """File systems on devices that have none."""
    kind, device = arguments.required("fstype", "type"), word(arguments, "dev", "device")
    state_of(arguments, "present")
    command = words(f"mkfs -t {kind}", arguments.piece("", "opts", quote=False), device)
    test = f"blkid -c /dev/null {device}"
    return by_program(context, "mkfs")(command, unless=test, fallback=f"file system on {device}")


@maps("supervisorctl", refused="username password server_url")
def supervisorctl(context: Context, arguments: Arguments) -> list[Entry]:
    """Programs of supervisor."""
    program = words(
        arguments.text("supervisorctl_path") or "supervisorctl", arguments.piece("-c ", "config")
    )
    name = word(arguments, "name")
    state = state_of(arguments, "present", "started", "stopped", "restarted", "absent")
    running = f"{program} status {name} | grep -q RUNNING"
    lines: dict[str, tuple[str, dict[str, Any]]] = {
        "present": ("update", {"unless": f"{program} status {name} | grep -qv 'no such process'"}),
        "started": (f"start {name}", {"unless": running}),
        "stopped": (f"stop {name}", {"onlyif": running}),
        "restarted": (f"restart {name}", {}),
        "absent": (f"remove {name}", {"onlyif": f"{program} avail | grep -q {name}"}),
    }
    line, test = lines[state]
    return by_program(context, "supervisorctl")(f"{program} {line}", fallback=line, **test)


@maps("known_hosts", refused="hash_host", unless=(False,))
def known_hosts(context: Context, arguments: Arguments) -> list[Entry]:
    """Keys of other hosts."""
    name, path = arguments.required("name", "host"), arguments.text("path")
    if path is None or path.startswith("~"):
        raise NotConvertible("known_hosts of a user")
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("key")
        return [Entry("edit", path, {"match": f"^{name}[ ,]", "ensure": "absent"})]
    context.check("other keys of the host are kept")
    return [Entry("edit", path, {"line": arguments.required("key").strip(), "create": True})]


@maps(
    "synchronize",
    refused="rsync_opts link_dest copy_links dirs",
    unless=(False, []),
    ignored="compress recursive perms times owner group links checksum archive rsync_timeout "
    "set_remote_user use_ssh_args partial private_key dest_port existing_only "
    "ssh_connection_multiplexing verify_host rsync_path",
)
def synchronize(context: Context, arguments: Arguments) -> list[Entry]:
    """A directory of the project, file by file."""
    from orchestrator.ansible.modules.files.copies import tree

    arguments.refuse("mode", unless=("push",))
    source = arguments.source("src")
    found = None if "{{" in source else context.files.find("files", source)
    if found is None or not found[1].is_dir():
        raise NotConvertible("its source directory is not in the project")
    if arguments.flag("delete", default=False):
        context.check("files that are not in the project are kept; the original removes them")
    context.check("files belong to root, with the modes that they have in the project")
    base = clean_path(arguments.required("dest"))
    if not source.endswith("/"):
        base = posixpath.join(base, posixpath.basename(source))
    return tree(context, written=found[0], original=found[1], base=base)


@maps("apache2_module", root=True)
def apache_module(context: Context, arguments: Arguments) -> list[Entry]:
    """Modules of Apache on Debian."""
    arguments.refuse("identifier", "ignore_configcheck", "warn_mpm_absent", unless=(False, True))
    name = arguments.required("name")
    present = state_of(arguments, "present", "absent") == "present"
    word = "a2enmod" if present else "a2dismod"
    force = " -f" if arguments.flag("force", default=False) else ""
    properties = {"command": f"{word} -q{force} {name}"}
    properties["unless" if present else "onlyif"] = f"a2query -q -m {name}"
    return [context.exec(f"{word} {name}", properties)]
