"""Debian packages for the projects: downloaded once per machine, served to lab hosts over HTTP."""

from __future__ import annotations

import functools
import hashlib
import http.server
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.lab import Host, base, machine, packages

NAMES = (
    *("bsd-mailx", "ca-certificates", "chrony", "cron", "curl", "debconf-utils", "fail2ban", "git"),
    *("haproxy", "libsasl2-modules", "logrotate", "nfs-common", "nfs-kernel-server", "nftables"),
    *("nginx-light", "openssl", "podman", "crun", "postfix", "postgresql-15", "python3-apt"),
    *("postgresql-client-15", "python3-systemd", "python3-venv", "redis-server", "rpcbind"),
    *("rsync", "rsyslog", "ssl-cert", "tzdata", "unzip"),
)
"""What the projects install; what these need comes with them."""

TOOLS = ("python3-apt", "debconf-utils")
"""What Ansible needs on a host; enough for projects that install nothing."""

LIST = "/etc/apt/sources.list.d/projects.list"


def ensure(names: tuple[str, ...] = NAMES) -> Path:
    """Return the directory of packages and their index; fill it where it is missing.

    Raises LabError where the machine's mirror cannot be reached.
    """
    root = base.ensure()
    digest = hashlib.sha256("\0".join((base.key(), *names)).encode()).hexdigest()[:16]
    target = base.cache() / f"base-{digest}-projects"
    if target.is_dir():
        return target
    machine.debian_sources()
    with base.locked() as cache:
        if target.is_dir():
            return target
        work = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        try:
            _download(root, work, names)
            packages.index(work)
            shutil.rmtree(work / "partial")
            work.chmod(0o755)
            work.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return target


def _download(root: Path, work: Path, names: tuple[str, ...]) -> None:
    (work / "partial").mkdir()
    options = (
        f"Dir::State::status={root}/var/lib/dpkg/status",
        f"Dir::Cache::archives={work}",
        "Debug::NoLocking=1",
    )
    words = [word for option in options for word in ("-o", option)]
    flags = ["-y", "-q", "--no-install-recommends", "--download-only", "--reinstall"]
    machine.apt_get(*words, *flags, "install", *names)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(host: Host, names: tuple[str, ...] = NAMES) -> Iterator[str]:
    """Serve the packages at the lab's gateway for as long as a `with` block lasts; yield the
    URL.
    """
    handler = functools.partial(_Quiet, directory=str(ensure(names)))
    with http.server.ThreadingHTTPServer((host.gateway, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{host.gateway}:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def use(host: Host, url: str) -> None:
    """Let a host's apt use the served packages, with what Ansible needs itself installed."""
    host.write(LIST, f"deb [trusted=yes] {url} ./\n")
    host.run("apt-get update", timeout=60)
    host.run(f"DEBIAN_FRONTEND=noninteractive apt-get -y install {' '.join(TOOLS)}", timeout=120)
