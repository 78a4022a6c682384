"""``service``, ``systemd`` and ``systemd_service`` (controller)."""

from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.modules.guarded_commands import shell
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_ENSURE = {"started": "running", "running": "running", "stopped": "stopped"}

RELOAD = "systemctl daemon-reload"
_CHANGED = 'systemctl show --property=NeedDaemonReload "*" | grep -q yes'


def _reload(context: Context, arguments: Arguments, rereads: bool) -> Entry:
    """Make systemd read its unit files again if one has changed. NotConvertible."""
    arguments.ignore("state", "enabled")
    if not rereads:
        raise NotConvertible("not a service name")
    context.as_root()
    return context.exec("reload systemd", {"command": RELOAD, "onlyif": shell(_CHANGED)})


@maps("service", "systemd", "systemd_service", "sysvinit", refused="scope", unless=("system",))
def service(context: Context, arguments: Arguments) -> list[Entry]:
    """States of services."""
    arguments.refuse("user", unless=(False,))
    if arguments.raw("sleep") is not None:
        context.note("without the original's pause between stop and start (sleep)")
    arguments.refuse("pattern", "runlevel", "runlevels", "arguments", "args")
    arguments.ignore("use", "force", "daemon_reload", "daemon-reload")
    if arguments.flag("no_block", default=False):
        context.check("the original does not wait for the service (no_block)")
    if arguments.flag("daemon_reexec", default=False):
        arguments.ignore("name", "service", "unit", "state", "enabled", "masked")
        if arguments.raw("name", "service", "unit") is not None:
            raise NotConvertible("daemon_reexec with a service")
        context.as_root()
        return [context.exec("restart systemd", {"command": "systemctl daemon-reexec"})]
    reload_ = arguments.raw("daemon_reload", "daemon-reload")
    rereads = is_template(reload_) or text_rewriter.as_bool(reload_) is True
    if arguments.raw("name", "service", "unit") is None:
        return [_reload(context, arguments, rereads)]
    name = arguments.required("name", "service", "unit").removesuffix(".service")
    state = arguments.raw("state")
    enabled, masked = arguments.boolean("enabled"), arguments.boolean("masked")
    if not is_template(state) and state in ("restarted", "reloaded"):
        word = "restart" if state == "restarted" else "reload"
        return _again(context, name, word=word, enabled=enabled, rereads=rereads)
    if state is None:
        return _at_boot(context, name, enabled, masked)
    if is_template(state) and masked is None and _restarts(arguments):
        return _again(context, name, word=_computed(arguments, state), enabled=enabled)
    properties: dict[str, Any] = {"ensure": _ensure(arguments, state)}
    if enabled is not None:
        properties["enable"] = enabled
    if masked is not None:
        properties["masked"] = masked
    if properties["ensure"] == "running" and len(properties) > 1:
        del properties["ensure"]
    return [Entry("service", name, properties)]


_VERBS = "{'restarted': 'restart', 'reloaded': 'reload-or-restart'}"


def _restarts(arguments: Arguments) -> bool:
    """Whether all values of a variable mean a restart or a reload."""
    known = arguments.sample("state")
    if not known.values:
        return False
    return all(one in ("restarted", "reloaded") for one in known.values)


def _computed(arguments: Arguments, state: str) -> str:
    text = text_rewriter.text(state, arguments.scope)
    if text.count("{{") != 1 or not text.startswith("{{"):
        raise NotConvertible("a computed state")
    return "{{ " + _VERBS + "[" + text[2:-2].strip() + "] }}"


def _ensure(arguments: Arguments, state: Any) -> str:
    if not is_template(state):
        found = _ENSURE.get(str(state))
        if found is None:
            raise NotConvertible(f"ccm has no equivalent of state {state}")
        return found
    literal = arguments.literal("state", exact=True) if _is_element(arguments) else None
    if literal is not None:
        if literal not in _ENSURE:
            raise NotConvertible(f"ccm has no equivalent of state {literal}")
        return _ENSURE[literal]
    known = [one for one in arguments.sample("state").values if isinstance(one, str)]
    if any(one not in _ENSURE for one in known):
        raise NotConvertible(f"ccm has no equivalent of state {known[0]} in a variable")
    text = text_rewriter.text(state, arguments.scope)
    if text.count("{{") != 1 or not text.startswith("{{"):
        raise NotConvertible("a computed state")
    inner = text[2:-2].strip()
    return "{{ {'started': 'running', 'running': 'running', 'stopped': 'stopped'}[" + inner + "] }}"


def _is_element(arguments: Arguments) -> bool:
    try:
        return arguments.literal("state", exact=True) is not None
    except NotConvertible:
        return False


def _again(
    context: Context, name: str, *, word: str, enabled: Any, rereads: bool = False
) -> list[Entry]:
    verb = "reload-or-restart" if word == "reload" else word
    entry = context.exec(f"{word} {name}", {"command": f"systemctl {verb} {name}"})
    entry.restarts = None if "{{" in word else (word, name)
    if rereads:
        entry.properties["command"] = f"{RELOAD} && {entry.properties['command']}"
        entry.properties["provider"] = "shell"
    if enabled is None:
        return [entry]
    return [*_at_boot(context, name, enabled, None), entry]


def _at_boot(context: Context, name: str, enabled: Any, masked: Any) -> list[Entry]:
    """A service without a state keeps running or remains stopped, which ``service``
    cannot express.
    """
    if masked is not None:
        if masked is not True and masked is not False:
            raise NotConvertible("masked as a variable without state")
        word = "mask" if masked else "unmask"
        sign = "=" if masked else "!="
        test = f"sh -c 'test \"$(systemctl is-enabled {name})\" {sign} masked'"
        command = f"systemctl {word} {name}"
        entry = context.exec(f"{word} {name}", {"command": command, "unless": test})
        return [entry, *(_at_boot(context, name, enabled, None) if enabled is not None else [])]
    if enabled is None:
        raise NotConvertible("a service without state and enabled")
    if enabled is True or enabled is False:
        return [_enable(context, name, enabled)]
    condition = str(enabled)[2:-2].strip()
    both = [_enable(context, name, True), _enable(context, name, False)]
    both[0].conditions.append(condition)
    both[1].conditions.append(f"not ({condition})")
    return both


def _enable(context: Context, name: str, enabled: bool) -> Entry:
    word = "enable" if enabled else "disable"
    test = f"systemctl is-enabled --quiet {name}"
    return Entry(
        "exec",
        context.unique(f"{word} {name}"),
        {"command": f"systemctl {word} {name}", ("unless" if enabled else "onlyif"): test},
    )
