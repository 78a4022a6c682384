"""The sources of keys: ``secrets`` in ``ccm.yaml`` and the environment (controller).

Every command that plans uses this module, so it imports little.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

VAULT_FILE = "CCM_VAULT_PASSWORD_FILE"
ANSIBLE_FILE = "ANSIBLE_VAULT_PASSWORD_FILE"
ANSIBLE_LIST = "ANSIBLE_VAULT_IDENTITY_LIST"
AGE_IDENTITY = "CCM_AGE_IDENTITY"
DEFAULT_ID = "default"
COMMAND_SECONDS = 30.0
"""Time limit of a command that has no ``timeout``."""


class PasswordSource(NamedTuple):
    """The source of a vault password: a file, or the output of a shell command.

    ``where`` is the setting that names it. As in Ansible, an executable file is run.
    """

    file: str = ""
    command: str = ""
    where: str = ""


class CommandSource(NamedTuple):
    """A shell command whose output is the source ``cmd:NAME``; it may run for ``seconds``."""

    command: str
    seconds: float = COMMAND_SECONDS


class KeySources(NamedTuple):
    """The keys of a project.

    ``directory`` is that of ``ccm.yaml``, "" without one. ``vault`` has the passwords by vault ID.
    ``identities`` and ``recipients`` are those of age; a recipient is a public key or a file of
    them. ``commands`` are the sources ``cmd:NAME``. ``prompt`` prompts on a terminal; None without
    a terminal.
    """

    directory: str = ""
    vault: Mapping[str, PasswordSource] = {}
    identities: Sequence[str] = ()
    recipients: Sequence[str] = ()
    commands: Mapping[str, CommandSource] = {}
    prompt: Callable[[str], str] | None = None

    def files(self) -> list[str]:
        """The files with keys, which must never leave this machine."""
        paths = [*self.identities, *(one.file for one in self.vault.values())]
        return [os.path.expanduser(path) for path in paths if path]


def key_sources(
    written: Mapping[str, Any], directory: str, environ: Mapping[str, str]
) -> KeySources:
    """The keys that ``secrets`` in the project file names, and those in the environment, which take
    precedence.

    ``written`` has absolute paths, from the reader of the project file.
    """
    age = written.get("age", {})
    vault = dict(_of_file(written.get("vault", {})))
    vault.update(_of_environ(environ))
    own = environ.get(AGE_IDENTITY)
    return KeySources(
        directory=directory,
        vault=vault,
        identities=[own] if own else age.get("identity", ()),
        recipients=age.get("recipients", ()),
        commands={name: CommandSource(*one) for name, one in written.get("cmd", {}).items()},
    )


def _of_file(vault: Mapping[str, Any]) -> Mapping[str, PasswordSource]:
    own = {key: vault[key] for key in ("password_file", "command") if key in vault}
    passwords = {DEFAULT_ID: _source(own, "secrets.vault")} if own else {}
    ids = vault.get("ids", {})
    return passwords | {
        name: _source(one, f"secrets.vault.ids.{name}") for name, one in ids.items()
    }


def _source(one: Mapping[str, str], where: str) -> PasswordSource:
    return PasswordSource(
        one.get("password_file", ""), one.get("command", ""), f"{where} in ccm.yaml"
    )


def _of_environ(environ: Mapping[str, str]) -> Mapping[str, PasswordSource]:
    """Ansible's variables, then ccm's, which take precedence."""
    result = {}
    for entry in filter(None, environ.get(ANSIBLE_LIST, "").split(",")):
        name, at, path = entry.strip().rpartition("@")
        result[name if at and name else DEFAULT_ID] = PasswordSource(file=path, where=ANSIBLE_LIST)
    for variable in (ANSIBLE_FILE, VAULT_FILE):
        if environ.get(variable):
            result[DEFAULT_ID] = PasswordSource(file=environ[variable], where=variable)
    return result
