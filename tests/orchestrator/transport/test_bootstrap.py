"""The bootstrap on a target: interpreters, the cache, the opening (over ``connection: local``)."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.image import Image
from orchestrator.transport import Connector, Credentials, Link, Settings
from orchestrator.transport.start_command import quote, start_command
from remote_runtime import bootstrap
from remote_runtime.errors import UnreachableError
from tests.lab.interpreters import find_interpreter
from tests.orchestrator.transport.fakes import Host, Phases, image, local
from tests.texts import expect_text

VERSIONS = ["3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def started(made: Image, host: Host | None = None) -> Link:
    connector = Connector(Settings(), Credentials(environ={}), made)
    return connector.open(host or local(), Phases())


def about(link: Link) -> list[str]:
    """What the runtime says of itself: interpreter, version, sha, module, uid."""
    data = b""
    while not data.endswith(b"\n"):
        data += link.receive(10)
    return data.decode().strip().split("|")


def run(made: Image, host: Host | None = None) -> list[str]:
    link = started(made, host)
    told = about(link)
    link.close()
    return told


def unsent(made: Image) -> Image:
    """The same image, of which nothing that a host asked for would do."""
    return made._replace(payload=lambda kind: b"not sent")


def cache(home: Path) -> dict[str, Path]:
    """The files of the cache by their kind."""
    directory = home / ".cache" / "ccm"
    return {path.suffix.lstrip("."): path for path in directory.iterdir()}


def test_the_runtime_starts_and_the_link_is_its_channel(home: Path) -> None:
    """Bytes go both ways, stderr is kept aside, and closing ends the link."""
    made = image(home)
    link = started(made)
    assert link.runtime == made.sha256
    assert about(link)[2:4] == [made.sha256, "remote_runtime.session"]
    link.send(b"hello")
    assert link.receive(10) == b"hello"
    with pytest.raises(TimeoutError):
        link.receive(0.05)
    expect_text(link.stderr_tail())
    link.close()
    assert link.receive(10) == b""
    with pytest.raises(UnreachableError):
        link.send(b"late")


def test_an_interpreter_like_ours_is_sent_code_and_keeps_it(home: Path) -> None:
    """On a miss the compiled modules travel; the second start finds them and asks for nothing."""
    made = image(home)
    run(made)
    assert set(cache(home)) == {"code"}
    assert stat.S_IMODE((home / ".cache" / "ccm").stat().st_mode) == 0o700
    assert stat.S_IMODE(cache(home)["code"].stat().st_mode) == 0o600
    assert run(unsent(made))[2] == made.sha256


def test_the_runtime_does_not_wait_in_sshd(home: Path) -> None:
    """A process that asks for the runtime has room for all of it in the pipe of its input."""
    with subprocess.Popen(
        start_command(image(home), "abc"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as asking:
        assert asking.stdin is not None
        assert asking.stdout is not None
        assert asking.stdout.readline() == b"ccm1 abc need code\n"
        assert fcntl.fcntl(asking.stdin, fcntl.F_GETPIPE_SZ) == 1 << 20


def test_another_interpreter_takes_the_zip_and_compiles_it_once(home: Path) -> None:
    """With another tag the zip travels, and its modules are kept compiled beside it."""
    made = image(home, tag="cpython-399-00000000")
    run(made)
    assert set(cache(home)) == {"code", "zip"}
    assert cache(home)["zip"].read_bytes() == made.archive
    run(unsent(made))
    cache(home)["code"].unlink()
    run(unsent(made))
    assert set(cache(home)) == {"code", "zip"}


@pytest.mark.parametrize("kind", ["zip", "code"])
def test_a_tampered_file_is_never_run(home: Path, kind: str) -> None:
    """A cached file that is not what its hash says is fetched again and replaced."""
    made = image(home, tag="cpython-399-00000000")
    run(made)
    files = cache(home)
    good = files[kind].read_bytes()
    files[kind].write_bytes(good[:60] + b"evil" + good[64:])
    if kind == "zip":
        files["code"].unlink()
    run(made)
    assert cache(home)[kind].read_bytes() == good


def test_a_tampered_part_is_never_run(home: Path) -> None:
    """A module that differs is not imported; its file is removed, so the next run fetches it."""
    made = image(home)
    run(made)
    code = cache(home)["code"]
    good = code.read_bytes()
    code.write_bytes(good[:-4] + b"evil")
    with pytest.raises(UnreachableError, match="session is damaged in the cache of this host"):
        started(unsent(made))
    assert cache(home) == {}
    assert run(made)[2] == made.sha256
    assert cache(home)["code"].read_bytes() == good


@pytest.mark.parametrize("left", [0, 20, 50, -1])
def test_half_a_file_is_fetched_again(home: Path, left: int) -> None:
    """What a power cut leaves of a file is seen before anything is imported."""
    made = image(home)
    run(made)
    code = cache(home)["code"]
    good = code.read_bytes()
    code.write_bytes(good[:left])
    assert run(made)[2] == made.sha256
    assert code.read_bytes() == good


def test_code_that_is_whole_but_not_ours_is_not_run(home: Path) -> None:
    """For an interpreter like ours the file must carry the hash that the controller names."""
    made = image(home)
    run(made)
    other = bootstrap.compiled(image(home, "raise SystemExit('evil')").archive)
    cache(home)["code"].write_bytes(bootstrap.sum_of(other) + other)
    assert run(made)[2] == made.sha256


def test_a_damaged_transfer_is_refused(home: Path) -> None:
    """What arrives is hashed before it is believed."""
    made = image(home)._replace(payload=lambda kind: b"damaged")
    with pytest.raises(UnreachableError) as caught:
        started(made)
    expect_text(caught.value)
    assert caught.value.kind == "transport.bootstrap"
    assert cache(home) == {}


def test_a_symlink_in_place_of_the_directory_is_not_followed(home: Path, tmp_path: Path) -> None:
    """The runtime runs from memory and writes nothing where the link points."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home / ".cache").mkdir()
    (home / ".cache" / "ccm").symlink_to(elsewhere)
    assert run(image(home))[3] == "remote_runtime.session"
    assert list(elsewhere.iterdir()) == []


