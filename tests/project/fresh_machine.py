"""A Debian that nobody has used: a root with Python and nothing else, for one command."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab import base, machine
from tests.lab.machine import run_tool
from tests.lab.rootfs import unmount

CHECKOUT = "/root/ccm"
_DEBS = "/var/cache/apt/archives"
_WHEELS = "/var/cache/pip"
_NETWORK = ("PIP_", "SSL_CERT_", "http_proxy", "https_proxy", "no_proxy")
"""How the names begin of variables that say how this machine reaches the package indexes."""


@contextmanager
def fresh_machine(checkout: Path) -> Iterator[Path]:
    """The root of a new machine with a clean clone of a checkout; it is gone afterwards.

    Packages that it downloads are kept beside the lab's bases, so that the next one is quicker; the
    lists of packages are not, because a new machine has none. One at a time on each machine, which
    shares them.
    """
    machine.install_tools()
    cache = base.cache()
    for directory in ("debs", "wheels"):
        (cache / directory).mkdir(parents=True, exist_ok=True)
    with open(cache / "fresh.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lower = _debian()
        top = Path(tempfile.mkdtemp(prefix="ccm-fresh-"))
        try:
            run_tool(["mount", "-t", "tmpfs", "-o", "mode=0755", "ccm-fresh", top])
            for name in ("upper", "work", "root"):
                (top / name).mkdir()
            layers = f"lowerdir={lower},upperdir={top}/upper,workdir={top}/work"
            root = top / "root"
            run_tool(["mount", "-t", "overlay", "overlay", "-o", layers, root])
            run_tool(["git", "clone", "-q", checkout, root / CHECKOUT.lstrip("/")])
            yield root
        finally:
            for mounted in (top / "root", top):
                if os.path.ismount(mounted):
                    unmount(mounted)
            shutil.rmtree(top)


def _debian() -> Path:
    """A minimal Debian of this machine's release, from its mirror, that has Python beside that."""
    codename = machine.debian_codename() or ""
    digest = hashlib.sha256(f"{codename} {os.uname().machine}".encode())
    digest.update(Path(__file__).read_bytes())
    target = base.cache() / f"base-fresh-{digest.hexdigest()[:16]}"
    with base.locked():
        if not target.is_dir():
            _build(target, codename)
    os.utime(target)
    return target


def _build(target: Path, codename: str) -> None:
    work = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
    argv = [*base.ALONE, "mmdebstrap", "--mode=root", "--format=directory"]
    argv += ["--variant=minbase", "--include=python3,ca-certificates"]
    argv += [f"--aptopt={option}" for option in machine.apt_network_options()]
    try:
        run_tool([*argv, codename, work / "root", *machine.debian_sources()], timeout=600)
        (work / "root").rename(target)
    finally:
        shutil.rmtree(work)


def run(root: Path, command: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a shell command in the checkout of a new machine, as root with an empty home.

    Of this machine it has the network and how package indexes are reached, and nothing else.
    """
    cache = base.cache()
    argv = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--as-pid2", "--pipe"]
    argv += [f"--directory={root}", f"--chdir={CHECKOUT}", "--resolv-conf=replace-host"]
    argv += [f"--bind={cache}/debs:{_DEBS}", f"--bind={cache}/wheels:{_WHEELS}"]
    shared = [
        path for path in ("/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs") if Path(path).exists()
    ]
    argv += [f"--bind-ro={path}" for path in shared]
    passed = {name: value for name, value in os.environ.items() if name.startswith(_NETWORK)}
    # Of what is installed few modules are imported: these are compiled then.
    own = {"PIP_CACHE_DIR": _WHEELS, "PIP_COMPILE": "0", "HOME": "/root"}
    for name, value in {**passed, **own}.items():
        argv.append(f"--setenv={name}={value}")
    return run_tool([*argv, "/bin/sh", "-c", command], timeout=timeout, check=False)
