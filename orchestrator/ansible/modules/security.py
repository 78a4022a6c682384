"""Firewalls (``ufw``, ``firewalld``, ``iptables``) and SELinux (controller)."""

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.modules.guarded_commands import by_program, state_of, word, words
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
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


@maps("ufw", root=True)
def ufw(context: Context, arguments: Arguments) -> list[Entry]:
    """Rules, policies and the state of ufw."""
    made: list[Entry] = []
    policy = arguments.text("default", "policy")
    if policy is not None:
        made += _policy(context, arguments, policy)
    level = arguments.raw("logging")
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
    rule = arguments.text("rule")
    if rule is not None:
        made += _ufw_rule(context, arguments, rule)
    state = arguments.literal("state")
    if state is not None:
        made += _ufw_state(context, state)
    if not made:
        raise NotConvertible("ufw without rule, policy or state")
    return made


def _policy(context: Context, arguments: Arguments, policy: str) -> list[Entry]:
    direction = arguments.text("direction") or "incoming"
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


def _ufw_rule(context: Context, arguments: Arguments, rule: str) -> list[Entry]:
    delete = arguments.flag("delete", default=False)
    log = arguments.flag("log", default=False)
    arguments.refuse("insert_relative_to", unless=("zero",))
    direction = arguments.piece("", "direction", quote=False)
    if direction in ("incoming", "outgoing"):
        direction = direction.removesuffix("coming").removesuffix("going")
    for name in ("interface_in", "interface_out"):
        arguments.refuse(name)
    start = arguments.piece("from ", "from_ip", "from", "src") or "from any"
    target = arguments.piece("to ", "to_ip", "to", "dest") or "to any"
    app = arguments.piece("app ", "name", "app")
    parts = [
        "route" if arguments.flag("route", default=False) else "",
        "delete" if delete else "",
        arguments.piece("insert ", "insert") if not delete else "",
        rule,
        direction,
        arguments.piece("on ", "interface", "if"),
        "log" if log else "",
        start,
        arguments.piece("port ", "from_port"),
        target,
        arguments.piece("port ", "to_port", "port"),
        arguments.piece("proto ", "proto", "protocol"),
        app,
        arguments.piece("comment ", "comment"),
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
    raise NotConvertible(f"ccm has no equivalent of state {state}")


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


@maps("firewalld", root=True, refused="timeout", unless=(0,), ignored="offline")
def firewalld(context: Context, arguments: Arguments) -> list[Entry]:
    """Entries of zones."""
    state = state_of(arguments, "enabled", "present", "disabled", "absent")
    adds = state in ("enabled", "present")
    permanent = arguments.flag("permanent", default=False)
    now = arguments.flag("immediate", default=not permanent)
    zone = arguments.piece("--zone=", "zone")
    names = [name for name in arguments.names() if name in _FIREWALLD]
    if len(names) != 1 or not (permanent or now):
        raise NotConvertible("firewalld without exactly one of service, port, source and so on")
    name = names[0]
    option = name.replace("_", "-")
    if name in _FLAGS:
        adds = adds == bool(arguments.flag(name, default=True))
        value = ""
    else:
        value = "=" + shell_word(arguments.required(name))
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


@maps("iptables", root=True)
def iptables(context: Context, arguments: Arguments) -> list[Entry]:
    """Rules and policies of a chain."""
    version = arguments.literal("ip_version", default="ipv4")
    program = "ip6tables" if version == "ipv6" else "iptables"
    program = words(program, "-w", arguments.piece("-t ", "table"))
    arguments.ignore("wait", "numeric")
    chain = arguments.text("chain")
    if arguments.flag("flush", default=False):
        return by_program(context, "iptables")(
            words(program, "-F", chain or ""), fallback="flush rules"
        )
    if chain is None:
        raise NotConvertible("iptables without a chain")
    policy = arguments.text("policy")
    if policy is not None:
        test = f'{program} -S {chain} | grep -qxF -- "-P {chain} {policy}"'
        return by_program(context, "iptables")(
            f"{program} -P {chain} {policy}", unless=test, fallback=f"policy of {chain}"
        )
    state = state_of(arguments, "present", "absent")
    rule = _iptables_rule(arguments)
    check = f"{program} -C {chain} {rule} 2>/dev/null"
    if state == "absent":
        return by_program(context, "iptables")(
            f"{program} -D {chain} {rule}", onlyif=check, fallback=f"no rule of {chain}"
        )
    place = arguments.literal("action", default="append")
    number = arguments.text("rule_num")
    verb = "-A" if place == "append" else "-I"
    command = words(program, verb, chain, number or "" if verb == "-I" else "", rule)
    return by_program(context, "iptables")(command, unless=check, fallback=f"rule of {chain}")


def _iptables_rule(arguments: Arguments) -> str:
    parts: list[str] = [arguments.piece("-p ", "protocol")]
    parts += [arguments.piece(sign, name) for name, sign in _RULE]
    matches = arguments.raw("match") or []
    states = arguments.listed("ctstate")
    for one in matches if isinstance(matches, list) else [matches]:
        parts.append(f"-m {text_rewriter.text(str(one), arguments.scope)}")
    if states:
        module = "" if "conntrack" in str(matches) else "-m conntrack "
        parts.append(f"{module}--ctstate {','.join(states)}")
    parts += [
        arguments.piece("--sport ", "source_port"),
        arguments.piece("--dport ", "destination_port"),
    ]
    ports = arguments.listed("destination_ports")
    parts += [
        f"-m multiport --dports {','.join(ports)}" if ports else "",
        arguments.piece("-m comment --comment ", "comment"),
        arguments.piece("-m limit --limit ", "limit"),
        arguments.piece("-j ", "jump"),
        arguments.piece("--reject-with ", "reject_with"),
        arguments.piece("--log-prefix ", "log_prefix"),
        arguments.piece("--to-ports ", "to_ports"),
        arguments.piece("--to-destination ", "to_destination"),
    ]
    return words(*parts)


@maps("selinux", root=True)
def selinux(context: Context, arguments: Arguments) -> list[Entry]:
    """The mode of SELinux."""
    state = arguments.literal("state")
    policy = arguments.text("policy", "type")
    config = arguments.text("configfile", "conf") or "/etc/selinux/config"
    arguments.ignore("update_kernel_param")
    if state not in ("enforcing", "permissive", "disabled"):
        raise NotConvertible(f"ccm has no equivalent of state {state}")
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


@maps("sefcontext", root=True, ignored="reload ignore_selinux_state")
def sefcontext(context: Context, arguments: Arguments) -> list[Entry]:
    """Contexts of files."""
    arguments.refuse("substitute", "selevel", "seuser")
    arguments.refuse("ftype", unless=("a",))
    target = word(arguments, "target", "path")
    if state_of(arguments, "present", "absent") == "absent":
        return by_program(context, "semanage")(
            f"semanage fcontext -d {target}",
            onlyif=f"semanage fcontext -l -C | grep -qF -- {target}",
            fallback="no file context",
        )
    kind = arguments.required("setype")
    test = f"semanage fcontext -l -C | grep -F -- {target} | grep -q :{kind}:"
    command = f"semanage fcontext -a -t {kind} {target} || semanage fcontext -m -t {kind} {target}"
    return by_program(context, "semanage")(command, unless=test, fallback=f"context {kind}")


@maps("seport", root=True, ignored="reload ignore_selinux_state local")
def seport(context: Context, arguments: Arguments) -> list[Entry]:
    """Types of ports."""
    kind, proto = arguments.required("setype"), arguments.required("proto")
    if state_of(arguments, "present", "absent") == "absent":
        raise NotConvertible("state absent")
    made: list[Entry] = []
    for port in arguments.listed("ports", "port"):
        test = f'semanage port -l | grep -Eq "^{kind} +{proto} .*\\b{port}\\b"'
        line = f"-t {kind} -p {proto} {port}"
        made += by_program(context, "semanage")(
            f"semanage port -a {line} || semanage port -m {line}",
            unless=test,
            fallback=f"port {port} of {kind}",
        )
    return made


@maps("selinux_permissive", root=True, ignored="no_reload store")
def permissive(context: Context, arguments: Arguments) -> list[Entry]:
    """Domains for which SELinux only logs violations."""
    name, on = arguments.required("domain", "name"), arguments.flag("permissive", default=True)
    test = f"semanage permissive -l | grep -qxw {name}"
    command = f"semanage permissive {'-a' if on else '-d'} {name}"
    return by_program(context, "semanage")(
        command, present=on, test=test, fallback=f"permissive {name}"
    )


@maps("seboolean", root=True, refused="ignore_selinux_state", unless=(False,))
def boolean_of_selinux(context: Context, arguments: Arguments) -> list[Entry]:
    """Booleans of SELinux."""
    name, state = arguments.required("name"), arguments.flag("state", default=True)
    if not arguments.flag("persistent", default=False):
        raise NotConvertible("an SELinux boolean that is not persistent")
    word = "on" if state else "off"
    properties = {
        "command": f"setsebool -P {name} {word}",
        "unless": f"sh -c 'getsebool {name} | grep -qw {word}'",
    }
    context.check("the test does not check whether it is also set for the next boot")
    return [context.exec(f"set {name} {word}", properties)]
