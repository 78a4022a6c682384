"""``ccm ensure``, its sessions, ``ccm status`` and ``ccm apply``: here and on hosts."""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.fleet.checks.event_check import ADDED
from tests.lab import Host, Lab
from tests.push.command import EVENT, Ccm, Event, Run
from tests.push.target import NAME, Target, on_this_machine

OWNED = ("--owner", "OWNER", "--group", "GROUP", "--mode", "0644")


class Script:
    """Commands of one session on a target, as a shell script has them."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.ccm = target.ccm
        exported = self.ccm.run("session", "new").stdout
        words = shlex.split(exported)
        assert words[0] == "export"
        name, _, self.store = words[1].partition("=")
        self.ccm.environment[name] = self.store

    def ensure(self, *words: str) -> Run:
        """One command; OWNER, GROUP and DIR stand for those of the target."""
        filled = [self._target.filled(word) for word in words]
        hosts = ("-i", str(self._target.inventory), "-l", NAME)
        return self.ccm.run("ensure", *filled, *hosts)

    def events(self) -> list[Event]:
        """The session's events, in order."""
        paths = sorted(Path(self.store).glob("*.event"))
        found = [json.loads(path.read_text()) for path in paths]
        for path, event in zip(paths, found):
            EVENT.validate({k: v for k, v in event.items() if k not in ADDED})
            assert path.stem == event["event_id"]
        return found

    def close(self) -> None:
        self.ccm.run("session", "report", "--remove")
        self.ccm.environment.pop("CCM_SESSION_STORE", None)


@pytest.fixture
def script(target: Target) -> Iterator[Script]:
    script = Script(target)
    yield script
    script.close()


def test_one_resource(target: Target) -> None:
    """A file is previewed, made, and found as it should be, with the exit codes of push."""
    words = [target.filled(word) for word in ("ensure", "file", "DIR/a", "--content", "hi", *OWNED)]
    hosts = ("-i", str(target.inventory), "-l", NAME, "--detailed-exitcode")
    preview = target.ccm.run(*words, *hosts, "--noop")
    assert (preview.code, target.names()) == (4, [])
    assert "would" in preview.stdout
    assert target.ccm.run(*words, *hosts).code == 4
    assert target.read("a") == "hi"
    assert target.ccm.run(*words, *hosts).code == 0
    wrong = target.ccm.run(*words[:4], "hi", *words[5:-1], "99", *hosts)
    assert wrong.code == 2
    assert "argument --mode" in wrong.stderr


def test_what_exists_keeps_what_is_not_given(target: Target) -> None:
    """``ensure file`` leaves owner, group and mode of what exists alone; what is new needs them."""
    target.write("old", "old\n", 0o640)
    path = f"{target.directory}/old"
    words = ("-i", str(target.inventory), "-l", "web1", "--detailed-exitcode")
    preview = target.ccm.run("ensure", "file", path, "--content", "new\n", *words, "--noop")
    assert (preview.code, target.read("old")) == (4, "old\n"), preview.output
    done = target.ccm.run("ensure", "file", path, "--content", "new\n", *words)
    assert done.code == 4, done.output
    assert target.read("old") == "new\n"
    seen = target.look("old")
    assert seen is not None
    assert seen.mode == 0o640
    again = target.ccm.run("ensure", "file", path, "--content", "new\n", *words)
    assert again.code == 0, again.output
    done = target.ccm.run("ensure", "file", path, "--mode", "600", *words)
    assert done.code == 4, done.output
    target.path("d").mkdir(mode=0o755)
    done = target.ccm.run("ensure", "file", f"{target.directory}/d", "directory", *words)
    assert done.code == 0, done.output
    for more in ((), ("--noop",)):
        new = target.ccm.run(
            "ensure", "file", f"{target.directory}/new", "--mode", "600", *words, *more
        )
        assert new.code == 1, new.output
        assert "does not exist yet: set its owner and group" in new.output
    assert target.look("new") is None


def test_a_login_in_a_name_is_shown_nowhere(target: Target) -> None:
    """The command that names an exec is masked wherever the run is told of or kept."""
    words = ("ensure", "exec", "true http://user:url-password@127.0.0.1/", "-v")
    done = target.ccm.run(*words, "-i", str(target.inventory), "-l", NAME)
    assert done.code == 0, done.output
    told = [done.output, *(target.ccm.run(*words).output for words in (["runs"], ["report", "-v"]))]
    kept = (target.ccm.scratch / "state").rglob("*.json*")
    told += [path.read_text() for path in kept if path.is_file()]
    assert len(told) > 5
    assert not [text for text in told if "url-password" in text]
    assert "true http://user:[masked]@127." in told[1]


