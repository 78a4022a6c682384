"""``ufw``, ``firewalld`` and ``iptables`` (controller)."""

from __future__ import annotations

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.modules.arguments import Arguments, shell_word
from orchestrator.ansible.modules.context import Context, maps
from orchestrator.ansible.modules.program_modules import by_program, state_of, word, words
from orchestrator.ansible.output.entries import Entry
from orchestrator.ansible.problems import NotConvertible

_POLICIES = {"allow": "ACCEPT", "deny": "DROP", "reject": "REJECT"}
_CHAINS = {
    "incoming": "INPUT",
    "in": "INPUT",
    "outgoing": "OUTPUT",
    "out": "OUTPUT",
    "routed": "FORWARD",
}
_LOCALE = "LC_ALL=C"


@maps("ufw")
def ufw(context: Context, given: Arguments) -> list[Entry]:
    """Rules, policies and the state of ufw."""
    context.as_root()
    made: list[Entry] = []
    policy = given.text("default", "policy")
    if policy is not None:
        made += _policy(context, given, policy)
    level = given.raw("logging")
    if level is not None:
        known = text_rewriter.as_bool(level)
        shown = (
            {True: "on", False: "off"}.get(known, str(level)) if known is not None else str(level)
        )
        wanted = {"on": "low"}.get(shown, shown)
        test = f"grep -qx LOGLEVEL={wanted} /etc/ufw/ufw.conf"
        made += by_program(context, "ufw")(
            f"ufw logging {shown}", unless=test, fallback=f"ufw logging {shown}"
        )
    rule = given.text("rule")
    if rule is not None:
        made += _ufw_rule(context, given, rule)
    state = given.literal("state")
    if state is not None:
        made += _ufw_state(context, state)
    if not made:
        raise NotConvertible("ufw without rule, policy or state")
    return made


def _policy(context: Context, given: Arguments, policy: str) -> list[Entry]:
    direction = given.text("direction") or "incoming"
    if "{{" in direction or "{{" in policy:
        chain = _looked_up(direction, _CHAINS)
        wanted = _looked_up(policy, _POLICIES)
    elif direction in _CHAINS and policy in _POLICIES:
        chain, wanted = _CHAINS[direction], _POLICIES[policy]
    else:
        raise NotConvertible(f"the policy {policy} {direction}")
    test = f'grep -qx "DEFAULT_{chain}_POLICY=.\\?{wanted}.\\?" /etc/default/ufw'
    return by_program(context, "ufw")(
        f"ufw default {policy} {direction}",
        unless=test,
        fallback=f"ufw default {policy} {direction}",
    )


def _looked_up(text: str, table: dict[str, str]) -> str:
    if "{{" not in text:
        return table[text]
    if text.count("{{") != 1 or not text.startswith("{{"):
        raise NotConvertible("a policy of several parts")
    pairs = ", ".join(f"'{key}': '{one}'" for key, one in table.items())
    return "{{ {" + pairs + "}[" + text[2:-2].strip() + "] }}"


def _ufw_rule(context: Context, given: Arguments, rule: str) -> list[Entry]:
    delete = given.flag("delete", default=False)
    log = given.flag("log", default=False)
    given.refuse("insert_relative_to", unless=("zero",))
    direction = given.piece("", "direction", quote=False)
    if direction in ("incoming", "outgoing"):
        direction = direction.removesuffix("coming").removesuffix("going")
    for name in ("interface_in", "interface_out"):
        given.refuse(name)
    start = given.piece("from ", "from_ip", "from", "src") or "from any"
    target = given.piece("to ", "to_ip", "to", "dest") or "to any"
    app = given.piece("app ", "name", "app")
    parts = [
        "route" if given.flag("route", default=False) else "",
        "delete" if delete else "",
        given.piece("insert ", "insert") if not delete else "",
        rule,
        direction,
        given.piece("on ", "interface", "if"),
        "log" if log else "",
        start,
        given.piece("port ", "from_port"),
        target,
        given.piece("port ", "to_port", "port"),
        given.piece("proto ", "proto", "protocol"),
        app,
        given.piece("comment ", "comment"),
    ]
    line = words(*parts)
    said = "Could not delete non-existent rule" if delete else "Skipping adding existing rule"
    test = f'{_LOCALE} ufw --dry-run {line} 2>&1 | grep -q "^{said}"'
    return by_program(context, "ufw")(f"ufw {line}", unless=test, fallback=f"ufw {rule}")


