"""Which SSH configuration directives ccm honours, refuses, or lists as not honoured (controller).

Refused is what decides how a host proves itself or how we log in, because to leave it out in
silence would mean other trust than the user wrote. ``StrictHostKeyChecking`` is never weaker than
yes: a weaker value is listed, and an unknown key is refused all the same.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.transport.ssh_config import Directive, Directives
from remote_runtime.errors import Problem

HONOURED = {
    "addressfamily", "casignaturealgorithms", "certificatefile", "connecttimeout",
    "globalknownhostsfile", "hashknownhosts",
    "hostkeyalgorithms", "hostkeyalias", "hostname", "identitiesonly", "identityagent",
    "identityfile", "ignoreunknown", "kbdinteractiveauthentication",
    "challengeresponseauthentication", "passwordauthentication", "port", "preferredauthentications",
    "proxycommand", "proxyjump", "pubkeyauthentication", "serveralivecountmax",
    "serveraliveinterval", "tcpkeepalive", "user", "userknownhostsfile",
}  # fmt: skip

# Of no consequence to a command without a terminal, so not worth a word.
HARMLESS = {
    "addkeystoagent", "batchmode", "checkhostip", "controlmaster", "controlpath", "controlpersist",
    "escapechar", "exitonforwardfailure", "forkafterauthentication", "forwardagent", "forwardx11",
    "forwardx11timeout", "forwardx11trusted", "loglevel", "logverbose", "numberofpasswordprompts",
    "permitlocalcommand", "requesttty", "sendenv", "setenv", "streamlocalbindmask",
    "streamlocalbindunlink", "tag", "updatehostkeys", "usekeychain", "visualhostkey",
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
    "revokedhostkeys": _says_something,
    "securitykeyprovider": lambda value: value.lower() not in ("internal", "none", ""),
    "verifyhostkeydns": _says_yes,
}


def problems(found: Directives) -> list[Problem]:
    """The directives in force that ccm must not leave out and cannot honour."""
    return [
        Problem(
            f"ccm cannot honour {line.key} {line.value}, which decides authentication or trust",
            line.where,
            "remove it for this host, or log in by other means",
            "transport.config",
        )
        for line in _lines(found)
        if line.key in _REFUSED and _REFUSED[line.key](line.value.strip('"'))
    ]


def unhonoured(found: Directives) -> list[Directive]:
    """The directives in force that have no effect with ccm, in the order of the keywords."""
    return sorted(line for line in _lines(found) if _without_effect(line))


def _without_effect(line: Directive) -> bool:
    if line.key == "stricthostkeychecking":
        return line.value.lower() not in ("yes", "ask", "true")
    if line.key in HONOURED or line.key in HARMLESS:
        return False
    return line.key not in _REFUSED


def _lines(found: Directives) -> list[Directive]:
    return [line for lines in found.values() for line in lines]
