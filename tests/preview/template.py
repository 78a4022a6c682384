"""What every host of the corpus has: its packages, their lists, ccm's runtime."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab import Lab, LabError
from tests.lab.machine import run_tool
from tests.push.command import Ccm

from .packages import PACKAGES
from .rpm_packages import RPMS

PRELUDE = (Path(__file__).parent / "prelude.sh").read_text(encoding="utf-8")
"""Shell functions for the setup of scenarios."""

_KEPT = (
    "srv/ccm-repo",
    "srv/ccm-rpms",
    "var/lib/apt/lists",
    "var/cache/apt",
    "var/cache/dnf",
    "root/.cache/ccm",
)
_SITE = "ccm: {resources: [{exec: [{'true': {}}]}]}\n"


def put_npm(root: Path) -> None:
    """Lay this machine's npm over the root of a host; LabError where there is none."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise LabError("this machine has no npm that a host could get")
    library = Path(npm).resolve().parents[1]
    (root / "usr/lib/node_modules").mkdir(exist_ok=True)
    run_tool(["cp", "-a", library, root / "usr/lib/node_modules/npm"])
    run_tool(["cp", Path(node).resolve(), root / "usr/bin/node"])
    (root / "usr/bin/npm").symlink_to("../lib/node_modules/npm/bin/npm-cli.js")


class Template:
    """Taken of one host once, put on every host before it boots."""

    def __init__(self) -> None:
        self._archive: Path | None = None

    def take(self, lab: Lab, ccm: Ccm, directory: Path) -> None:
        """Make one host what all are to be, and keep what that took."""
        host = next(iter(lab.hosts.values()))
        host.publish(*PACKAGES)
        host.publish_rpms(*RPMS)
        host.run("apt-get update -q && dnf -q makecache", timeout=120)
        ran = ccm.push(lab.inventory(), _SITE, "-l", host.name, "--noop")
        assert ran.code == 0, ran.output
        archive = directory / "template.tar"
        run_tool(["tar", "-C", host.root, "-cf", archive, *_KEPT])
        self._archive = archive

    def put(self, root: Path) -> None:
        """Lay it over the root of a host that is about to boot."""
        if self._archive is not None:
            run_tool(["tar", "-C", root, "-xpf", self._archive])