def _ufw_state(context: Context, state: str) -> list[Entry]:
    active = f'{_LOCALE} ufw status | grep -q "^Status: active"'
    if state == "enabled":
        return by_program(context, "ufw")(
            "ufw --force enable", unless=active, fallback="enable ufw"
        )
    if state == "disabled":
        return by_program(context, "ufw")("ufw disable", onlyif=active, fallback="disable ufw")
    if state == "reloaded":
        return by_program(context, "ufw")("ufw reload", fallback="reload ufw")
    if state == "reset":
        return by_program(context, "ufw")("ufw --force reset", fallback="reset ufw")
    raise NotConvertible(f"state {state}")


_FIREWALLD = (
    "service",
    "port",
    "source",
    "interface",
    "rich_rule",
    "source_port",
    "protocol",
    "icmp_block",
    "forward",
    "masquerade",
    "icmp_block_inversion",
)
_FLAGS = ("masquerade", "forward", "icmp_block_inversion")


@maps("firewalld")
def firewalld(context: Context, given: Arguments) -> list[Entry]:
    """Entries of zones."""
    context.as_root()
    given.refuse("timeout", unless=(0,))
    given.ignore("offline")
    state = state_of(given, "enabled", "present", "disabled", "absent")
    adds = state in ("enabled", "present")
    permanent = given.flag("permanent", default=False)
    now = given.flag("immediate", default=not permanent)
    zone = given.piece("--zone=", "zone")
    names = [name for name in given.names() if name in _FIREWALLD]
    if len(names) != 1 or not (permanent or now):
        raise NotConvertible("firewalld with none or several of service, port, source and so on")
    name = names[0]
    option = name.replace("_", "-")
    if name in _FLAGS:
        adds = adds == bool(given.flag(name, default=True))
        value = ""
    else:
        value = "=" + shell_word(given.required(name))
    places = [*(["--permanent"] if permanent else []), *([""] if now else [])]
    verb = "add" if adds else "remove"
    commands = [words("firewall-cmd", one, zone, f"--{verb}-{option}{value}") for one in places]
    tests = [words("firewall-cmd -q", one, zone, f"--query-{option}{value}") for one in places]
    test = " && ".join(tests) if adds else " && ".join(f"! {one}" for one in tests)
    return by_program(context, "firewall-cmd")(
        " && ".join(commands), unless=test, fallback=f"firewalld: {verb} {value or option}"
    )


_RULE = (
    ("source", "-s "),
    ("destination", "-d "),
    ("in_interface", "-i "),
    ("out_interface", "-o "),
)


@maps("iptables")
def iptables(context: Context, given: Arguments) -> list[Entry]:
    """Rules and policies of a chain."""
    context.as_root()
    version = given.literal("ip_version", default="ipv4")
    program = "ip6tables" if version == "ipv6" else "iptables"
    program = words(program, "-w", given.piece("-t ", "table"))
    given.ignore("wait", "numeric")
    chain = given.text("chain")
    if given.flag("flush", default=False):
        return by_program(context, "iptables")(
            words(program, "-F", chain or ""), fallback="flush rules"
        )
    if chain is None:
        raise NotConvertible("iptables without a chain")
    policy = given.text("policy")
    if policy is not None:
        test = f'{program} -S {chain} | grep -qxF -- "-P {chain} {policy}"'
        return by_program(context, "iptables")(
            f"{program} -P {chain} {policy}", unless=test, fallback=f"policy of {chain}"
        )
    state = state_of(given, "present", "absent")
    rule = _iptables_rule(given)
    check = f"{program} -C {chain} {rule} 2>/dev/null"
    if state == "absent":
        return by_program(context, "iptables")(
            f"{program} -D {chain} {rule}", onlyif=check, fallback=f"no rule of {chain}"
        )
    place = given.literal("action", default="append")
    number = given.text("rule_num")
    verb = "-A" if place == "append" else "-I"
    command = words(program, verb, chain, number or "" if verb == "-I" else "", rule)
    return by_program(context, "iptables")(command, unless=check, fallback=f"rule of {chain}")


