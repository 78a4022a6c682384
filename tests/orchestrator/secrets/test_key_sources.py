"""The keys of ``ccm.yaml`` and of the environment."""

from pathlib import Path

import pytest

from orchestrator.project.discovery import project_files
from orchestrator.project.reader import read_project
from orchestrator.secrets.key_sources import CommandSource, KeySources, key_sources
from remote_runtime.errors import InputError

FILE = """\
secrets:
  vault: {password_file: pw, ids: {prod: keys/prod, dev: {command: pass show dev}}}
  age: {identity: key.txt, recipients: [age1abc, team.pub]}
  cmd: {one: pass show "$1", two: {command: vault, timeout: 2m}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(text: str, **environ: str) -> KeySources:
    Path("ccm.yaml").write_text(text)
    project = read_project(project_files())
    return key_sources(project.secrets, project.directory, environ)


def test_the_file(tmp_path: Path) -> None:
    """Paths start at its directory; recipients may be keys."""
    keys = read(FILE)
    assert keys.directory == str(tmp_path)
    assert [one.file for one in keys.vault.values()] == ["pw", "keys/prod", ""]
    assert keys.vault["dev"].command == "pass show dev"
    assert (keys.identities, keys.recipients) == (["key.txt"], ["age1abc", "team.pub"])
    assert keys.commands == {
        "one": CommandSource('pass show "$1"'),
        "two": CommandSource("vault", 120.0),
    }
    assert keys.files() == ["key.txt", "pw", "keys/prod"]


def test_the_environment_wins() -> None:
    """ccm's variable beats Ansible's, and both beat the file."""
    given = {"ANSIBLE_VAULT_PASSWORD_FILE": "/a", "ANSIBLE_VAULT_IDENTITY_LIST": "prod@/p,/d"}
    keys = read(FILE, CCM_AGE_IDENTITY="/i", **given)
    assert (keys.vault["default"].file, keys.vault["prod"].file) == ("/a", "/p")
    assert keys.identities == ["/i"]
    keys = read(FILE, CCM_VAULT_PASSWORD_FILE="/c", **given)
    assert (keys.vault["default"].file, keys.vault["default"].where) == (
        "/c",
        "CCM_VAULT_PASSWORD_FILE",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("secrets: {vault: {password: x}}", "password"),
        ("secrets: {vault: {password_file: a, command: b}}", "has both password_file and command"),
        ("secrets: {cmd: {'a b': x}}", "ccm.yaml:1:"),
        ("secrets: {cmd: {a: {timeout: 1s}}}", "command"),
        ("secrets: {cmd: {a: {command: x, timeout: soon}}}", "soon"),
        ("secrets: {age: {}}", "ccm.yaml:1:"),
    ],
)
def test_mistakes(text: str, words: str) -> None:
    """Each with its position."""
    with pytest.raises(InputError) as caught:
        read(text)
    assert words in str(caught.value)
