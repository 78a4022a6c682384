"""The base: one Debian root, built once per machine and recipe, that is the lower layer of every
host.

It lives in `$CCM_LAB_CACHE` (default /var/cache/ccm-lab) as `base-KEY`; KEY is a hash of all that
decides what is in it. It is built beside that name and renamed when it is complete, so an
interrupted build is never used.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import machine, packages, recipe, rpms
from .machine import LabError, run_tool

_CHROOT_ENV = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
ALONE = [
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
]
"""Keeps the mounts of a build to itself, and ends all of it when its starter ends."""

_UNUSED_SECONDS = 24 * 3600.0
_DOWNLOADS = "var/cache/ccm-lab-downloads"


def cache() -> Path:
    """Return the directory that holds bases."""
    return Path(os.environ.get("CCM_LAB_CACHE") or "/var/cache/ccm-lab")


def key() -> str:
    """Return the key of the base that this recipe gives: it changes with the recipe and the Debian
    release.
    """
    digest = hashlib.sha256(f"{machine.debian_codename()} {os.uname().machine}".encode())
    for module in (recipe, packages, rpms, sys.modules[__name__]):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def locked() -> Iterator[Path]:
    """Hold the cache's lock, as one does to build and to prune. Yields the cache directory."""
    directory = cache()
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory


def ensure() -> Path:
    """Return the root of the base; where it is missing it is built (half a minute, over network).

    Raises LabError if it cannot be built.
    """
    reason = machine.available()
    if reason:
        raise LabError(reason)
    machine.install_tools()
    base = cache() / f"base-{key()}"
    if not base.is_dir():
        with locked():
            if not base.is_dir():
                prune(_UNUSED_SECONDS)
                _build(base)
    os.utime(base)
    return base


def prune(unused_seconds: float) -> None:
    """Remove interrupted builds, and bases that no lab has used for so long. Hold the lock."""
    mounts = Path("/proc/self/mountinfo").read_text()
    for entry in cache().iterdir():
        old = time.time() - entry.stat().st_mtime > unused_seconds
        stale = entry.name.startswith("building-") or (entry.name.startswith("base-") and old)
        if stale and str(entry) not in mounts:
            shutil.rmtree(entry)


def _build(target: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
    try:
        _bootstrap(work / "root")
        _configure(work / "root")
        (work / "root").rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _bootstrap(root: Path) -> None:
    """Make a minimal Debian in `root`, with the .deb files of OFFLINE_PACKAGES below _DOWNLOADS."""
    codename = machine.debian_codename() or ""
    download = (
        f'mkdir -p "$1/{_DOWNLOADS}/partial"; APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get -y '
        f'--no-install-recommends -o Dir::Cache::Archives="$1/{_DOWNLOADS}" --download-only '
        f"install {' '.join(recipe.OFFLINE_PACKAGES)}"
    )
    argv = [*ALONE, "mmdebstrap", "--mode=root", "--format=directory", "--variant=minbase"]
    argv.append(f"--include={','.join(recipe.DEBIAN_PACKAGES)}")
    argv += [f"--dpkgopt=path-exclude={pattern}" for pattern in recipe.LEFT_OUT_OF_PACKAGES]
    argv += [f"--aptopt={option}" for option in machine.apt_network_options()]
    argv.append(f"--customize-hook={download}")
    run_tool([*argv, codename, root, *machine.debian_sources()], timeout=1800)


def _configure(root: Path) -> None:
    """Turn a minimal Debian into a lab host: repository, users, units, settings."""
    downloads = root / _DOWNLOADS
    packages.build_repository(root / recipe.REPOSITORY.lstrip("/"), downloads.glob("*.deb"))
    shutil.rmtree(downloads)
    shutil.rmtree(root / "etc/apt/sources.list.d")
    for stale in (
        "etc/apt/sources.list",
        "etc/apt/apt.conf.d/99mmdebstrap",
        "etc/resolv.conf",
        "etc/hostname",
    ):
        (root / stale).unlink(missing_ok=True)
    for stale_key in (root / "etc/ssh").glob("ssh_host_*"):
        stale_key.unlink()
    for path, content in recipe.FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    (root / "etc/sudoers.d/lab").chmod(0o440)
    (root / "etc/machine-id").write_text("")
    for unit in recipe.MASKED_UNITS:
        mask = root / "etc/systemd/system" / unit
        mask.unlink(missing_ok=True)
        mask.symlink_to("/dev/null")
    for user in recipe.USERS:
        _chroot(root, "useradd", "--create-home", "--shell", "/bin/bash", user.name)
    _chroot(
        root, "chpasswd", stdin="".join(f"{user.name}:{user.password}\n" for user in recipe.USERS)
    )
    _chroot(root, "visudo", "--check")
    _chroot(root, "apt-get", "update")
    rpms.build(root, lambda command: _chroot(root, "sh", "-ec", command))
    _chroot(root, "dnf", "--quiet", "makecache")


def _chroot(root: Path, *argv: str, stdin: str = "") -> None:
    run_tool(["chroot", root, *argv], stdin=stdin, env=_CHROOT_ENV, timeout=120)