def test_a_symlink_in_place_of_a_file_is_not_followed(home: Path, tmp_path: Path) -> None:
    """The link is replaced by a file of our own."""
    made = image(home)
    run(made)
    code = cache(home)["code"]
    shutil.move(code, tmp_path / "moved")
    code.symlink_to(tmp_path / "moved")
    run(made)
    assert not code.is_symlink()


@pytest.mark.parametrize("kind", ["zip", "code"])
def test_without_a_cache_the_runtime_runs_from_memory(tmp_path: Path, kind: str) -> None:
    """A home that is not there is no reason not to run."""
    made = image(tmp_path / "nowhere", tag="other-1" if kind == "zip" else None)
    assert run(made)[2] == made.sha256
    assert not (tmp_path / "nowhere").exists()


def test_a_full_disk_leaves_nothing_behind(home: Path) -> None:
    """Where the file cannot be written, the run goes on and no piece of it stays."""
    directory = home / ".cache" / "ccm"
    directory.mkdir(parents=True, mode=0o700)
    handle = os.open(directory, os.O_RDONLY)
    try:
        with pytest.MonkeyPatch.context() as patch:

            def full(handle: int, data: bytes) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(bootstrap, "write_all", full)
            bootstrap.store(handle, "x.code", b"data")
    finally:
        os.close(handle)
    assert list(directory.iterdir()) == []


def test_a_directory_open_to_others_is_closed(home: Path) -> None:
    """The cache becomes 0700 again before anything in it is read."""
    directory = home / ".cache" / "ccm"
    directory.mkdir(parents=True)
    directory.chmod(0o777)
    run(image(home))
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_directory_of_somebody_else_is_not_used(home: Path) -> None:
    """A cache that belongs to another user is neither read nor written."""
    directory = home / ".cache" / "ccm"
    directory.mkdir(parents=True, mode=0o700)
    os.chown(directory, 65534, 65534)
    run(image(home))
    assert list(directory.iterdir()) == []


def test_old_files_are_pruned(home: Path) -> None:
    """A few files of each kind stay, and what a killed run left behind goes."""
    directory = home / ".cache" / "ccm"
    directory.mkdir(parents=True, mode=0o700)
    for number in range(9):
        path = directory / f"{number}.code"
        path.write_bytes(b"")
        os.utime(path, (number, number))
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    old, dead, alive = (directory / f".x.code.{n}" for n in (os.getppid(), ended.pid, os.getpid()))
    for path in (old, dead, alive):
        path.write_bytes(b"")
    os.utime(old, (1, 1))
    run(image(home))
    names = {path.name for path in directory.iterdir()}
    assert len(names) == bootstrap.KEPT + 1
    assert names > {"5.code", "6.code", "7.code", "8.code", alive.name}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_supported_interpreter_runs_the_runtime(home: Path, version: str) -> None:
    """The bootstrap works, with the cache cold and warm, on each Python from 3.6 on."""
    prefix = find_interpreter(version)
    if prefix is None:
        pytest.skip(f"this machine has no Python {version}")
    host = local(python=str(prefix / "bin" / f"python{version}"))
    assert run(image(home), host)[1] == version
    assert run(image(home), host)[1] == version


def fake_interpreter(directory: Path, name: str, text: str) -> str:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def searched(home: Path, *interpreters: str) -> subprocess.CompletedProcess[bytes]:
    """Run the search with these interpreters only."""
    command = start_command(image(home, "def serve(n, s): return 0"), "abc", "PLACE")
    return subprocess.run(
        [*command[:-1], *interpreters], input=b"", capture_output=True, timeout=30, check=False
    )


