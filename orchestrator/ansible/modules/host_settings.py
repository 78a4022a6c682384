"""``cron``, ``mount``, ``sysctl``, ``modprobe``, ``hostname``, ``timezone`` and others."""

import posixpath
import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.modules.accounts import state_of
from orchestrator.ansible.modules.guarded_commands import by_program
from orchestrator.ansible.modules.guarded_commands import state_of as known_state
from orchestrator.ansible.modules.mapping_context import Context, clean_path, maps
from orchestrator.ansible.modules.module_arguments import Arguments, number_or_text, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_MOUNTS = ("mounted", "present", "unmounted", "absent")

CRON_MARK = "#Ansible: "
"""The comment that Ansible writes above a job."""

_DIRECTORY = "/etc/cron.d"
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_TIMES = (("minute",), ("hour",), ("day", "dom"), ("month",), ("weekday", "dow"))
_AWK = (
    '/^{0}=/ {{ $0 = ENVIRON["SETTING"]; found = 1 }} {{ lines = lines $0 "\\n" }} '
    'END {{ printf "%s%s", found ? "" : ENVIRON["SETTING"] "\\n", lines }}'
)


@maps("cron", "cronvar")
def cron(context: Context, arguments: Arguments) -> list[Entry]:
    """Jobs of cron, and settings above them."""
    if context.task.module == "cronvar":
        raise NotConvertible("ccm has no settings for a whole crontab")
    context.as_root()
    arguments.refuse(disabled=False, insertafter=False, insertbefore=False, reboot=False)
    arguments.ignore("backup")
    file = _file(arguments)
    if arguments.flag("env", default=False):
        arguments.ignore("minute", "hour", "day", "dom", "month", "weekday", "dow", "special_time")
        return _setting(context, arguments, file)
    return [_job(context, arguments, file)]


def _file(arguments: Arguments) -> str | None:
    """The name of the file in cron.d; None for a crontab."""
    file = arguments.text("cron_file")
    if file is None:
        return None
    if file.startswith("/") and posixpath.dirname(file) != _DIRECTORY:
        raise NotConvertible("cron_file outside of /etc/cron.d")
    return posixpath.basename(file)


def _job(context: Context, arguments: Arguments, file: str | None) -> Entry:
    name = arguments.required("name")
    state = state_of(arguments)
    properties: dict[str, Any] = dict(arguments.texts_by_name("user"))
    if file is None:
        properties["crontab"] = True
    properties["comment"] = CRON_MARK + name
    title = name if file is None else file
    if state == "absent":
        arguments.ignore(
            "job", "value", "special_time", *(word for words in _TIMES for word in words)
        )
        if file is not None:
            context.check(f"the file /etc/cron.d/{file} is removed, with everything in it")
        del properties["comment"]
        return Entry("cron", title, {"ensure": "absent", **properties})
    properties.update(_times(arguments))
    properties["command"] = arguments.required("job", "value")
    _check_percent(context, properties["command"])
    if state != "present":
        properties["ensure"] = state
    if file is not None and "{{" not in file and (context.looped or not _PLAIN.fullmatch(file)):
        title = name if context.looped else file
        del properties["comment"]
        context.check(renamed(title, file))
    return Entry("cron", title, properties)


def renamed(job: str, file: str) -> str:
    """The mark of a job whose file is named after the job in ccm, but differently in Ansible."""
    own = re.sub("[^A-Za-z0-9_-]", "-", job)
    return f"ccm names the file in /etc/cron.d {own}; remove {file} if the original wrote it"


def _times(arguments: Arguments) -> dict[str, Any]:
    special = arguments.literal("special_time")
    if special is not None:
        arguments.ignore(*(word for words in _TIMES for word in words))
        return {"schedule": f"@{special}"}
    found: dict[str, Any] = {}
    for words in _TIMES:
        value = arguments.text_or("*", *words)
        if value is not None and value != "*":
            found[words[0]] = value
    return found or {"schedule": "* * * * *"}


