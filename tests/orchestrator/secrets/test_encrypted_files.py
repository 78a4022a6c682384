"""Encrypted files are changed value by value."""

from pathlib import Path

import pytest

from orchestrator.secrets.encrypted_files import Editor, EncryptionMethod, plain_text
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.key_sources import PasswordSource
from orchestrator.secrets.keyring import Keyring
from orchestrator.secrets.yaml_text import plain_scalar, spans_of, with_value
from tests.orchestrator.secrets.keys import inline, project, vault
from tests.texts import expect_text

VAULT = EncryptionMethod("!vault")


def mixed(path: Path) -> str:
    """A file with clear and encrypted values; its text."""
    text = f"# the team's\ndb:\n  user: app  # clear\n  password: {inline('hunter2', '    ')}"
    text += f"more: {inline('l1', '  ', 'prod')}"
    text += '\nflow: {a: 1, b: "x"}\nlist:\n  - one\n'
    path.write_text(text)
    return text


def test_an_edit_keeps_what_is_unchanged(tmp_path: Path) -> None:
    """Only the value that was changed is encrypted again; comments and clear values stay."""
    before = mixed(tmp_path / "s.yml")
    editor = Editor(tmp_path / "s.yml", Keyring(project(tmp_path)))
    text = editor.text()
    assert '  password: !vault "hunter2"\n' in text
    assert editor.sealed(text).decode() == before
    editor.save(text.replace('"hunter2"', '"other"').replace("list:", 'new: !vault "n"\nlist:'))
    after = (tmp_path / "s.yml").read_text()
    assert before.partition("more:")[2].partition("flow:")[0] in after
    assert "  user: app  # clear\n" in after
    keyring = Keyring(project(tmp_path))
    assert plain_text(tmp_path / "s.yml", ("db", "password"), keyring) == "other"
    assert plain_text(tmp_path / "s.yml", ("new",), keyring) == "n"


@pytest.mark.parametrize("vault_id", ["", "prod"])
def test_a_whole_file_keeps_its_id(tmp_path: Path, vault_id: str) -> None:
    """It is decrypted, and encrypted with the same password."""
    vault(tmp_path / "v.yml", "a: 1\n", vault_id)
    editor = Editor(tmp_path / "v.yml", Keyring(project(tmp_path)))
    assert editor.text() == "a: 1\n"
    editor.save("a: 2\n")
    assert ((tmp_path / "v.yml").read_text().split("\n")[0].count(";")) == (3 if vault_id else 2)
    assert plain_text(tmp_path / "v.yml", None, Keyring(project(tmp_path))) == "a: 2\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "a"), ("a: 1\n", "a"), ("a: 1\n", "b"), ("a:\n  b: 1\nc: 2\n", "a.d"),
        ("a:\n  b: 1\nc: 2\n", "a.b"), ("a: {b: 1}\n", "a.b"), ("a: 1\n", "x.y.z"),
        ("a:\n- b: 1\n", "a.0.b"), ("a:\n  - x\n  - y\nb: 2", "a.1"), ("# only\n", "a"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["hunter2", 'two\nlines: "é"\n'])
def test_set(tmp_path: Path, text: str, path: str, value: str) -> None:
    """A value that is there or new, in any place of a document; all others stay."""
    file = tmp_path / "s.yml"
    file.write_text(text)
    steps = tuple(path.split("."))
    before = {k: v.value for k, v in spans_of(text, "s.yml").scalars.items()}
    Editor(file, Keyring(project(tmp_path))).set(steps, value, VAULT)
    keyring = Keyring(project(tmp_path))
    assert plain_text(file, steps, keyring) == value
    after = {k: v.value for k, v in spans_of(file.read_text(), "s.yml").scalars.items()}
    assert {k: v for k, v in before.items() if k != steps} == {
        k: v for k, v in after.items() if k != steps
    }


