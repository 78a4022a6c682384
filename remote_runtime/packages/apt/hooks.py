"""The commands that apt is configured to run before and after changes and refreshes (target).

Packages such as needrestart and etckeeper add them, and administrators do. A preview cannot predict
them, so it names the hooks that may change the host.
"""

import re
from typing import TYPE_CHECKING, List

if TYPE_CHECKING:
    from remote_runtime.context import Context

_OF_CHANGE, _OF_REFRESH = "dpkg::", "apt::update::"
_SHOWN = 100  # characters of a command
_HOOK = re.compile(
    r"^(?:Binary::apt-get::)?(?P<name>DPkg::(?:Pre-Invoke|Post-Invoke|Pre-Install-Pkgs)"
    r"|APT::Update::(?:Pre-Invoke|Post-Invoke(?:-Success|-Stats)?))::[^\s:]* "
    r'"(?P<command>.+?)";$',
    re.MULTILINE | re.IGNORECASE | re.DOTALL,
)
_DISCARDED = re.compile(r"\s*[12&]?>\s*(?:/dev/null|&[12])(?=[\s;|&]|$)")
_SEPARATOR = re.compile(r";|&&?|\|\|?|\n")
_KEYWORD = re.compile(r"(?:(?:if|then|else|!|\{)\s+)+")
_NESTED = re.compile(r"[`<>]|\$\(")  # what runs other commands, or writes a file
# Parts of commands that change no packages, no files that ccm manages, and no services.
# needrestart does nothing because apt_commands.ENVIRONMENT suspends it.
_HARMLESS = re.compile(
    r"""
    | fi | \} | : | (?:/bin/)?true | /bin/echo
    | (?:/usr/bin/|/bin/)?test\s.* | \[\s.*\]
    | (?:/usr/sbin/)?dpkg-preconfigure\s.*
    | (?:/usr/bin/)?apt-listchanges\s.*
    | (?:/usr/s?bin/)?apt-listbugs\s.*
    | (?:/usr/bin/)?etckeeper\s+(?:pre|post)-install
    | /usr/lib/needrestart/apt-pinvoke(?:\s.*)?
    | (?:/usr/bin/)?(?:gdbus\scall|dbus-send)\s.*/org/freedesktop/PackageKit\s.*
    | touch\s+/var/lib/update-notifier/[^\s/]+
    | /usr/lib/update-notifier/update-motd-updates-available(?:\s.*)?
    | (?:/usr/lib/(?:ubuntu-advantage|update-notifier)/)(?:apt-esm-hook|apt_check\.py)(?:\s.*)?
    | /usr/lib/cnf-update-db | (?:/usr/bin/)?appstreamcli\s+refresh(?:-cache)?(?:\s.*)?
    | (?:/bin/)?rm\s+-f(?:\s+/var/cache/apt/(?!\S*\.\.)\S*)+
    """,
    re.VERBOSE,
)


def unknown(dump: str, of: str = _OF_CHANGE) -> List[str]:
    """Return the hooks with unknown effects from the output of ``apt-config dump``.

    ``of`` is the beginning of the names of the hooks to check.
    """
    return [
        "%s: %s" % (match.group("name"), _shortened(match.group("command")))
        for match in _HOOK.finditer(dump)
        if match.group("name").lower().startswith(of) and not _is_harmless(match.group("command"))
    ]


def warn(context: "Context", dump: str, hooks: List[str]) -> None:
    """Name each hook with unknown effects once; ``hooks`` contains those already named."""
    _warn(context, unknown(dump), hooks, "when packages change")


def warn_of_refresh(context: "Context", dump: str, hooks: List[str]) -> None:
    """Do the same for the hooks of a refresh of the package lists."""
    _warn(context, unknown(dump, _OF_REFRESH), hooks, "when the package lists are refreshed")


def _warn(context: "Context", hooks: List[str], hook_texts: List[str], when: str) -> None:
    for hook in hooks:
        if hook not in hook_texts:
            hook_texts.append(hook)
            context.notice(
                "warning",
                "apt is configured to run this command %s; it may restart services or "
                "change files, and this preview cannot predict its effects: %s" % (when, hook),
            )


def _is_harmless(command: str) -> bool:
    visible_command = _DISCARDED.sub("", command)
    if _NESTED.search(visible_command):
        return False
    parts = (
        _KEYWORD.sub("", part.strip(), count=1).strip()
        for part in _SEPARATOR.split(visible_command)
    )
    return all(_HARMLESS.fullmatch(part) for part in parts)


def _shortened(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."