def test_the_search_goes_on_past_what_cannot_be_used(home: Path, tmp_path: Path) -> None:
    """Old, incomplete and broken interpreters are passed over; the first good one is used."""
    bad = [
        fake_interpreter(tmp_path, "old", "exit 90"),
        fake_interpreter(tmp_path, "two", 'test "$1" = -V && echo Python 2.7.18 >&2; exit 2'),
        fake_interpreter(tmp_path, "minimal", "exit 91"),
        fake_interpreter(tmp_path, "broken", "exit 127"),
        "not-there",
    ]
    done = searched(home, *bad, sys.executable)
    assert done.stdout.startswith(b"ccm1 abc need")
    assert b"nopython" not in done.stdout
    done = searched(home, *bad)
    line = done.stdout.decode()
    assert line.startswith("ccm1 abc nopython")
    assert f"{bad[0]}=old {bad[1]}=old {bad[2]}=incomplete {bad[3]}=broken" in line
    assert "not-there" not in line


def test_a_runtime_that_fails_is_not_taken_for_a_missing_interpreter(
    home: Path, tmp_path: Path
) -> None:
    """Once the bootstrap runs, no second interpreter is tried."""
    failing = fake_interpreter(tmp_path, "failing", "echo once; exit 1")
    assert searched(home, failing, failing).stdout == b"once\n"


def python_2() -> str | None:
    """A Python 2 of this machine; a name in PATH may be pyenv's, which starts nothing."""
    prefix = find_interpreter("2.7")
    for program in (prefix / "bin/python2.7" if prefix else None, shutil.which("python2")):
        if program and subprocess.run([program, "-V"], capture_output=True).returncode == 0:
            return str(program)
    return None


def test_python_2_is_told_apart(home: Path) -> None:
    """A Python 2 is called too old and nothing worse."""
    python2 = python_2()
    if python2 is None:
        pytest.skip("this machine has no Python 2 that starts")
    with pytest.raises(UnreachableError, match=r"is older than 3\.6") as caught:
        started(image(home), local(python=python2))
    assert caught.value.kind == "transport.python"
    expect_text(caught.value.hint)


def test_what_is_no_python_is_told_apart(home: Path) -> None:
    """A program that is no interpreter is not called an old one."""
    with pytest.raises(UnreachableError, match=r"/bin/ls is not a Python interpreter"):
        started(image(home), local(python="/bin/ls"))


def test_a_python_without_json_is_told_apart(home: Path, tmp_path: Path) -> None:
    """Debian's python3-minimal gets its own sentence and fix."""
    minimal = fake_interpreter(tmp_path, "python3", "exit 91")
    with pytest.raises(UnreachableError) as caught:
        started(image(home), local(python=minimal))
    expect_text(caught.value)
    assert "apt-get install python3" in caught.value.hint


_WITHOUT_JSON = """
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        return None if name == "json" else self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
"""


def test_the_check_for_json_is_real(tmp_path: Path) -> None:
    """The first line of the bootstrap ends with 91 where there is no json."""
    program = start_command(image(tmp_path), "abc")[8]
    without = _WITHOUT_JSON + program
    done = subprocess.run([sys.executable, "-I", "-S", "-c", without], check=False)
    assert done.returncode == 91


def test_a_python_that_is_not_there_is_named(home: Path) -> None:
    """The interpreter of the inventory is the only one that is tried."""
    with pytest.raises(UnreachableError) as refused:
        started(image(home), local(python="/nowhere/python3"))
    expect_text(refused.value)


@pytest.mark.parametrize("python", ["/bin/false", "/bin/echo"])
def test_a_python_that_is_none_is_named(home: Path, python: str) -> None:
    """What is named as Python and is something else is told as such, without our program."""
    with pytest.raises(UnreachableError) as caught:
        started(image(home), local(python=python))
    error = caught.value
    assert f"is {python} (from the inventory) a Python" in error.hint
    assert len(error.message) < 400
    assert not re.search(r"\S{100}", error.message)


def test_a_runtime_that_cannot_be_imported_is_a_fault(home: Path) -> None:
    """The reason reaches the controller in one line."""
    with pytest.raises(UnreachableError) as caught:
        started(image(home, "1 / 0"))
    expect_text(caught.value)
    assert caught.value.kind == "transport.bootstrap"


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "tcsh", "fish", "zsh", "busybox sh"])
def test_the_command_means_the_same_in_every_login_shell(home: Path, shell: str) -> None:
    """The quoting holds for POSIX shells, csh and fish alike."""
    words = shell.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"this machine has no {words[0]}")
    text = quote(start_command(image(home), "abc", sys.executable))
    done = subprocess.run([*words, "-c", text], input=b"", capture_output=True, timeout=30)
    assert done.stdout.startswith(b"ccm1 abc need code"), done.stderr


def test_what_no_shell_reads_alike_is_refused() -> None:
    """A word with a quote or a line break is never sent."""
    with pytest.raises(ValueError, match="not safe in every shell"):
        quote(["it's"])