@pytest.mark.parametrize("anchor", ["&x !vault |", "!vault &x |"])
def test_anchors_and_aliases(tmp_path: Path, anchor: str) -> None:
    """They stay where a value is edited, set or encrypted again; an alias cannot be set."""
    file = tmp_path / "s.yml"
    file.write_text(f"a: {inline('hunter2').replace('!vault |', anchor)}b: *x\nc: &y [1, *y]\n")
    keyring = Keyring(project(tmp_path))
    editor = Editor(file, keyring)
    text = editor.text()
    assert text == 'a: &x !vault "hunter2"\nb: *x\nc: &y [1, *y]\n'
    editor.save(text.replace("hunter2", "other"))
    file.write_bytes(Editor(file, keyring).rekeyed(keyring, "prod"))
    Editor(file, keyring).set(("a",), "third", VAULT)
    assert Editor(file, keyring).text() == text.replace("hunter2", "third")
    assert "AES256;prod" in file.read_text()
    with pytest.raises(SecretError) as refused:
        Editor(file, keyring).set(("b",), "x", VAULT)
    expect_text(refused.value)


def test_set_inside_of_a_whole_file(tmp_path: Path) -> None:
    """The value is plain inside, and the file stays encrypted."""
    vault(tmp_path / "v.yml", "# top\na: 1\n")
    Editor(tmp_path / "v.yml", Keyring(project(tmp_path))).set(("b", "c"), "x y", VAULT)
    assert "ANSIBLE_VAULT" in (tmp_path / "v.yml").read_text()
    found = plain_text(tmp_path / "v.yml", None, Keyring(project(tmp_path)))
    assert found == '# top\na: 1\nb:\n  c: "x y"\n'


def test_set_below_a_scalar(tmp_path: Path) -> None:
    """It is refused, and the file is left alone."""
    (tmp_path / "s.yml").write_text("a: 1\n")
    with pytest.raises(SecretError) as refused:
        Editor(tmp_path / "s.yml", Keyring(project(tmp_path))).set(("a", "b"), "x", VAULT)
    expect_text(refused.value)


def test_rekey(tmp_path: Path) -> None:
    """Each value is encrypted with the new password of its ID."""
    mixed(tmp_path / "s.yml")
    keys = project(tmp_path)
    (tmp_path / "new").write_text("new password")
    new = {**keys.vault, "default": PasswordSource(file=str(tmp_path / "new"), where="x")}
    editor = Editor(tmp_path / "s.yml", Keyring(keys))
    (tmp_path / "s.yml").write_bytes(editor.rekeyed(Keyring(keys._replace(vault=new)), ""))
    keyring = Keyring(keys._replace(vault=new))
    assert plain_text(tmp_path / "s.yml", ("db", "password"), keyring) == "hunter2"
    assert plain_text(tmp_path / "s.yml", ("more",), keyring) == "l1"
    only = {"default": new["default"]}
    with pytest.raises(SecretError) as refused:
        plain_text(tmp_path / "s.yml", ("more",), Keyring(keys._replace(vault=only)))
    expect_text(refused.value)
    (tmp_path / "clear.yml").write_text("a: 1")
    with pytest.raises(SecretError, match="is encrypted"):
        Editor(tmp_path / "clear.yml", keyring).rekeyed(keyring, "")


@pytest.mark.parametrize(
    "text", ["a", "a\nb", "a\nb\n", "a\n\n", " a\nb", "\n", "a: #'\"", "a\tb\n"]
)
def test_plain_scalars(text: str) -> None:
    """What an editor shows is the same text again."""
    made = f"x:\n  y: {plain_scalar('!vault', text, 2, False)}\nz: 1\n"
    assert spans_of(made, "x").scalars["x", "y"].value == text
    assert spans_of(made, "x").scalars[("z",)].value == "1"


def test_a_file_that_is_no_yaml() -> None:
    """The message has the line, and nothing of the text."""
    with pytest.raises(SecretError) as refused:
        with_value("a: [\nhunter2", ("b",), lambda indent, flow: "1", "x")
    expect_text(refused.value)