def test_a_session(script: Script, target: Target) -> None:
    """Later commands of a session see what earlier ones came to, as in one manifest."""
    done = script.ensure("file", "DIR/conf", "--content", "1", *OWNED, "--alias", "conf")
    assert done.code == 0, done.output
    on_change = ("--refresh-only", "--subscribe", "file#conf")
    assert script.ensure("exec", "reload", "--command", "true", *on_change).code == 0
    assert script.ensure("file", "DIR/conf", "--content", "1", *OWNED, "--alias", "conf").code == 0
    assert script.ensure("exec", "again", "--command", "true", *on_change).code == 0
    assert script.ensure("exec", "broken", "--command", "false").code == 1
    gated = script.ensure("exec", "gated", "--command", "true", "--require", "exec#broken")
    assert gated.code == 1
    twice = script.ensure("exec", "twice", "--command", "true", "--require", "exec#gated")
    assert twice.code == 1
    misspelt = script.ensure("exec", "x", "--command", "true", "--require", "exec#brokn")
    assert misspelt.code == 2
    assert "did you mean exec#broken" in misspelt.stderr
    statuses = [event["status"] for event in script.events()]
    assert statuses == ["changed", "changed", "stable", "stable", "failed", "skipped", "skipped"]
    assert script.events()[-1]["unmet_requirements"] == ["exec#gated"]

    report = script.ccm.run("session", "report", "--json")
    document = json.loads(report.stdout)
    assert (report.code, document["failed"]) == (1, True)
    assert document["summary"]["total"] == 7
    assert document["summary"]["unique"] == 6
    assert document["summary"]["refreshed"] == 1
    assert document["summary"]["unmet"] == 2
    assert script.ensure("exec", "broken", "--command", "true").code == 0
    text = script.ccm.run("session", "report")
    assert "exec#gated" in text.stdout


def test_previews_in_a_session(script: Script, target: Target) -> None:
    """A preview's change refreshes previews only, and what it would bring makes no failure."""
    assert script.ensure("file", "DIR/d", "directory", *OWNED, "--noop").code == 0
    within = script.ensure("file", "DIR/d/f", "--content", "x", *OWNED, "--noop")
    assert within.code == 0, within.output
    assert script.events()[-1]["prediction"] == "unknown"
    reference = f"file#{target.directory}/d"
    on_change = ("--refresh-only", "--subscribe", reference)
    script.ensure("exec", "preview", "--command", "true", *on_change, "--noop")
    assert script.events()[-1]["changed"]
    script.ensure("exec", "real", "--command", "true", *on_change)
    assert not script.events()[-1]["changed"]
    assert target.names() == []


def test_status(target: Target) -> None:
    """The state is shown as it is, a line or a JSON object per host, and nothing is changed."""
    path = target.write("seen", "data", 0o640)
    os.chown(path, os.getuid(), os.getgid())
    hosts = ("-i", str(target.inventory), "-l", NAME)
    name = f"{target.directory}/seen"
    line = target.ccm.run("status", "file", name, *hosts)
    assert line.code == 0, line.output
    assert line.stdout.startswith(f"{NAME} present")
    document = json.loads(target.ccm.run("status", "file", name, "--json", *hosts).stdout)
    assert document["host"] == NAME
    assert document["ensure"] == "present"
    assert document["properties"]["mode"] == "0640"
    assert document["properties"]["size"] == 4
    missing = target.ccm.run("status", "file", f"{target.directory}/none", "--json", *hosts)
    assert json.loads(missing.stdout)["ensure"] == "absent"
    failed = target.ccm.run("status", "exec", "x", *hosts)
    assert (failed.code, "has no state" in failed.stderr) == (1, True)


def test_ad_hoc_over_the_fleet(ccm: Ccm, hosts: list[Host], lab: Lab) -> None:
    """One command reaches several hosts at once, and its run is kept as a push is."""
    names = [host.name for host in hosts[:2]]
    words = ("ensure", "file", "/srv/adhoc", "--content", "{{ Host.name }}", "--owner", "root")
    rest = ("--group", "root", "--mode", "0644", "-i", str(lab.inventory()), "-l", ":".join(names))
    done = ccm.run(*words, *rest, "--json")
    assert done.code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["command"], document["manifest"]) == ("ensure", "file#/srv/adhoc")
    for host in hosts[:2]:
        assert host.run("cat /srv/adhoc").stdout == host.name
    assert "ensure" in ccm.run("report").stdout
    status = ccm.run("status", "package", "bash", "-i", str(lab.inventory()), "-l", ":".join(names))
    assert [line.split()[0] for line in status.stdout.splitlines()] == names


def test_what_a_status_tells(ccm: Ccm, host: Host, lab: Lab) -> None:
    """Of a package version and architecture, of a service both its states, of each the provider."""
    there = ("--json", "-i", str(lab.inventory()), "-l", host.name)
    bash = json.loads(ccm.run("status", "package", "bash", *there).stdout)
    told = bash["properties"]
    native = host.run("dpkg --print-architecture").stdout.strip()
    assert (bash["provider"], bash["ensure"]) == ("apt", told["version"])
    assert (told["status"], told["architecture"]) == ("installed", native)
    missing = json.loads(ccm.run("status", "package", "ccm-hello", *there).stdout)
    assert (missing["ensure"], missing["properties"]["candidate"]) == ("absent", "2.1~rc1-1")
    ssh = json.loads(ccm.run("status", "service", "ssh", *there).stdout)
    assert (ssh["provider"], ssh["ensure"]) == ("systemd", "running")
    assert ssh["properties"]["enable"] is True


