"""Classifies SSH configuration directives: honored, refused, or listed as ignored (controller).

Directives about host verification or logins are refused if unsupported, because ignoring them would
change what the user trusts. ``StrictHostKeyChecking`` is never weaker than yes: a weaker value is
listed, and an unknown key is refused anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from orchestrator.transport.client_config.ssh_directives import Directive, Directives
from orchestrator.transport.connection_settings import UNDECIDED
from remote_runtime.errors import Problem

HONOURED = {
    "addressfamily", "casignaturealgorithms", "certificatefile", "connecttimeout",
    "globalknownhostsfile", "hashknownhosts",
    "hostkeyalgorithms", "hostkeyalias", "hostname", "identitiesonly", "identityagent",
    "identityfile", "ignoreunknown", "kbdinteractiveauthentication",
    "challengeresponseauthentication", "passwordauthentication", "port", "preferredauthentications",
    "proxycommand", "proxyjump", "pubkeyauthentication", "revokedhostkeys", "serveralivecountmax",
    "serveraliveinterval", "tag", "tcpkeepalive", "user", "userknownhostsfile",
}  # fmt: skip

# Of no consequence to a command without a terminal, so not worth a word.
HARMLESS = {
    "addkeystoagent", "batchmode", "checkhostip", "controlmaster", "controlpath", "controlpersist",
    "escapechar", "exitonforwardfailure", "forkafterauthentication", "forwardagent", "forwardx11",
    "forwardx11timeout", "forwardx11trusted", "loglevel", "logverbose", "numberofpasswordprompts",
    "permitlocalcommand", "requesttty", "sendenv", "setenv", "streamlocalbindmask",
    "streamlocalbindunlink", "updatehostkeys", "usekeychain", "visualhostkey",
    "xauthlocation", "gssapidelegatecredentials", "fingerprinthash", "obscurekeystroketiming",
}  # fmt: skip


def _says_yes(value: str) -> bool:
    return value.lower() in ("yes", "true", "ask")


def _says_something(value: str) -> bool:
    return value.lower() not in ("none", "no", "")


def _no_method_left(value: str) -> bool:
    methods = {method.strip() for method in value.lower().split(",")}
    return not methods & {"publickey", "password", "keyboard-interactive"}


_REFUSED: dict[str, Callable[[str], bool]] = {
    "hostbasedauthentication": _says_yes,
    "knownhostscommand": _says_something,
    "pkcs11provider": _says_something,
    "preferredauthentications": _no_method_left,
    "proxyusefdpass": _says_yes,
    "securitykeyprovider": lambda value: value.lower() not in ("internal", "none", ""),
    "verifyhostkeydns": _says_yes,
}


def problems(directives: Directives, settled: Collection[str] = ()) -> list[Problem]:
    """Return the directives that are or may be active, and that ccm must not ignore but does not
    support. The inventory decides the ``settled`` ones."""
    refused = [
        Problem(
            f"ccm does not support {line.key} {line.value}, which affects authentication or trust",
            line.where,
            "remove it for this host, or log in another way",
            "transport.config",
        )
        for line in _lines(directives)
        if _is_refused(line)
    ]
    return [*refused, *_undecided(directives, settled)]


def _is_refused(line: Directive) -> bool:
    return line.key in _REFUSED and _REFUSED[line.key](line.value.strip('"'))


def _undecided(directives: Directives, settled: Collection[str]) -> list[Problem]:
    lines: dict[Directive, list[str]] = {}
    for condition, line in directives.undecided:
        same = any(line.value == other.value for other in directives.get(line.key, [])[:1])
        if line.key in settled or same or not (line.key in HONOURED or _is_refused(line)):
            continue
        names = lines.setdefault(condition, [])
        if line.key not in names:
            names.append(line.key)
    return [
        Problem(
            f"ccm cannot evaluate 'Match {condition.value}', which may set {', '.join(names)} for "
            "this host",
            condition.where,
            "set this for the host above that line, or in the inventory",
            UNDECIDED,
        )
        for condition, names in lines.items()
    ]


def ignored_directives(directives: Directives) -> list[Directive]:
    """The active directives that have no effect in ccm, in the order of the keywords."""
    return sorted(line for line in _lines(directives) if _without_effect(line))


def _without_effect(line: Directive) -> bool:
    if line.key == "stricthostkeychecking":
        return line.value.lower() not in ("yes", "ask", "true")
    if line.key in HONOURED or line.key in HARMLESS:
        return False
    return line.key not in _REFUSED


def _lines(directives: Directives) -> list[Directive]:
    return [line for lines in directives.values() for line in lines]