def _iptables_rule(given: Arguments) -> str:
    parts: list[str] = [given.piece("-p ", "protocol")]
    parts += [given.piece(sign, name) for name, sign in _RULE]
    matches = given.raw("match") or []
    states = given.listed("ctstate")
    for one in matches if isinstance(matches, list) else [matches]:
        parts.append(f"-m {text_rewriter.text(str(one), given.scope)}")
    if states:
        module = "" if "conntrack" in str(matches) else "-m conntrack "
        parts.append(f"{module}--ctstate {','.join(states)}")
    parts += [given.piece("--sport ", "source_port"), given.piece("--dport ", "destination_port")]
    ports = given.listed("destination_ports")
    parts += [
        f"-m multiport --dports {','.join(ports)}" if ports else "",
        given.piece("-m comment --comment ", "comment"),
        given.piece("-m limit --limit ", "limit"),
        given.piece("-j ", "jump"),
        given.piece("--reject-with ", "reject_with"),
        given.piece("--log-prefix ", "log_prefix"),
        given.piece("--to-ports ", "to_ports"),
        given.piece("--to-destination ", "to_destination"),
    ]
    return words(*parts)


@maps("selinux")
def selinux(context: Context, given: Arguments) -> list[Entry]:
    """The mode of SELinux."""
    context.as_root()
    state = given.literal("state")
    policy = given.text("policy", "type")
    config = given.text("configfile", "conf") or "/etc/selinux/config"
    given.ignore("update_kernel_param")
    if state not in ("enforcing", "permissive", "disabled"):
        raise NotConvertible(f"state {state}")
    lines = [f"SELINUX={state}", *([f"SELINUXTYPE={policy}"] if policy else [])]
    changes = "; ".join(f"s/^{one.partition('=')[0]}=.*/{one}/" for one in lines)
    test = " && ".join(f"grep -qx {one} {config}" for one in lines)
    command = f"sed -i '{changes}' {config}"
    if state == "disabled":
        context.check("SELinux is off only after the next boot")
    else:
        number = 1 if state == "enforcing" else 0
        command += f" && if selinuxenabled; then setenforce {number}; fi"
        test += f' && [ "$(getenforce)" != {"Permissive" if number else "Enforcing"} ]'
    return by_program(context, "setenforce")(command, unless=test, fallback="mode of SELinux")


@maps("sefcontext")
def sefcontext(context: Context, given: Arguments) -> list[Entry]:
    """Contexts of files."""
    context.as_root()
    given.refuse("substitute", "selevel", "seuser")
    given.refuse("ftype", unless=("a",))
    given.ignore("reload", "ignore_selinux_state")
    target = word(given, "target", "path")
    if state_of(given, "present", "absent") == "absent":
        return by_program(context, "semanage")(
            f"semanage fcontext -d {target}",
            onlyif=f"semanage fcontext -l -C | grep -qF -- {target}",
            fallback="no context of files",
        )
    kind = given.required("setype")
    test = f"semanage fcontext -l -C | grep -F -- {target} | grep -q :{kind}:"
    command = f"semanage fcontext -a -t {kind} {target} || semanage fcontext -m -t {kind} {target}"
    return by_program(context, "semanage")(command, unless=test, fallback=f"context {kind}")


@maps("seport")
def seport(context: Context, given: Arguments) -> list[Entry]:
    """Types of ports."""
    context.as_root()
    given.ignore("reload", "ignore_selinux_state", "local")
    kind, proto = given.required("setype"), given.required("proto")
    if state_of(given, "present", "absent") == "absent":
        raise NotConvertible("state absent")
    made: list[Entry] = []
    for port in given.listed("ports", "port"):
        test = f'semanage port -l | grep -Eq "^{kind} +{proto} .*\\b{port}\\b"'
        line = f"-t {kind} -p {proto} {port}"
        made += by_program(context, "semanage")(
            f"semanage port -a {line} || semanage port -m {line}",
            unless=test,
            fallback=f"port {port} of {kind}",
        )
    return made


@maps("selinux_permissive")
def permissive(context: Context, given: Arguments) -> list[Entry]:
    """Domains for which SELinux only logs violations."""
    context.as_root()
    given.ignore("no_reload", "store")
    name, on = given.required("domain", "name"), given.flag("permissive", default=True)
    test = f"semanage permissive -l | grep -qxw {name}"
    command = f"semanage permissive {'-a' if on else '-d'} {name}"
    return by_program(context, "semanage")(
        command, present=on, test=test, fallback=f"permissive {name}"
    )
