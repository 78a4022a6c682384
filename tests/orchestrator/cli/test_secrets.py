"""``ccm secrets`` as a user runs it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.temporary_edit import edit_text
from tests.orchestrator.secrets.keys import inline, vault
from tests.push.command import REPOSITORY, Ccm
from tests.texts import expect_text

KEYS = "secrets: {vault: {password_file: pw, ids: {prod: {command: cat pw-prod}}}}\n"
SITE = """\
data:
  token: TOKEN
  port: 1
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0600"}
        - /x/hashed: {content: "{{ secret('v.yml#db.password') | hash('sha256') }}"}
        - /x/other: {content: "{{ secret('v.yml#db.other') }}"}
        - /x/inline: {content: "{{ Data.token }}"}
        - /x/late: {content: "{{ file('/etc/hostname') }}{{ secret('v.yml#db.password') }}"}
        - /x/none: {content: "{{ Data.port }}"}
        - /x/facts: {content: "{{ Facts.host.info.os }}"}
"""


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    (tmp_path / "ccm.yaml").write_text(KEYS)
    (tmp_path / "pw").write_text("vault password")
    (tmp_path / "pw-prod").write_text("of prod")
    (tmp_path / "shm").mkdir()
    vault(tmp_path / "v.yml", "db: {password: hunter2-hunter2, other: hunter3}\n")
    (tmp_path / "hosts.yaml").write_text("hosts: {web1: {}, web2: {}}\n")
    (tmp_path / "site.yaml").write_text(SITE.replace("TOKEN", inline("t0ken", "    ").strip()))
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "shm")}
    return Ccm(tmp_path, {**environment, "EDITOR": str(tmp_path / "editor")})


def editor(directory: Path, text: str) -> None:
    (directory / "editor").write_text(f"#!/bin/sh\n{text}\n")
    (directory / "editor").chmod(0o700)


def test_show_and_edit(ccm: Ccm) -> None:
    """The plain text is edited in a private file, of which nothing is left."""
    assert ccm.run("secrets", "show", "v.yml#db.other").stdout == "hunter3\n"
    editor(ccm.scratch, 'ls -l "$1" > seen; sed -i s/hunter3/changed/ "$1"; touch "$1~"')
    assert ccm.run("secrets", "edit", "v.yml").stdout == "written: v.yml\n"
    assert ccm.run("secrets", "show", "v.yml#db.other").stdout == "changed\n"
    assert (ccm.scratch / "seen").read_text().startswith("-rw-------")
    assert list((ccm.scratch / "shm").iterdir()) == []


def test_an_editor_that_fails(ccm: Ccm) -> None:
    """Nothing is changed, and nothing is left."""
    before = (ccm.scratch / "v.yml").read_bytes()
    editor(ccm.scratch, 'echo broken > "$1"; exit 3')
    done = ccm.run("secrets", "edit", "v.yml")
    expect_text(done.stderr)
    assert (ccm.scratch / "v.yml").read_bytes() == before
    assert list((ccm.scratch / "shm").iterdir()) == []


def test_a_text_that_cannot_be_encrypted(ccm: Ccm, monkeypatch: pytest.MonkeyPatch) -> None:
    """The editor opens again with the text as it was left, or nothing is changed."""
    (ccm.scratch / "plain.yml").write_text(f"token: {inline('t0ken', '  ').strip()}\n")
    before = (ccm.scratch / "plain.yml").read_bytes()
    editor(ccm.scratch, 'echo "x: [" >> "$1"')
    done = ccm.run("secrets", "edit", "plain.yml")
    assert done.code != 0
    assert "plain.yml" in done.stderr
    assert (ccm.scratch / "plain.yml").read_bytes() == before

    monkeypatch.setenv("EDITOR", str(ccm.scratch / "editor"))
    asked: list[str] = []

    def accept(text: str) -> str:
        """Only the second text."""
        if text.count("x: [") < len("ab"):
            raise SecretError("it is not YAML")
        return text

    def again(error: SecretError) -> bool:
        """What a person says."""
        asked.append(error.message)
        return True

    assert edit_text("a: 1\n", ".yml", accept, again) == "a: 1\nx: [\nx: [\n"
    expect_text(asked)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL])
def test_a_signal_while_the_editor_runs(ccm: Ccm, number: signal.Signals) -> None:
    """The plain text is gone, and there is no dump of the memory."""
    editor(ccm.scratch, "echo $$ > pid; sleep 30")
    words = [sys.executable, "-m", "orchestrator.cli.app", "secrets", "edit", "v.yml"]
    environment = {**ccm.environment, "PYTHONPATH": str(REPOSITORY)}
    process = subprocess.Popen(words, cwd=ccm.scratch, env=environment, stderr=subprocess.PIPE)
    while not (ccm.scratch / "pid").exists() or not (ccm.scratch / "pid").read_text().strip():
        assert process.poll() is None
        time.sleep(0.05)
    assert list((ccm.scratch / "shm").iterdir()) != []
    process.send_signal(number)
    assert process.wait() == -(signal.SIGTERM if number == signal.SIGQUIT else number)
    os.kill(int((ccm.scratch / "pid").read_text()), signal.SIGKILL)
    for _ in range(600):
        if not list((ccm.scratch / "shm").iterdir()):
            break
        time.sleep(0.05)
    assert list((ccm.scratch / "shm").iterdir()) == []
    assert process.stderr is not None
    process.stderr.close()


def test_set_reads_standard_input(ccm: Ccm) -> None:
    """Also for a file that is not there yet."""
    done = ccm.run("secrets", "set", "new.yml#a.b", "--vault-id", "prod", stdin="s3cret value\n")
    assert done.stdout == "written: new.yml\n", done.stderr
    assert "AES256;prod" in (ccm.scratch / "new.yml").read_text()
    assert ccm.run("secrets", "show", "new.yml#a.b").stdout == "s3cret value\n"
    done = ccm.run("secrets", "set", "no/new.yml#a", "--vault-id", "prod", stdin="x")
    assert done.code == 2
    expect_text(done.stderr)
    name = "n" * 256  # one byte too long
    done = ccm.run("secrets", "set", f"{name}#a", "--vault-id", "prod", stdin="x")
    assert done.code not in (0, 70)
    expect_text(done.stderr.replace(name, "NAME"))
    expect_text(ccm.run("secrets", "set", "new.yml", stdin="x").stderr)
    expect_text(ccm.run("secrets", "set", "new.yml#a", stdin="").stderr)
    assert ccm.run("secrets", "set", "other.yml#a", "--vault-id", "none", stdin="x").code == 1
    assert not (ccm.scratch / "other.yml").exists()


def test_used(ccm: Ccm) -> None:
    """The resources that a secret reaches, in whatever form, and what is not known."""

    def used(name: str) -> list[str]:
        done = ccm.run("secrets", "used", name, "-i", "hosts.yaml", "-l", "web1", "site.yaml")
        assert "1 resource could not be examined without facts" in done.stderr
        return done.stdout.splitlines()

    assert used("v.yml#db.password") == ["web1  file#/x/hashed", "web1  file#/x/late"]
    assert len(used("v.yml")) == 3
    assert used("site.yaml#token") == ["web1  file#/x/inline"]
    expect_text(used("v.yml#db.none"))
    (ccm.scratch / "p.yml").write_text("db: {password: x}\n")
    for name in ("nope", "site.yaml#port", "site.yaml#data.nope", "p.yml#db.pasword"):
        done = ccm.run("secrets", "used", name, "-i", "hosts.yaml", "site.yaml")
        assert (done.code, done.stdout) == (1, "")
        expect_text(done.stderr)


@pytest.mark.parametrize("key", ["hosts.a", "hosts.a.x", "hosts", "list.1", "list", "block"])
def test_set_changes_no_map_or_list(ccm: Ccm, key: str) -> None:
    """A value that would be in a map in braces or a list, or would replace one, is refused."""
    text = "hosts: {a: {connection: local}}\nlist:\n- x\nblock:\n  a: b\n"
    (ccm.scratch / "n.yml").write_text(text)
    done = ccm.run("secrets", "set", f"n.yml#{key}", "--vault-id", "prod", stdin="x")
    assert done.code == 1
    assert f"n.yml cannot have a value at {key}" in done.stderr
    assert (ccm.scratch / "n.yml").read_text() == text


def test_a_duplicate_key_is_named(ccm: Ccm) -> None:
    """A file with one key twice is not called invalid YAML."""
    (ccm.scratch / "twice.yml").write_text(f"a: {inline('x')}b: 1\nb: 2\n")
    done = ccm.run("secrets", "show", "twice.yml")
    assert done.code == 1
    expect_text(done.stderr)


def test_check(ccm: Ccm) -> None:
    """In a repository: who can read what, what is unused, and what lies in clear."""
    where = ccm.scratch
    (where / "l.yml").write_text("password: 'hunter2-hunter2'\n")
    (where / "old.yml").write_text(f"unread: {inline('x')}")
    (where / "torn.yml").write_text(f"<<<<<<< HEAD\na: {inline('x')}=======\n>>>>>>> b\n")
    subprocess.run(["git", "init", "-q"], cwd=where, check=True)
    names = ["l.yml", "old.yml", "torn.yml", "v.yml", "site.yaml", "ccm.yaml", "pw"]
    subprocess.run(["git", "add", *names], cwd=where, check=True)
    (where / "untracked.yml").write_text("password: 'hunter2-hunter2'\n")
    done = ccm.run("secrets", "check")
    assert done.code == 1
    expect_text(done.stdout)
    assert "unused: old.yml" in done.stdout
    assert "7 files checked, 3 problems" in done.stdout
    expect_text(done.stderr)
    assert "hunter2" not in done.output
    assert "untracked" not in done.output
    clean = ccm.run("secrets", "check", "v.yml", "site.yaml")
    assert (clean.code, clean.stderr) == (0, "")


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_what_is_not_a_file_is_not_checked(ccm: Ccm, name: str) -> None:
    """A misspelled name is no file without problems."""
    done = ccm.run("secrets", "check", name)
    assert (done.code, done.stdout) == (2, "")
    assert f"{name} is not a file" in done.stderr


def test_recipients_and_rekey(ccm: Ccm) -> None:
    """Who can read a file, and a new password for it."""
    done = ccm.run("secrets", "recipients", "v.yml", "hosts.yaml")
    expect_text(done.stdout)
    assert "hosts.yaml: everyone" in done.stdout
    (ccm.scratch / "new").write_text("new password")
    assert ccm.run("secrets", "rekey", "v.yml", "--new-password-file", "new").code == 0
    expect_text(ccm.run("secrets", "show", "v.yml").stderr)
    environment = {**ccm.environment, "CCM_VAULT_PASSWORD_FILE": "new"}
    words = [sys.executable, "-m", "orchestrator.cli.app", "secrets", "show", "v.yml#db.other"]
    told = subprocess.run(words, cwd=ccm.scratch, env=environment, capture_output=True, text=True)
    assert told.stdout == "hunter3\n"
