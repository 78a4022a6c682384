"""The RPM packages that the suite builds itself, and the repository that holds them.

They are built on the host, with its own rpmbuild and createrepo_c: `Run` is a shell there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .recipe import RPM_REPOSITORY

Run = Callable[[str], object]
"""Runs a shell command where the packages are to be, and raises when it fails."""

_SPECS = "/tmp/ccm-lab-specs"
_DEFINES = {
    "_topdir": f"{_SPECS}/build",
    "_rpmdir": RPM_REPOSITORY,
    "_build_name_fmt": "%%{NAME}-%%{EPOCH}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
    "__os_install_post": "%{nil}",
}


@dataclass(frozen=True)
class Rpm:
    """One version of a package, `[epoch:]version-release`.

    `scripts` maps pre, post, preun, postun to shell text; `fields` adds lines of the preamble, such
    as Requires.
    """

    name: str
    evr: str
    scripts: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)

    def spec(self) -> str:
        """The text of its spec file."""
        epoch, _, rest = self.evr.rpartition(":")
        version, _, release = rest.rpartition("-")
        fields = {
            "Name": self.name,
            "Version": version,
            "Release": release,
            "Epoch": epoch or "0",
            "Summary": f"{self.name} of ccm's test suite",
            "License": "Apache-2.0",
            "BuildArch": "noarch",
            "AutoReqProv": "no",
            **self.fields,
        }
        directory = f"/usr/share/ccm-rpms/{self.name}"
        return (
            "".join(f"{key}: {value}\n" for key, value in fields.items())
            + f"\n%description\n{self.name}\n\n%install\nmkdir -p %{{buildroot}}{directory}\n"
            + f"echo '{self.evr}' > %{{buildroot}}{directory}/version\n\n"
            + "".join(f"%{name}\n{text}\n\n" for name, text in self.scripts.items())
            + f"%files\n{directory}\n"
        )


def _plain(name: str, *versions: str) -> list[Rpm]:
    return [Rpm(name, version) for version in versions]


RPMS: tuple[Rpm, ...] = (
    *_plain("ccm-hello", "1.0-1.el9", "1.1-1.el9", "2.0~rc1-1.el9", "2.0-1.el9", "2.0-2.el9"),
    *_plain("ccm-epoch", "2.0-1.el9", "1:0.9-1.el9"),
    *_plain("ccm-caret", "1.0-1.el9", "1.0^git1-1.el9"),
    *_plain("ccm-one", "1.0-1.el9"),
    *_plain("ccm-two", "1.0-1.el9"),
    Rpm("ccm-shell", "1.0-1", fields={"Provides": "/bin/sh"}),  # Debian's is not in RPM's database
    Rpm("ccm-broken", "1.0-1", {"pre": "echo 'ccm-broken: as intended' >&2\nexit 1"}),
    Rpm("ccm-unmet", "1.0-1", fields={"Requires": "ccm-does-not-exist"}),
    Rpm("ccm-virtual", "1.0-1", fields={"Provides": "ccm-role"}),
    Rpm(
        "ccm-slow", "1.0-1", {"post": "sleep $(cat /etc/ccm-slow.seconds)\n: > /run/ccm-slow.done"}
    ),
)
"""Everything in the local RPM repository."""


def build(root: Path, run: Run, rpms: Sequence[Rpm] = RPMS) -> None:
    """Build packages and index the repository; `root` is where files for `run` are written."""
    specs = root / _SPECS.lstrip("/")
    specs.mkdir(parents=True)
    for number, rpm in enumerate(rpms):
        (specs / f"{number}.spec").write_text(rpm.spec())
    defines = " ".join(f"--define '{key} {value}'" for key, value in _DEFINES.items())
    run(f"mkdir -p {RPM_REPOSITORY} && rpmbuild -bb --quiet {defines} {_SPECS}/*.spec")
    run(f"createrepo_c --quiet --update {RPM_REPOSITORY} && rm -r {_SPECS}")