def test_here(ccm: Ccm) -> None:
    """Without an inventory it is this host, files stand beside the working directory."""
    target = on_this_machine(ccm, ccm.scratch)
    (ccm.scratch / "beside.txt").write_text("{{ not rendered }}")
    (ccm.scratch / "part.txt").write_text("part")
    owned = [target.filled(word) for word in OWNED]
    path = f"{target.directory}/copy"
    assert ccm.run("ensure", "file", path, "--source", "beside.txt", *owned).code == 0
    assert target.read("copy") == "{{ not rendered }}"
    text = "{{ file('part.txt') }}, {{ Data.a.b }}, {{ Facts.f }}, {{ Host.name }}"
    options = ("--data", "a.b=1", "--fact", "f=2")
    assert ccm.run("ensure", "file", path, "--content", text, *owned, *options).code == 0
    assert target.read("copy") == "part, 1, 2, localhost"
    assert ccm.run("ensure", "file", path, "--content", text, *owned, "--no-render").code == 0
    assert target.read("copy") == text
    (ccm.scratch / ".hiera").write_text(
        "hierarchy: {order: ['role:{{ lookup(`facts.role`) }}']}\n"
        "data: {word: one}\noverrides: {'role:web': {word: two}}\n"
    )
    (ccm.scratch / "text").write_text("{{ Data.word }}")
    words = ("ensure", "file", path, "--content-file", "text", *owned)
    assert ccm.run(*words, "--fact", "role=web").code == 0
    assert target.read("copy") == "two"
    off = ccm.run("ensure", "file", path, "absent", "--if", "Facts.host.info.os == 'plan9'")
    assert (off.code, target.names()) == (0, ["copy"])
    checked = ccm.run("ensure", "exec", "true", "--check", "true", "--check", "exit 2")
    assert checked.code == 1
    assert not (ccm.scratch / "state" / "ccm" / "runs").exists()


def test_apply_here(ccm: Ccm) -> None:
    """``ccm apply`` makes this host be as a manifest says, with push's options and exit codes."""
    target = on_this_machine(ccm, ccm.scratch)
    site = target.filled(
        "data: {word: one}\nccm:\n  resources:\n    - file:\n        - DIR/a:\n"
        '            {content: "{{ Data.word }}", owner: OWNER, group: GROUP, mode: "0644"}\n'
    )
    path = str(ccm.site(site))
    assert ccm.run("apply", "--noop", "--detailed-exitcode", path).code == 4
    assert target.names() == []
    done = ccm.run("apply", "--data", "word=two", "--json", path)
    assert (done.code, target.read("a")) == (0, "two")
    assert json.loads(done.stdout)["command"] == "apply"
    refused = ccm.run("apply", "-l", "web", path)
    assert (refused.code, "-i" in refused.stderr) == (2, True)


def test_an_interrupted_command_leaves_nothing_behind(ccm: Ccm) -> None:
    """Ctrl-C ends the command that an exec runs, and the exit code is 130."""
    mark = f"86{os.getpid()}"
    process = ccm.start("ensure", "exec", f"sleep {mark}")
    try:
        deadline = time.monotonic() + 30
        while not _running(mark) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert _running(mark)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert not _running(mark)


def _running(mark: str) -> bool:
    found = subprocess.run(["pgrep", "-fx", f"sleep {mark}"], capture_output=True, check=False)
    return found.returncode == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become an ordinary user")
def test_as_an_ordinary_user(ccm: Ccm) -> None:
    """An ordinary user has sessions too, and root does not write into them."""
    with tempfile.TemporaryDirectory(prefix="ccm-test-") as top:
        os.chown(top, 65534, 65534)
        environment = {**ccm.environment, "HOME": top, "XDG_STATE_HOME": f"{top}/state"}
        environment["XDG_CACHE_HOME"] = f"{top}/cache"
        environment["TMPDIR"] = top
        python = f"{shlex.quote(sys.executable)} -m orchestrator.cli.app"
        program = (
            f'eval "$({python} session new)"; {python} ensure file {top}/a --content x'
            " --owner 65534 --group 65534 --mode 0600 || exit; echo $CCM_SESSION_STORE"
        )
        done = subprocess.run(
            ["sh", "-c", program],
            env=environment, cwd=top, user=65534, group=65534, extra_groups=[],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "Permission denied" in done.stderr:
            pytest.skip(
                "an ordinary user cannot start the Python or read the checkout of this machine"
            )
        assert done.returncode == 0, done.stderr
        store = Path(done.stdout.splitlines()[-1])
        assert (store.stat().st_mode & 0o777, len(list(store.glob("*.event")))) == (0o700, 1)
        ccm.environment["CCM_SESSION_STORE"] = str(store)
        refused = ccm.run("ensure", "exec", "true")
        assert refused.code == 2
        assert "belongs to user" in refused.stderr