def _setting(context: Context, arguments: Arguments, file: str | None) -> list[Entry]:
    """A setting in a cron.d file belongs to its job; one in a crontab is a separate line."""
    name = arguments.required("name")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise NotConvertible(f"the setting {name} of a crontab")
    state = state_of(arguments)
    user = arguments.text("user")
    if state == "present":
        setting = f'{name}="{arguments.required("job", "value")}"'
    else:
        arguments.ignore("job", "value")
    if file is not None:
        if state != "present":
            raise NotConvertible(f"a setting of /etc/cron.d/{file} with the state {state}")
        return [Entry("cron", file, {"environment": [setting]}, partial=True)]
    crontab = f"crontab -u {shell_word(user)}" if user else "crontab"
    listed = f"{crontab} -l 2>/dev/null"
    make = by_program(context, "crontab")
    fallback = f"{name} in the crontab of {user or 'root'}"
    if state == "absent":
        return make(
            f"{listed} | grep -v '^{name}=' | {crontab} -",
            onlyif=f"{listed} | grep -q '^{name}='",
            fallback=f"no {fallback}",
        )
    return make(
        f"{listed} | awk '{_AWK.format(name)}' | {crontab} -",
        unless=f'{listed} | grep -qxF -- "$SETTING"',
        fallback=fallback,
        environment=[f"SETTING={setting}"],
    )


def _check_percent(context: Context, command: str) -> None:
    plain = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", command)
    if re.search(r"(?<!\\)%", plain):
        context.check("a percent sign is escaped; in the original, it ends the command")


@maps("mount", root=True, refused="fstab", unless=("/etc/fstab",), ignored="backup")
def mount(context: Context, arguments: Arguments) -> list[Entry]:
    """Mounted file systems."""
    arguments.refuse(boot=True, opts_no_log=False)
    state = known_state(arguments, *_MOUNTS)
    path = arguments.required("path", "name")
    properties: dict[str, Any] = {}
    context.check("systemd reads the changed fstab again (daemon-reload), unlike in the original")
    kind = arguments.text("fstype")
    source = arguments.text("src")
    if kind == "swap" and state == "absent" and source is None and re.fullmatch(r"\w+", path):
        return [_without_swap(path)]
    if kind == "swap":
        path = source or path
    if state != "mounted":
        properties["ensure"] = state
    if source is not None and kind != "swap":
        properties["device"] = source
    properties.update(arguments.texts_by_name(type="fstype", options="opts"))
    fields = arguments.texts_by_name("dump", **{"pass": "passno"})
    properties.update({name: number_or_text(value) for name, value in fields.items()})
    if state == "absent":
        for name in ("device", "type", "options", "dump", "pass"):
            properties.pop(name, None)
    elif "pass" not in properties or "dump" not in properties:
        context.note("fields of fstab that the task does not set keep their values")
    return [Entry("mount", clean_path(path), properties)]


def _without_swap(name: str) -> Entry:
    """Skip fstab lines for swap, which have ``none`` or ``swap`` in place of a mount point."""
    match = rf"^\s*[^#\s]\S*\s+{name}\s+\S+\s+\S+\s+\S+\s+\S+\s*$"
    return Entry("edit", "/etc/fstab", {"match": match, "ensure": "absent"})


