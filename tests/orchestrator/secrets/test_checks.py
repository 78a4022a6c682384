"""What shows of a secret without a key."""

from pathlib import Path

import pytest

from orchestrator.secrets.checks import inline_problem, problem
from tests.orchestrator.secrets.keys import project, vault

SOPS = "db:\n  password: ENC[AES256_GCM,data:abc,type:str]\nsops:\n  version: 3.9.0\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sops.yaml#db.password", ""),
        ("sops.yaml#db.pasword", "no key 'pasword' under db"),
        ("sops.json#a", ""),
        ("sops.json#b", "no key 'b'"),
        ("v.yml#whatever", ""),
        ("s.age#whatever", ""),
        ("cmd:echo#whatever", ""),
        ("cmd:other", "defines no command 'other'"),
        ("gone.yml", "there is no file"),
        ("sops:sops.yaml#db", "there is no file 'sops:sops.yaml'"),
        ("binary", "not UTF-8"),
    ],
)
def test_sources_and_keys(tmp_path: Path, text: str, words: str) -> None:
    """Names in clear are checked, and no password is needed."""
    keys = project(tmp_path, vault={})
    (tmp_path / "sops.yaml").write_text(SOPS)
    (tmp_path / "sops.json").write_text('{"a": "ENC[AES256_GCM,data:x]", "sops": {"mac": "x"}}')
    (tmp_path / "s.age").write_bytes(b"age-encryption.org/v1\n-> X25519 abc\n--- mac\nx")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    vault(tmp_path / "v.yml", "a: 1")
    found = problem(text + ("#a" if text == "binary" else ""), str(tmp_path), keys)
    assert words in str(found) if words else found is None


def test_inline_values() -> None:
    """Their format shows; a conflict is told as that."""
    assert inline_problem("age", "-----BEGIN AGE ENCRYPTED FILE-----\nx") is None
    assert "merge conflict" in str(inline_problem("vault", "a\n<<<<<<< HEAD\nb"))
