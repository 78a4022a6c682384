"""``python -m tests.preview.package_scripts``: what the preview makes of real packages' scripts.

Downloads packages of the host's own distribution with apt-get (needs its lists and a network),
keeps only their maintainer scripts and tmpfiles.d, and installs nothing. For a first installation
it counts how many packages leave nothing open, how many only paths that they name, and how many
anything; and which commands are the ones that nothing is known of.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from remote_runtime.effects import PathEffect
from remote_runtime.packages import tmpfiles
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts.effects import Open, ScriptEffects, paths_of
from remote_runtime.packages.maintainer_scripts.path_commands import LookupBudget
from remote_runtime.packages.maintainer_scripts.script_sequence import Run
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import context

_SECTIONS = ("admin", "net", "mail", "web", "httpd", "database", "utils")
_LARGEST = 250_000  # bytes of a package
_AT_ONCE = 25
_ARGUMENTS = {"preinst": ["install"], "postinst": ["configure", ""]}


@dataclass
class Count:
    """How many packages are of each kind, and how many call each unknown command."""

    without: int = 0
    certain: int = 0
    named: int = 0
    unknown: int = 0
    commands: Counter[str] = field(default_factory=Counter)

    def table(self) -> str:
        """As a page has it."""
        rows = [
            ("no scripts for an installation", self.without),
            ("certain: every call is followed or harmless", self.certain),
            ("open at paths that are named", self.named),
            ("open: a call that nothing is known of", self.unknown),
        ]
        total = sum(number for _, number in rows)
        lines = ["| Packages | Number |", "|---|---|"]
        lines += [f"| {what} | {number} |" for what, number in [*rows, ("all", total)]]
        maximum = ", ".join(
            f"`{name}` ({number})" for name, number in self.commands.most_common(12)
        )
        return "\n".join(lines) + f"\n\nThe most frequent unknown calls: {maximum}."


def available() -> list[str]:
    """Names of small packages of the distribution, in an order that is the same each time."""
    text = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for stanza in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        section, size = fields.get("Section", ""), fields.get("Size", "0")
        if section in _SECTIONS and int(size) <= _LARGEST:
            found.append(fields["Package"])
    return sorted(set(found), key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def download(names: Iterable[str], directory: Path) -> None:
    """Put the control parts and tmpfiles.d of packages below a directory; what is there stays."""
    wanted = [name for name in names if not (directory / name).exists()]
    for at in range(0, len(wanted), _AT_ONCE):
        with tempfile.TemporaryDirectory(prefix="ccm-debs-") as scratch:
            Path(scratch).chmod(0o755)
            argv = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download"]
            subprocess.run([*argv, *wanted[at : at + _AT_ONCE]], cwd=scratch, check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            for deb in Path(scratch).glob("*.deb"):
                target = directory / deb.name.partition("_")[0]
                target.mkdir(parents=True)
                subprocess.run(["dpkg-deb", "--control", deb, target / "DEBIAN"], check=True)
                files = subprocess.Popen(
                    ["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE
                )
                subprocess.run(
                    ["tar", "-xC", target, "--wildcards", "./usr/lib/tmpfiles.d/*"],
                    stdin=files.stdout,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )
                files.wait()


def opened(directory: Path) -> Iterator[Open]:
    """The calls of a package that leave something open on a host with nothing else."""
    world = context(noop=True).overlay_with([])

    def lay(effect: PathEffect) -> None:
        world.lay((effect,), Uncertainty(), "")

    for name, arguments in _ARGUMENTS.items():
        path = directory / "DEBIAN" / name
        if path.is_file():
            run = Run(directory.name, name, path.read_text(errors="replace"), arguments)
            follower = ScriptEffects(
                world.files,
                world.accounts,
                lay=lay,
                declared=lambda call: (
                    script_sequence.no_declared(call)
                    or tmpfiles.declared(world.files, world.accounts, call, LookupBudget())
                ),
            )
            yield from follower.follow(run.package, run.name, run.text, run.arguments).open


def count(directories: Iterable[Path], shown: bool = False) -> Count:
    """Sort packages by what their scripts leave open."""
    result = Count()
    for directory in directories:
        scripts = [name for name in _ARGUMENTS if (directory / "DEBIAN" / name).is_file()]
        calls = list(opened(directory))
        unknown = {call.call for call in calls if paths_of(call) is None}
        result.without += not scripts
        result.unknown += bool(unknown)
        result.named += bool(calls) and not unknown
        result.certain += bool(scripts) and not calls
        result.commands.update(unknown)
        if shown and unknown:
            print(f"{directory.name}: {', '.join(sorted(unknown))}")
    return result


def main() -> int:
    """Download what is missing, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.preview.package_scripts")
    parser.add_argument("-n", type=int, default=320, metavar="PACKAGES", help="as many")
    parser.add_argument("--directory", type=Path, help="keep the scripts there")
    parser.add_argument("-v", action="store_true", help="name each package with an unknown call")
    given = parser.parse_args()
    directory = given.directory or Path(tempfile.mkdtemp(prefix="ccm-scripts-"))
    try:
        if not given.directory or not directory.is_dir():
            download(available()[: given.n], directory)
        print(count(sorted(directory.iterdir()), given.v).table())
    finally:
        if not given.directory:
            shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
