"""``secret()`` of one run: files, commands, inline values."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.key_sources import CommandSource, KeySources, PasswordSource
from orchestrator.secrets.lookup import PLACEHOLDER, SecretLookup, collecting, open_all
from orchestrator.secrets.reference import calls_in
from remote_runtime.errors import CcmError
from tests.orchestrator.secrets.keys import inline, project, vault
from tests.texts import expect_text

ANSIBLE = Path(sys.executable).with_name("ansible-vault")
MANY = "db: {password: hunter2-hunter2, ports: [80, 443]}\n"


def lookup(directory: Path, **more: Any) -> SecretLookup:
    return SecretLookup(project(directory, **more), str(directory))


def value(directory: Path, text: str, **more: Any) -> Any:
    return lookup(directory, **more)(text, str(directory))


def refused(directory: Path, text: str, **more: Any) -> str:
    with pytest.raises(CcmError) as caught:
        value(directory, text, **more)
    return str(caught.value)


def test_values_of_a_vault_file(tmp_path: Path) -> None:
    """A path walks the YAML inside; without one it is the whole text."""
    vault(tmp_path / "v.yml", MANY)
    assert value(tmp_path, "v.yml#db.password") == "hunter2-hunter2"
    assert value(tmp_path, "v.yml#db.ports.1") == 443
    assert value(tmp_path, "v.yml#db.ports") == [80, 443]
    assert value(tmp_path, "v.yml") == MANY


def test_a_key_with_a_dot(tmp_path: Path) -> None:
    """A backslash keeps it in one part."""
    vault(tmp_path / "v.yml", "{'a.b': {c: 1}}")
    assert value(tmp_path, "v.yml#a\\.b.c") == 1


def test_vault_ids(tmp_path: Path) -> None:
    """Each file is opened with the password of its ID; any other is tried after it."""
    vault(tmp_path / "prod.yml", "a: of-prod", "prod")
    (tmp_path / "both.yml").write_text(
        f"x: {inline('one')}y: {inline('two', vault_id='prod')}z: {{plain: 1}}\n"
    )
    assert value(tmp_path, "prod.yml#a") == "of-prod"
    assert value(tmp_path, "both.yml#x") == "one"
    assert value(tmp_path, "both.yml#y") == "two"
    keys = project(tmp_path)
    only = keys._replace(vault={"default": keys.vault["prod"]})
    assert SecretLookup(only, str(tmp_path))("prod.yml#a", str(tmp_path)) == "of-prod"


@pytest.mark.skipif(not ANSIBLE.exists(), reason="ansible-vault is not installed")
def test_a_string_that_ansible_vault_encrypted(tmp_path: Path) -> None:
    """``encrypt_string`` writes values that are read as they are."""
    (tmp_path / "pw").write_text("vault password\n")
    words = [
        str(ANSIBLE),
        "encrypt_string",
        "--vault-password-file",
        "pw",
        "--name",
        "token",
        "t0ken!",
    ]
    made = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
    (tmp_path / "group.yml").write_text("plain: 1\n" + made.stdout)
    assert value(tmp_path, "group.yml#token") == "t0ken!"


def test_a_source_is_opened_once(tmp_path: Path) -> None:
    """Whatever number of hosts and paths reads it; each argument of a command is its own."""
    one = lookup(tmp_path)
    read = [one("cmd:echo/x1#a.b", str(tmp_path)) for _ in range(3)]
    read += [one("cmd:echo/x2#a.b", str(tmp_path)), one("cmd:echo/x1", str(tmp_path))]
    assert read == ["x1", "x1", "x1", "x2", "a: {b: x1}"]
    assert (tmp_path / "ran").read_text() == "run\n" * 2


def test_an_argument_is_no_shell_text(tmp_path: Path) -> None:
    """It reaches the command as one word."""
    assert value(tmp_path, "cmd:echo/$(id);x") == "a: {b: $(id);x}"


def test_sources_are_opened_side_by_side(tmp_path: Path) -> None:
    """Two commands that wait for each other both end."""
    wait = "touch $1; for n in $(seq 200); do [ -e $OTHER ] && break; sleep 0.05; done; ls $OTHER"
    commands = {
        "a": CommandSource(f"OTHER=two; {wait}", 30),
        "b": CommandSource(f"OTHER=one; {wait}", 30),
    }
    one = lookup(tmp_path, commands=commands)
    with collecting() as missed:
        first = [one("cmd:a/one", str(tmp_path)), one("cmd:b/two", str(tmp_path))]
    assert first == [PLACEHOLDER, PLACEHOLDER]
    open_all(missed)
    with collecting() as missed:
        again = [one("cmd:a/one", str(tmp_path)), one("cmd:b/two", str(tmp_path))]
    assert (again, missed) == (["two", "one"], {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("none.yml#a", "cannot read none.yml"),
        ("v.yml#db.pasword", "no key 'pasword' under db (did you mean password?)"),
        ("v.yml#db.ports.7", "no key '7' under db.ports"),
        ("v.yml#db..x", "empty key"),
        ("#a", "does not name a source"),
        ("cmd:", "does not name a command"),
        ("cmd:ecko#a", "defines no command 'ecko' (did you mean cmd:echo?)"),
        ("cmd:slow", "the command of cmd:slow did not finish within 0.3 s"),
        ("cmd:fail", "exited with 3: why"),
        ("cmd:flood", "printed more than 1 MiB"),
        ("text.txt#a", "has no key 'a'"),
        ("conflict.yml#a", "unresolved merge conflicts"),
        ("other.yml#a", "no password decrypts the vault; tried vault IDs 'default', 'prod'"),
        ("broken.yml#a", "is not valid YAML (line 2)"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, words: str) -> None:
    """Each says what to do, and nothing of a secret."""
    vault(tmp_path / "v.yml", MANY)
    made = vault(tmp_path / "conflict.yml", "a: 1")
    lines = made.splitlines()
    ours, theirs = lines[1], lines[2]
    (tmp_path / "conflict.yml").write_text(
        f"{lines[0]}\n<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other\n"
    )
    vault(tmp_path / "broken.yml", "hunter2: [hunter2")
    (tmp_path / "text.txt").write_text("hunter2: 1")
    vault(tmp_path / "other.yml", "a: 1")
    keys = project(tmp_path)
    if text.startswith("other"):
        keys = keys._replace(vault={**keys.vault, "default": keys.vault["prod"]})
    with pytest.raises(CcmError) as caught:
        SecretLookup(keys, str(tmp_path))(text, str(tmp_path))
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_without_a_password(tmp_path: Path) -> None:
    """The message names the settings that would have it; with a terminal it is asked for, once."""
    vault(tmp_path / "v.yml", MANY)
    expect_text(refused(tmp_path, "v.yml", vault={}))
    assert "ANSIBLE_VAULT_PASSWORD_FILE" in refused(tmp_path, "v.yml", vault={})
    gone = {"default": PasswordSource(file="/nonexistent/pw", where="CCM_VAULT_PASSWORD_FILE")}
    expect_text(refused(tmp_path, "v.yml", vault=gone))
    asked: list[str] = []

    def prompt(text: str) -> str:
        asked.append(text)
        return "vault password"

    one = lookup(tmp_path, vault={}, prompt=prompt)
    assert one("v.yml#db.password", str(tmp_path)) == "hunter2-hunter2"
    assert one.whole(str(tmp_path / "v.yml")) == MANY
    assert len(asked) == 1


def test_a_program_that_prints_the_password(tmp_path: Path) -> None:
    """An executable password file is run, as Ansible does; a client gets the ID."""
    vault(tmp_path / "prod.yml", "a: of-prod", "prod")
    script = tmp_path / "pass-client.sh"
    script.write_text('#!/bin/sh\n[ "$1 $2" = "--vault-id prod" ] && echo "of prod"\n')
    script.chmod(0o700)
    sources = {"prod": PasswordSource(file=str(script), where="x")}
    assert value(tmp_path, "prod.yml#a", vault=sources) == "of-prod"


def test_where_a_file_is_looked_for(tmp_path: Path) -> None:
    """Next to the manifest, then next to ccm.yaml."""
    sub = tmp_path / "sites"
    sub.mkdir()
    vault(tmp_path / "v.yml", "a: of-the-project")
    one = lookup(tmp_path)
    assert one("v.yml#a", str(sub)) == "of-the-project"
    vault(sub / "v.yml", "a: of-the-site")
    assert one("v.yml#a", str(sub)) == "of-the-site"


def test_a_manifest_of_others(tmp_path: Path) -> None:
    """A child from outside of the project reads neither its files nor its commands."""
    inside, outside = tmp_path / "project", tmp_path / "archive"
    inside.mkdir()
    outside.mkdir()
    one = lookup(inside)
    vault(inside / "v.yml", "a: 1")
    vault(outside / "own.yml", "a: 2")
    for text in ("v.yml#a", "../project/v.yml#a", "cmd:echo/x"):
        with pytest.raises(SecretError) as refused:
            one(text, str(outside), is_bounded=True)
        expect_text(refused.value)
    assert one("own.yml#a", str(outside), is_bounded=True) == 2
    assert one("v.yml#a", str(inside), is_bounded=True) == 1


def test_answers_for_a_worker(tmp_path: Path) -> None:
    """It has no keys, and asks once for each value."""
    vault(tmp_path / "v.yml", MANY)
    text = inline("in-line", "").removeprefix("!vault |\n")
    here = lookup(tmp_path)
    asked: list[Any] = []

    def ask(question: Any) -> Any:
        asked.append(question)
        return here.answer(question)

    worker = SecretLookup(KeySources(), str(tmp_path))
    worker.forward_to(ask)
    for _ in range(2):
        assert worker("v.yml#db.ports", str(tmp_path)) == [80, 443]
        assert worker.inline("vault", text) == "in-line"
        assert worker.whole(str(tmp_path / "v.yml")) == MANY
    assert len(asked) == 3
    with pytest.raises(SecretError) as refused:
        worker("cmd:no", str(tmp_path))
    expect_text(refused.value)


def test_many_threads(tmp_path: Path) -> None:
    """All of them get the value of one reading."""
    one = lookup(tmp_path)
    found: list[Any] = []

    def read() -> None:
        found.append(one("cmd:echo/x#a.b", str(tmp_path)))

    threads = [threading.Thread(target=read) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["x"] * 20
    assert (tmp_path / "ran").read_text() == "run\n"


def test_a_line_of_bind_is_no_call() -> None:
    """``secret "x"`` outside of the tags of a template is plain text, inside it is a call."""
    text = 'key k {\n  secret "{{ Data.key }}";\n};\n{{ secret "a#b" }} {{ secret(\'c\') }}'
    assert [one for one, _ in calls_in(text)] == ["a#b", "c"]
