"""What the machine below a lab offers: can a lab run here, its tools, its Debian mirror.

Runs on the controller. Everything that starts a foreign program for the lab goes through
`run_tool`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TOOLS = {
    "mmdebstrap": "mmdebstrap",
    "systemd-nspawn": "systemd-container",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "mount": "mount",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "dpkg-deb": "dpkg",
}
"""Programs that a lab needs, and the Debian package that brings each."""

LOCK_SECONDS = 300
"""How long another program may use apt."""

_CAP_NET_ADMIN = 12
_CAP_SYS_ADMIN = 21


class LabError(Exception):
    """The lab could not do what it was asked; the message says what and, where known, why."""


def available() -> str | None:
    """Return None if a lab can be run on this machine, else the reason as one short phrase.

    Looks only, installs nothing and takes a few milliseconds. Tools that apt can install do not
    count as missing.
    """
    if not sys.platform.startswith("linux"):
        return "lab hosts need Linux"
    if os.geteuid() != 0:
        return "lab hosts need root"
    if not _has_capabilities():
        return "lab hosts need the capabilities SYS_ADMIN and NET_ADMIN"
    if not shutil.which("apt-get"):
        return "lab hosts need Debian's apt-get"
    if debian_codename() is None:
        return "lab hosts are built from a Debian machine's own mirror, and this is not Debian"
    if not _has_overlayfs():
        return "lab hosts need overlayfs in the kernel"
    if not _has_writable_cgroups():
        return "lab hosts need control groups that can be written"
    return None


def _has_capabilities() -> bool:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            effective = int(line.split()[1], 16)
            return bool(effective >> _CAP_SYS_ADMIN & 1 and effective >> _CAP_NET_ADMIN & 1)
    return False


def _has_writable_cgroups() -> bool:
    options = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        if rest.split(" ")[0] in ("cgroup", "cgroup2"):
            options.append(fields.split()[5].split(","))
    return bool(options) and all("rw" in words for words in options)


def _has_overlayfs() -> bool:
    if "\toverlay\n" in Path("/proc/filesystems").read_text():
        return True
    if not shutil.which("modprobe"):
        return False
    return subprocess.run(["modprobe", "-q", "overlay"], check=False).returncode == 0


def debian_codename() -> str | None:
    """Return this machine's Debian release name such as `bookworm`, None on anything but Debian."""
    try:
        lines = Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return None
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    if values.get("ID", "").strip('"') != "debian":
        return None
    return values.get("VERSION_CODENAME", "").strip('"') or None


def run_tool(
    argv: Sequence[str | os.PathLike[str]],
    *,
    stdin: str | None = None,
    env: dict[str, str] | None = None,
    timeout: float = 60,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run a program of this machine and return what it said.

    `timeout` is in seconds. Raises LabError if the program is missing, is too slow or, with
    `check`, fails; the end of its stderr is in the message.
    """
    name = os.fspath(argv[0])
    try:
        done = subprocess.run(
            argv,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            errors="replace",
            env=env,
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError:
        raise LabError(f"{name} is not installed") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{name} did not finish within {timeout:g} s") from None
    if check and done.returncode != 0:
        words = " ".join(os.fspath(word) for word in argv)
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-15:])
        raise LabError(f"`{words}` failed with exit code {done.returncode}:\n{said}")
    return done


def install_tools() -> None:
    """Install with apt what is missing of TOOLS. Raises LabError if that does not work."""
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if not missing:
        return
    apt_get("update")
    apt_get("install", "-y", "--no-install-recommends", *missing)


def apt_get(*words: str) -> None:
    """Have apt do it once nobody else has its locks, such as a new machine's own upgrades.

    Raises LabError.
    """
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    command = ["apt-get", "-q", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}", *words]
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            run_tool(command, env=env, timeout=600 + LOCK_SECONDS)
        except LabError as error:
            if "Could not get lock" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(1)  # one of those that apt does not wait for itself
        else:
            return


def debian_sources() -> list[str]:
    """Return this machine's own Debian mirror as one-line apt sources, whatever form its own are
    in.

    Raises LabError if apt knows none, `apt-get update` included.
    """
    sources = _known_sources()
    if not sources:
        apt_get("update")
        sources = _known_sources()
    if not sources:
        raise LabError("apt on this machine has no Debian mirror of the machine's own release")
    return sources


def _known_sources() -> list[str]:
    codename = debian_codename()
    form = "$(SITE)|$(RELEASE)|$(COMPONENT)"
    question = [
        "apt-get",
        "indextargets",
        "--format",
        form,
        "Created-By: Packages",
        "Origin: Debian",
    ]
    found: dict[tuple[str, str], list[str]] = {}
    for line in run_tool(question).stdout.splitlines():
        site, release, component = line.split("|")
        if codename and release.split("-")[0] == codename:
            components = found.setdefault((site, release), [])
            if component not in components:
                components.append(component)
    return [f"deb {site} {release} {' '.join(parts)}" for (site, release), parts in found.items()]


def apt_network_options() -> list[str]:
    """Return this machine's apt settings that decide how a mirror is reached (proxies,
    certificates).
    """
    form = '%f "%v";%n'
    dump = run_tool(["apt-config", "dump", "--no-empty", "--format", form, "Acquire"]).stdout
    words = (
        "::proxy",
        "::cainfo",
        "::capath",
        "::verify-peer",
        "::verify-host",
        "::sslcert",
        "::sslkey",
    )
    return [
        line
        for line in dump.splitlines()
        if any(word in line.split(" ")[0].lower() for word in words)
    ]
