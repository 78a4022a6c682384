"""A project with keys and encrypted files."""

from pathlib import Path
from typing import Any

from orchestrator.secrets.ansible_vault import encrypt
from orchestrator.secrets.key_sources import CommandSource, KeySources, PasswordSource

PASSWORD = b"vault password"


def project(directory: Path, **more: Any) -> KeySources:
    """Its keys: a vault password, one of the ID prod, and commands."""
    (directory / "pw").write_bytes(PASSWORD + b"\n")
    (directory / "pw-prod").write_bytes(b"of prod\n")
    vault = {
        "default": PasswordSource(file=str(directory / "pw"), where="secrets.vault in ccm.yaml"),
        "prod": PasswordSource(command="cat pw-prod", where="secrets.vault.ids.prod in ccm.yaml"),
    }
    commands = {
        "echo": CommandSource('echo run >> ran; printf "a: {b: %s}\\n\\n" "$1"'),
        "slow": CommandSource("sleep 60", 0.3),
        "fail": CommandSource("echo why >&2; echo hunter2; exit 3"),
        "flood": CommandSource("yes"),
    }
    given: dict[str, Any] = {"vault": vault, "commands": commands, "directory": str(directory)}
    return KeySources(**{**given, **more})


def vault(path: Path, text: str, vault_id: str = "") -> str:
    """Write a vault file; its text."""
    password = b"of prod" if vault_id == "prod" else PASSWORD
    made = encrypt(text.encode(), password, vault_id)
    path.write_text(made)
    return made


def inline(text: str, indent: str = "  ", vault_id: str = "") -> str:
    """A value for YAML."""
    password = b"of prod" if vault_id == "prod" else PASSWORD
    lines = encrypt(text.encode(), password, vault_id).splitlines()
    return "!vault |\n" + "".join(f"{indent}{line}\n" for line in lines)
