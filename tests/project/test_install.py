"""ccm as users install it, without a network: a wheel, an sdist, a checkout, one file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.zipapp.build import PYTHONS
from tests.lab import find_interpreter
from tests.orchestrator.transport.sshd import Sshd

ROOT = Path(__file__).resolve().parents[2]
SITE = """\
ccm:
  resources:
    - file:
        - "{made}": {{content: "made\\n", mode: "0644", owner: "{owner}", group: "{group}"}}
"""
pytestmark = [
    pytest.mark.begun_first,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("install"),
]


def run(*argv: str | Path, cwd: Path, status: int = 0) -> str:
    """What a command says in an environment that knows nothing of this checkout."""
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": str(cwd), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == status, f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def python(version: str) -> Path:
    """An interpreter of this machine; skips the test where there is none."""
    prefix = find_interpreter(version)
    if prefix is None:
        pytest.skip(f"this machine has no Python {version}")
    return prefix / f"bin/python{version}"


def put_to_use(directory: Path, *ccm: str | Path, host: dict[str, object] | None = None) -> str:
    """What ``ccm verify`` says of a push, the second of which has nothing to do."""
    status = directory.stat()
    made = directory / "made"
    inventory = {"hosts": {"here": host or {"connection": "local"}}}
    (directory / "hosts.yaml").write_text(json.dumps(inventory))
    (directory / "site.yaml").write_text(
        SITE.format(made=made, owner=status.st_uid, group=status.st_gid)
    )
    assert re.fullmatch(r"ccm \d+\.\d+\.\d+\n", run(*ccm, "--version", cwd=directory))
    where = ("-i", "hosts.yaml", "site.yaml")
    run(*ccm, "push", "--detailed-exitcode", *where, cwd=directory, status=4)
    assert made.read_text() == "made\n"
    run(*ccm, "push", "--detailed-exitcode", *where, cwd=directory)
    verified = run(*ccm, "verify", *where, cwd=directory)
    made.unlink()
    return verified


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean clone."""
    directory = tmp_path_factory.mktemp("clone") / "ccm"
    subprocess.run(["git", "clone", "-q", ROOT, directory], check=True)
    return directory


@pytest.fixture(scope="session")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with what ``python -m build`` makes: an sdist, and the wheel made of that."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target)]
    done = subprocess.run([*command, str(checkout)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="session")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one file, for all Pythons."""
    target = tmp_path_factory.mktemp("pyz") / "ccm.pyz"
    subprocess.run([ROOT / "scripts/pyz", "-o", target], check=True)
    return target


@pytest.fixture(scope="session")
def index(built: Path, pyz: Path) -> Path:
    """A directory with all wheels for an installation, including the backend's for an sdist."""
    with zipfile.ZipFile(pyz) as archive:
        for name in archive.namelist():
            if name.startswith("wheels/") and "ccm_push" not in name:
                (built / Path(name).name).write_bytes(archive.read(name))
    download = [sys.executable, "-m", "pip", "download", "-q", "-d", str(built), "hatchling"]
    subprocess.run(download, check=True)
    return built


def install(version: str, directory: Path, index: Path, what: str | Path) -> Path:
    """Install into a clean environment from a directory of wheels alone, and return its ccm."""
    home = directory / "venv"
    run(python(version), "-m", "venv", home, cwd=directory)
    # its own: that of another Python, such as Debian's, may not work there
    pip: list[str | Path] = [home / "bin/python", "-m", "pip", "install", "-q"]
    # of all modules most are imported by nobody here
    pip += ["--disable-pip-version-check", "--no-compile"]
    run(*pip, "--no-index", "--find-links", index, what, cwd=directory)
    return home / "bin/ccm"


@pytest.mark.long(*PYTHONS[1:])  # others have the one file below
@pytest.mark.parametrize("version", PYTHONS)
def test_an_installed_wheel_works(version: str, index: Path, tmp_path: Path) -> None:
    """The plain installation pushes and verifies; no extra is needed for that."""
    assert "1 passed" in put_to_use(tmp_path, install(version, tmp_path, index, "ccm-push"))


@pytest.mark.long
def test_an_installed_sdist_works(index: Path, tmp_path: Path) -> None:
    """The sdist holds all that its wheel is made of, and the tests."""
    (sdist,) = index.glob("ccm_push-*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/tests/project/test_install.py") for name in archive.getnames())
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert "1 passed" in put_to_use(tmp_path, install(version, tmp_path, index, sdist))


def test_the_wheel_holds_ccm_only(built: Path, checkout: Path) -> None:
    """No tests or tools are installed; every file of ccm's packages is."""
    (wheel,) = built.glob("ccm_push-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    packages = ["orchestrator", "inventory", "schemas", "remote_runtime"]
    listed = subprocess.run(
        ["git", "ls-files", *packages], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert found == set(listed.stdout.split())


def test_an_installation_writes_nothing_into_the_checkout(checkout: Path, tmp_path: Path) -> None:
    """Two installations of one checkout at once both work, and leave it as it was."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    both = [
        subprocess.Popen([*pip, "--target", tmp_path / name, checkout]) for name in ("one", "two")
    ]
    assert [process.wait() for process in both] == [0, 0]
    names = [
        sorted(p.relative_to(top) for top in [tmp_path / n] for p in top.rglob("*.json"))
        for n in ("one", "two")
    ]
    assert names[0] == names[1] != []
    status = ["git", "status", "--porcelain", "--ignored"]
    said = subprocess.run(status, cwd=checkout, capture_output=True, text=True, check=True)
    assert said.stdout == ""


@pytest.mark.long(*PYTHONS[:-1])
@pytest.mark.parametrize("version", PYTHONS)
def test_the_one_file_works_alone(version: str, pyz: Path, tmp_path: Path) -> None:
    """ccm.pyz needs a Python and nothing else, whose own packages it does not look at."""
    assert "1 passed" in put_to_use(tmp_path, python(version), "-E", "-s", pyz)
    (directory,) = (tmp_path / ".cache/ccm/pyz").iterdir()
    assert directory.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """A server that lets the user of the tests in."""
    server = Sshd(tmp_path / "sshd")
    yield server
    server.stop()


def test_the_one_file_pushes_over_ssh(sshd: Sshd, pyz: Path, tmp_path: Path) -> None:
    """The runtime that it sends is made of what it carries."""
    host = sshd.host()
    words = {name: getattr(host, name) for name in ("port", "user", "key_file", "known_hosts")}
    assert "1 passed" in put_to_use(
        tmp_path, pyz, host={"address": "127.0.0.1", "python": sys.executable, **words}
    )


def test_another_python_is_told_what_the_one_file_needs(pyz: Path, tmp_path: Path) -> None:
    """A Python for which it carries nothing, an old one too, gets one sentence and no traceback."""
    done = subprocess.run(
        [python("3.6"), pyz, "push"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "this file is for Python 3.10, 3.11, 3.12, 3.13 on Linux x86-64" in done.stderr
    assert os.listdir(tmp_path) == []