@maps("sysctl", root=True)
def sysctl(context: Context, arguments: Arguments) -> list[Entry]:
    """Kernel parameters."""
    state = known_state(arguments, "present", "absent")
    name = arguments.required("name", "key").strip()
    file = arguments.text("sysctl_file") or "/etc/sysctl.conf"
    if file != "/etc/sysctl.conf" and not re.fullmatch(r"/etc/sysctl\.d/.+\.conf", file):
        raise NotConvertible(f"the file {file}")
    properties: dict[str, Any] = {"file": file}
    reload_ = arguments.flag("reload", default=True)
    now = arguments.flag("sysctl_set", default=False)
    ignore = arguments.flag("ignoreerrors", default=False)
    if state == "absent":
        arguments.ignore("value", "val")
        return [Entry("sysctl", name, {"ensure": "absent", **properties})]
    value = arguments.raw("value", "val")
    if isinstance(value, bool):
        value = int(value)
    text = text_rewriter.text(str(value), arguments.scope)
    known = text_rewriter.as_bool(value)
    if isinstance(value, str) and known is not None:
        text = str(int(known))
    properties = {"value": number_or_text(text), **properties}
    if not reload_ and not now:
        properties["live"] = False
    if ignore:
        properties["ignore_unknown"] = True
    context.note("the file has the line `name = value`; the original writes it without spaces")
    return [Entry("sysctl", name, properties)]


@maps("modprobe", root=True)
def modprobe(context: Context, arguments: Arguments) -> list[Entry]:
    """Kernel modules."""
    state = state_of(arguments)
    persistent = arguments.literal("persistent", default="disabled")
    properties: dict[str, Any] = {}
    options = arguments.text("params")
    if options:
        properties["options"] = options
    if persistent != state and state in ("present", "absent"):
        context.check(
            "ccm also writes a file that loads the module at each boot, or prevents its loading"
        )
    if state != "present":
        properties["ensure"] = state
    return [Entry("module", arguments.required("name"), properties)]


def _exec(context: Context, title: str, command: str, unless: str) -> Entry:
    context.as_root()
    return context.exec(title, {"command": command, "unless": unless})


@maps("hostname", refused="use", unless=("systemd", "debian", "redhat", "generic"))
def hostname(context: Context, arguments: Arguments) -> list[Entry]:
    """The host name, set through systemd."""
    name = arguments.required("name")
    test = f'sh -c \'test "$(hostnamectl --static)" = "{name}"\''
    return [_exec(context, "set the host name", f"hostnamectl set-hostname {name}", test)]


@maps("timezone", refused="hwclock")
def timezone(context: Context, arguments: Arguments) -> list[Entry]:
    """The time zone, set through systemd."""
    name = arguments.required("name")
    test = f'sh -c \'test "$(timedatectl show -p Timezone --value)" = "{name}"\''
    return [_exec(context, "set the time zone", f"timedatectl set-timezone {name}", test)]


@maps("alternatives", refused="subcommands family")
def alternatives(context: Context, arguments: Arguments) -> list[Entry]:
    """Alternatives of a command."""
    arguments.refuse("state", unless=("selected", "present"))
    name, path = arguments.required("name"), arguments.required("path")
    link = arguments.text("link")
    priority = arguments.text("priority") or "50"
    test = f'sh -c \'test "$(readlink /etc/alternatives/{name})" = "{path}"\''
    command = f"update-alternatives --set {name} {path}"
    if link is not None:
        command = (
            f"sh -c 'update-alternatives --install {link} {name} {path} {priority} && {command}'"
        )
    return [_exec(context, f"select {name}", command, test)]


@maps("locale_gen", refused="state", unless=("present",))
def locale_gen(context: Context, arguments: Arguments) -> list[Entry]:
    """Locales of Debian."""
    name = arguments.required("name")
    plain = name.replace("UTF-8", "utf8").replace("utf-8", "utf8")
    if "{{" in name:
        plain = "{{ (" + name[2:-2].strip() + ") | replace('UTF-8', 'utf8') }}"
    charset = name.rpartition(".")[2] if "." in name and "{{" not in name else "UTF-8"
    test = f"sh -c 'locale -a | grep -qixF \"{plain}\"'"
    command = (
        f'sed -i "s/^# *\\({name} {charset}\\)/\\1/" /etc/locale.gen && '
        f'{{ grep -q "^{name} {charset}" /etc/locale.gen || '
        f'echo "{name} {charset}" >> /etc/locale.gen; }} && locale-gen'
    )
    entry = _exec(context, f"generate the locale {name}", command, test)
    entry.properties["provider"] = "shell"
    return [entry]
