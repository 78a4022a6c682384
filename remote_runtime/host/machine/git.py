"""Calls git without any secret in its arguments or in a file (target).

A checkout may be hostile: hooks, file system monitors and unknown transports are disabled in each
call, and git runs as the owner of the checkout.
"""

import sys
from typing import Dict, List, NamedTuple, Sequence, Tuple

from remote_runtime.host.checkout_ports import Source

OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.autoDetach=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "protocol.git.allow=always",
    "protocol.file.allow=user",
    "credential.helper=",
)
"""Settings of every call, which override those of the checkout."""

CUT = "refs/ccm/pending"
"""The commit of an update that has started, until it is complete."""

# ssh takes keys from files only. This helper keeps them in memory while ssh runs.
_SSH = """\
import os, subprocess, sys
def kept(text):
    try:
        at = os.memfd_create("ccm", 0)
    except (AttributeError, OSError):
        at = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.fchmod(at, 0o600)
    os.write(at, os.fsencode(text))
    return "/proc/%d/fd/%d" % (os.getpid(), at)
key, hosts = os.environ.pop("CCM_SSH_KEY", ""), os.environ.pop("CCM_KNOWN_HOST", "")
argv = ["ssh", "-o", "BatchMode=yes"]
if key:
    argv += ["-o", "IdentitiesOnly=yes", "-o", "IdentityFile=" + kept(key)]
if hosts:
    argv += ["-o", "StrictHostKeyChecking=yes", "-o", "UpdateHostKeys=no"]
    argv += ["-o", "GlobalKnownHostsFile=/dev/null", "-o", "UserKnownHostsFile=" + kept(hosts)]
sys.exit(subprocess.call(argv + sys.argv[1:]))
"""

_HELPER = (
    '!f() { test "$1" = get && '
    'printf "username=%s\\npassword=%s\\n" "$CCM_GIT_USERNAME" "$CCM_GIT_TOKEN"; }; f'
)


class Call(NamedTuple):
    """The words before a subcommand, and the additional environment variables."""

    words: List[str]
    environment: Dict[str, str]


def local(ceiling: str) -> Call:
    """A call that contacts no remote; git does not search for a repository above ``ceiling``."""
    words = ["git"]
    for option in OPTIONS:
        words += ["-c", option]
    environment = {
        "GIT_CEILING_DIRECTORIES": ceiling,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "GIT_EDITOR": "false",
        "GIT_PAGER": "cat",
    }
    return Call(words, environment)


def remote(ceiling: str, source: Source) -> Call:
    """A call that may contact the remote of a source, with its credentials."""
    words, environment = local(ceiling)
    if source.ssh_key or source.known_host:
        environment["GIT_SSH_COMMAND"] = "'%s' -I -c \"$CCM_GIT_SSH\"" % sys.executable
        environment["GIT_SSH_VARIANT"] = "ssh"
        environment["CCM_GIT_SSH"] = _SSH
        environment["CCM_SSH_KEY"] = source.ssh_key and source.ssh_key.rstrip("\n") + "\n"
        environment["CCM_KNOWN_HOST"] = _known(source)
    if source.token:
        scheme, host, user = web_host(source.url)
        words += ["-c", "credential.%s://%s.helper=%s" % (scheme, host, _HELPER)]
        environment["CCM_GIT_USERNAME"] = source.username or user or "git"
        environment["CCM_GIT_TOKEN"] = source.token
    return Call(words, environment)


def web_host(url: str) -> Tuple[str, str, str]:
    """The scheme, host with port, and user of a web address."""
    scheme, _, rest = url.partition("://")
    user, _, host = rest.partition("/")[0].rpartition("@")
    return scheme, host, user


def ssh_host(url: str) -> str:
    """The host of an SSH address in the form of known_hosts: ``[host]:port`` for a non-default
    port.
    """
    if "://" not in url:
        return url.partition(":")[0].rpartition("@")[2]
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    name, _, port = host.rpartition(":")
    if not name or host.endswith("]"):
        return host.strip("[]")
    return "[%s]:%s" % (name.strip("[]"), port) if port != "22" else name.strip("[]")


def is_ssh(url: str) -> bool:
    """Return whether an address is reached over SSH."""
    return url.startswith("ssh://") or ("://" not in url and not url.startswith("/"))


def quoted(words: Sequence[str]) -> str:
    """Words for a shell."""
    return " ".join("'%s'" % word for word in words)


def local_path(url: str) -> str:
    """The path that an address names on the host itself, "" for none."""
    return url[len("file://") :] if url.startswith("file://") else url if url[:1] == "/" else ""


def _known(source: Source) -> str:
    """Lines for known_hosts; a line without a host applies to that of the URL."""
    lines = [line.strip() for line in source.known_host.splitlines() if line.strip()]
    host = ssh_host(source.url)
    begins = ("ssh-", "ecdsa-", "sk-")
    lines = ["%s %s" % (host, line) if line.startswith(begins) else line for line in lines]
    return "".join(line + "\n" for line in lines)
