"""``python -m tests.project.ssh_releases [-k WORD]``: the transport's tests with other releases of
paramiko and fabric, each in a throwaway environment on top of this one: the oldest and the capped
one of pyproject.toml, and the newest that the package index has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

from orchestrator.transport.ssh_internals import CHECKED_RELEASES

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("tests/orchestrator/transport", "tests/architecture/test_ssh_internals.py")
_CAPPED = "test_the_ssh_libraries_are_capped_at_what_is_checked"


def releases(newest: dict[str, str]) -> dict[str, list[str]]:
    """What to install for each environment, by its name."""
    wanted = {
        "oldest": {library: known[0] for library, known in CHECKED_RELEASES.items()},
        "capped": {library: known[-1] for library, known in CHECKED_RELEASES.items()},
        "newest": newest,
    }
    pinned = {
        name: [f"{library}=={release}" for library, release in found.items()]
        for name, found in wanted.items()
    }
    return {
        name: found
        for at, (name, found) in enumerate(pinned.items())
        if found not in list(pinned.values())[:at]
    }


def newest_of(library: str, listing: str) -> str:
    """The newest release in what ``pip index versions`` writes; ValueError."""
    found = re.search(r"^Available versions: ([\w.]+)", listing, re.MULTILINE)
    if found is None:
        raise ValueError(f"the package index shows no release of {library}: {listing!r}")
    return found[1]


def environment(directory: Path, packages: list[str]) -> Path:
    """The Python of a new environment: what is installed here, with these packages in front."""
    venv.create(directory, with_pip=False, symlinks=True)
    python = directory / "bin" / "python"
    paths = {"base": str(directory), "platbase": str(directory)}
    site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    below = [path for path in sys.path if path.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({path!r})" for path in below]
    (site / "below.pth").write_text("\n".join([str(ROOT), *lines, ""]), encoding="utf-8")
    if not packages:
        return python
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, "--disable-pip-version-check", *packages], check=True)
    return python


def main() -> int:
    """Exit with 1 where a test failed with one of them."""
    pip = [sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check"]
    newest = {
        library: newest_of(
            library,
            subprocess.run([*pip, library], check=True, stdout=subprocess.PIPE, text=True).stdout,
        )
        for library in CHECKED_RELEASES
    }
    results = {}
    for name, packages in releases(newest).items():
        with tempfile.TemporaryDirectory(prefix="ccm-ssh-") as directory:
            python = environment(Path(directory), packages)
            print(f"== {name}: {' '.join(packages)}", flush=True)
            run = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
            run += ["--deselect", f"{TESTS[1]}::{_CAPPED}", *sys.argv[1:]]
            env = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
            results[name] = subprocess.run(run, cwd=ROOT, env=env).returncode
    for name, code in results.items():
        print(f"{name}: {'passed' if code == 0 else f'failed (pytest returned {code})'}")
    return int(any(results.values()))


if __name__ == "__main__":
    sys.exit(main())
