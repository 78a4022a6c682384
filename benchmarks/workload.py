"""The standard work of both tools: a directory, files, installed packages, running services."""

from dataclasses import dataclass
from pathlib import Path

DIRECTORY = "/srv/bench"
PACKAGES = [f"ccm-pkg{n:02d}" for n in range(1, 11)]
SERVICES = [f"bench@{n}.service" for n in range(1, 6)]
UNIT = """\
[Unit]
Description=benchmark %i

[Service]
ExecStart=/bin/sleep infinity

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Work:
    """How many resources: the given number in all, the ones that are not files being fixed."""

    resources: int = 100

    @property
    def files(self) -> int:
        return self.resources - 1 - len(PACKAGES) - len(SERVICES)

    def site(self) -> str:
        """The work as a ccm manifest."""
        lines = ["ccm:", "  resources:", "    - file:"]
        lines += [
            "        - defaults: {owner: root, group: root, mode: '0644', ensure: present}",
            f"        - {DIRECTORY}: {{ensure: directory, mode: '0755'}}",
        ]
        for number in range(self.files):
            lines += [
                f"        - {DIRECTORY}/file{number:03d}.conf:",
                "            content: |",
                *(f"              {line}" for line in content(number, "{{ Host.name }}")),
            ]
        lines += [
            "    - package:",
            *(f"        - {name}: {{ensure: present}}" for name in PACKAGES),
        ]
        lines += ["    - service:"]
        lines += [f"        - {name}: {{ensure: running, enable: true}}" for name in SERVICES]
        return "\n".join(lines) + "\n"

    def deploy(self) -> str:
        """The same work as a pyinfra deploy."""
        return f'''\
from io import StringIO
from pyinfra import host
from pyinfra.operations import apt, files, systemd

files.directory(path="{DIRECTORY}", user="root", group="root", mode="755")
for number in range({self.files}):
    lines = [f"# file {{number}} on {{host.name}}", "listen = 127.0.0.1", f"number = {{number}}"]
    files.put(
        src=StringIO("\\n".join(lines) + "\\n"),
        dest=f"{DIRECTORY}/file{{number:03d}}.conf",
        user="root", group="root", mode="644",
    )
apt.packages(packages={PACKAGES!r})
for name in {SERVICES!r}:
    systemd.service(service=name, running=True, enabled=True)
'''


def content(number: int, name: str) -> list[str]:
    """The lines of one file."""
    return [f"# file {number} on {name}", "listen = 127.0.0.1", f"number = {number}"]


def prepare_root(root: Path) -> None:
    """Give a host the unit of the five services before it boots."""
    (root / "etc/systemd/system/bench@.service").write_text(UNIT, encoding="utf-8")
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    for name in SERVICES:
        (wants / name).symlink_to("/etc/systemd/system/bench@.service")
