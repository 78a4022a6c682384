"""The packages that the suite builds itself, with dpkg-deb alone, and the apt repository that holds
them.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .machine import run_tool


@dataclass(frozen=True)
class Package:
    """One version of a Debian package.

    `files` maps absolute paths to contents (one that starts with `#!` becomes executable),
    `scripts` maps preinst, postinst, prerm, postrm and config to shell text without its first
    lines, and triggers and templates to those control files,
    `conffiles` names those of `files` that dpkg treats as configuration, `fields` adds lines to the
    control file such as Depends.
    """

    name: str
    version: str
    files: Mapping[str, str] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)
    conffiles: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)

    def build(self, directory: Path) -> Path:
        """Write this package's .deb file into a directory and return its path. Needs dpkg-deb."""
        target = directory / f"{self.name}_{self.version.replace(':', '%3a')}_all.deb"
        with tempfile.TemporaryDirectory(prefix="ccm-lab-deb-") as scratch:
            tree = Path(scratch) / "tree"
            for path, content in self.files.items():
                _write(tree / path.lstrip("/"), content, content.startswith("#!"))
            _write(tree / "DEBIAN/control", self._control())
            for name, text in self.scripts.items():
                if name in ("triggers", "templates"):
                    _write(tree / "DEBIAN" / name, text)
                    continue
                _write(tree / "DEBIAN" / name, f"#!/bin/sh\nset -e\n{text}", executable=True)
            if self.conffiles:
                _write(tree / "DEBIAN/conffiles", "".join(f"{path}\n" for path in self.conffiles))
            tree.chmod(0o755)
            run_tool(["dpkg-deb", "--root-owner-group", "-Zgzip", "--build", tree, target])
        return target

    def _control(self) -> str:
        fields = {
            "Package": self.name,
            "Version": self.version,
            "Architecture": "all",
            "Maintainer": "ccm test suite <root@localhost>",
            "Section": "misc",
            "Priority": "optional",
            **self.fields,
            "Description": f"{self.name} of ccm's test suite",
        }
        return "".join(f"{key}: {value}\n" for key, value in fields.items())


def _write(path: Path, content: str, executable: bool = False) -> None:
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755 if executable else 0o644)


def _unit(command: str, more: str = "", install: bool = True) -> str:
    wanted = "\n[Install]\nWantedBy=multi-user.target\n" if install else ""
    unit = "[Unit]\nDescription=A unit of ccm's test suite\n"
    return f"{unit}\n[Service]\nExecStart={command}\n{more}{wanted}"


_DAEMON = """#!/bin/sh
# Runs until it is stopped; each HUP adds one line to /run/ccm-daemon.reloads.
trap 'echo reloaded >> /run/ccm-daemon.reloads' HUP
while :; do sleep 3600 & wait $!; kill $! 2>/dev/null; done
"""

_DAEMON_POSTINST = """
unit=ccm-daemon.service
if [ "$1" = configure ] || [ "$1" = abort-upgrade ] || [ "$1" = abort-remove ]; then
    deb-systemd-helper unmask $unit >/dev/null || true
    if deb-systemd-helper --quiet was-enabled $unit; then
        deb-systemd-helper enable $unit >/dev/null || true
    else
        deb-systemd-helper update-state $unit >/dev/null || true
    fi
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload >/dev/null || true
        if [ -n "$2" ]; then action=restart; else action=start; fi
        deb-systemd-invoke $action $unit >/dev/null || true
    fi
fi
"""

_DAEMON_PRERM = """
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop ccm-daemon.service >/dev/null || true
fi
"""

_DAEMON_POSTRM = """
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then deb-systemd-helper purge ccm-daemon.service >/dev/null || true; fi
"""

_SLOW_POSTINST = """
seconds=$(cat /etc/ccm-slow.seconds 2>/dev/null || echo 3)
echo "ccm-slow: configuring for $seconds s"
sleep "$seconds"
date +%s > /var/lib/ccm-slow.done
"""


def _daemon(version: str) -> Package:
    unit = _unit(
        "/usr/sbin/ccm-daemon",
        "EnvironmentFile=-/etc/default/ccm-daemon\nExecReload=kill -HUP $MAINPID\n",
    )
    files = {"/usr/sbin/ccm-daemon": _DAEMON, "/lib/systemd/system/ccm-daemon.service": unit}
    scripts = {"postinst": _DAEMON_POSTINST, "prerm": _DAEMON_PRERM, "postrm": _DAEMON_POSTRM}
    return Package("ccm-daemon", version, files, scripts)


def _benchmark(number: int) -> Package:
    name = f"ccm-pkg{number:02d}"
    files = {f"/usr/share/{name}/number": f"{number}\n"}
    if number <= 5:
        files[f"/lib/systemd/system/{name}.service"] = _unit("/bin/sleep infinity")
    return Package(name, "1.0-1", files)


def _conf(version: str, colour: str) -> Package:
    content = f"# ccm-conf {version}\ncolour = {colour}\n"
    return Package(
        "ccm-conf", version, {"/etc/ccm-conf.conf": content}, conffiles=("/etc/ccm-conf.conf",)
    )


def _plain(name: str, version: str) -> Package:
    return Package(name, version, {f"/usr/share/{name}/version": f"{version}\n"})


PACKAGES: tuple[Package, ...] = (
    *(_plain("ccm-hello", version) for version in ("1.0-1", "1.1-1", "2.0-1", "2.1~rc1-1")),
    _plain("ccm-epoch", "2.0-1"),
    _plain("ccm-epoch", "1:0.9-1"),
    _daemon("1.0-1"),
    _daemon("1.1-1"),
    _conf("1.0-1", "blue"),
    _conf("2.0-1", "green"),
    Package(
        "ccm-broken", "1.0-1", scripts={"postinst": "echo 'ccm-broken: as intended' >&2\nexit 1\n"}
    ),
    Package("ccm-unmet", "1.0-1", fields={"Depends": "ccm-does-not-exist (>= 1)"}),
    Package("ccm-slow", "1.0-1", scripts={"postinst": _SLOW_POSTINST}),
    Package(
        "ccm-units",
        "1.0-1",
        {
            "/lib/systemd/system/ccm-static.service": _unit("/bin/sleep infinity", install=False),
            "/lib/systemd/system/ccm-app@.service": _unit(
                "/bin/sleep infinity", "Environment=INSTANCE=%i\n"
            ),
            "/lib/systemd/system/ccm-fails.service": _unit(
                "/bin/sh -c 'echo as intended >&2; exit 3'"
            ),
        },
    ),
    *(_benchmark(number) for number in range(1, 11)),
)
"""Everything in the local repository but nginx-light."""


def index(directory: Path) -> None:
    """Write the index of all .deb files in a directory: that makes it a flat apt
    repository.
    """
    stanzas = []
    for deb in sorted(directory.glob("*.deb")):
        control = run_tool(["dpkg-deb", "--field", deb]).stdout.rstrip("\n")
        digest = hashlib.sha256(deb.read_bytes()).hexdigest()
        stanzas.append(
            f"{control}\nFilename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n"
        )
    # Compressed, because apt would only link to a plain index, and never notice that it is old.
    text = "\n".join(stanzas).encode()
    (directory / "Packages.gz").write_bytes(gzip.compress(text, mtime=0))


def build_repository(directory: Path, downloads: Iterable[Path]) -> None:
    """Fill a directory with PACKAGES and with .deb files made elsewhere, and index it."""
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    for deb in downloads:
        shutil.copyfile(deb, directory / deb.name)
    for package in PACKAGES:
        package.build(directory)
    for path in directory.iterdir():
        path.chmod(0o644)
    index(directory)
