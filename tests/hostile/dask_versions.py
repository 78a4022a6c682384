"""The attacks of workers and schedulers on the controller, under several versions of distributed.

The suite runs ``tests/orchestrator/cluster/test_taken_over.py`` with the version that is installed.
Here a throwaway environment each has the oldest version that pyproject.toml allows and the newest
that the package index has, and the same tests run there.
"""

import re
import subprocess
import sysconfig
import tempfile
import venv
from pathlib import Path
from xml.etree import ElementTree

from tests.hostile.figures import Figures
from tests.push.command import REPOSITORY

TITLE = "Attacks on the controller under other versions of distributed"
_TESTS = "tests/orchestrator/cluster/test_taken_over.py"
_SECONDS = 3000


def oldest() -> str:
    """The oldest version that the project allows."""
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'"distributed>=(\d+\.\d+)(\.\d+)?', text)
    assert found, "pyproject.toml names no version of distributed"
    return found[1] + (found[2] or ".0")


def install(directory: Path, *requirements: str) -> tuple[str, str]:
    """Make an environment with these packages before those of this one; its Python, the version."""
    venv.create(directory, with_pip=True)
    python = str(directory / "bin" / "python")
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *requirements], check=True, timeout=_SECONDS)
    # Behind its own packages: all others are those that are installed here.
    (Path(own.stdout.strip()) / "behind.pth").write_text(sysconfig.get_path("purelib") + "\n")
    version = subprocess.run(
        [python, "-c", "import distributed; print(distributed.__version__, distributed.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert str(directory) in version[1], f"distributed is that of {version[1]}"
    return python, version[0]


def attack(python: str, report: Path) -> tuple[int, list[str]]:
    """Run the tests with that Python: how many, and what failed."""
    words = [python, "-m", "pytest", "-q", "-n", "0", f"--junitxml={report}", _TESTS]
    done = subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, timeout=_SECONDS)
    if not report.exists():
        return 0, [
            f"pytest ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-500:]}"
        ]
    cases = list(ElementTree.parse(report).iter("testcase"))
    bad = [
        f"{case.get('name')}: {(found.get('message') or '')[:300]}"
        for case in cases
        for found in case
        if found.tag in ("failure", "error", "skipped")
    ]
    return len(cases), bad


def run(seconds: float, seed: int) -> Figures:
    """Attack under the oldest version and the newest, whatever time there is."""
    tried: dict[str, int] = {}
    broken = []
    first = oldest()
    wanted = {
        "oldest": (f"distributed=={first}", f"dask=={first}"),
        "newest": ("distributed", "dask"),
    }
    with tempfile.TemporaryDirectory(prefix="dask-versions-") as top:
        for name, requirements in wanted.items():
            python, version = install(Path(top) / name, *requirements)
            count, bad = attack(python, Path(top) / f"{name}.xml")
            tried[f"tests with distributed {version}"] = count
            broken += [f"distributed {version}: {text}" for text in bad]
    return Figures(tried, broken)
