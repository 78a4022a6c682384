"""``ansible.cfg``: the locations of ansible-vault's passwords (controller)."""

import configparser
import os
from pathlib import Path
from typing import Any

from orchestrator.ansible.problems import bad_input
from orchestrator.ansible.source.yaml_reader import read_text


def vault_keys(root: Path, target: Path) -> dict[str, Any]:
    """The passwords of ansible-vault in the form of ``secrets.vault`` in ``ccm.yaml``; {} for none.

    The files are not moved: a path is relative to the directory ``target`` of the site, or absolute
    as in the original. InputError if the file cannot be read.
    """
    path = root / "ansible.cfg"
    if not path.is_file():
        return {}
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(read_text(path))
    except configparser.Error as error:
        reason = str(error).splitlines()[0]
        raise bad_input(f"{path}: {reason}", hint="Ansible cannot read it, either") from error
    given = parser["defaults"] if parser.has_section("defaults") else {}
    found: dict[str, Any] = {}
    if file := given.get("vault_password_file", "").strip():
        found["password_file"] = _placed(file, root, target)
    ids = {}
    for one in given.get("vault_identity_list", "").split(","):
        name, sign, file = one.strip().partition("@")
        if sign and file and not file.startswith("prompt"):
            ids[name or "default"] = _placed(file, root, target)
    if ids:
        found["ids"] = ids
    return found


def _placed(file: str, root: Path, target: Path) -> str:
    if file.startswith(("/", "~")):
        return file
    return os.path.relpath(root.resolve() / file, target.resolve())
