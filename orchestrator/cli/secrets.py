"""``ccm secrets``: encrypted files of a project (controller)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import add_data, add_inventory, read_data, read_inventory
from orchestrator.project.settings import ConfigScope

if TYPE_CHECKING:
    from orchestrator.secrets.errors import SecretError
    from orchestrator.secrets.key_sources import KeySources
    from orchestrator.secrets.keyring import Keyring

HELP = "Edit, show, check and re-encrypt the secrets of a project, and find where they are used."
EXAMPLE = """
ccm secrets edit secrets/prod.yml
ccm secrets show 'secrets/prod.yml#db.password'
ccm secrets set 'secrets/prod.yml#db.password' < password.txt
ccm secrets check                    # also as a pre-commit hook
ccm secrets rekey secrets/*.yml
ccm secrets used 'secrets/prod.yml#db.password' -i hosts.yaml site.yaml
"""
_FILE_KEY = "FILE[#KEY]"


def configure(parser: Parser) -> None:
    """Add the actions."""
    actions = parser.add_subcommands()

    def add(name: str, text: str) -> Parser:
        """Add an action that uses the keys of the project."""
        made: Parser = actions.add_parser(
            name, help=text, description=f"{text[:1].upper()}{text[1:]}."
        )
        made.set_defaults(secret_keys=None, forks=None)
        return made

    edit = add("edit", "edit the decrypted text of a file, and encrypt it again")
    edit.add_argument("file", metavar="FILE", help="an existing file")
    show = add("show", "print the decrypted text of a file, or a value in it")
    show.add_argument("file", metavar=_FILE_KEY, help="the file, or one value of it")
    set_value = add("set", "set one value, from a prompt or standard input")
    set_value.add_argument(
        "file", metavar="FILE#KEY", help="the file, created if missing, and the key"
    )
    _add_lock(set_value)
    check = add(
        "check", "find plaintext, damaged and unused secrets, and show who can decrypt each file"
    )
    check.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="the files to check (default: all files that git tracks)",
    )
    check.add_argument("--clear", action="store_true", help="only find plaintext secrets")
    rekey = add("rekey", "re-encrypt files with the current keys of the project")
    rekey.add_argument("files", metavar="FILE", nargs="+", help="the files to re-encrypt")
    rekey.add_argument("--new-vault-id", metavar="ID", help="use the password of this vault ID")
    rekey.add_argument(
        "--new-password-file", metavar="PATH", help="use the vault password in this file"
    )
    recipients = add("recipients", "show who can decrypt files")
    recipients.add_argument("files", metavar="FILE", nargs="+", help="the encrypted files")
    used = add(
        "used", "show the hosts and resources that a secret reaches, without contacting hosts"
    )
    used.add_argument(
        "name",
        metavar="FILE#KEY",
        help="the secret, as in secret(), or a data file and the key of an encrypted value in it",
    )
    used.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    add_inventory(used)
    add_data(used)


def _add_lock(parser: Parser) -> None:
    parser.add_argument(
        "--with",
        dest="lock",
        choices=("vault", "age"),
        help="how to encrypt a new value (default: age if ccm.yaml has recipients, else vault)",
    )
    parser.add_argument("--vault-id", metavar="ID", default="", help="vault ID of a new value")


def config_scope(args: argparse.Namespace) -> ConfigScope:
    """The project of the file or the manifest."""
    if args.action == "used":
        return ConfigScope(args.manifest)
    return ConfigScope()


def run(args: argparse.Namespace) -> int:
    """Run the action; returns 1 if ``check`` finds something. SecretError, InputError."""
    match args.action:
        case "edit":
            return _edit(args)
        case "show":
            return _show(args)
        case "set":
            return _set(args)
        case "check":
            return _check(args)
        case "rekey":
            return _rekey(args)
        case "recipients":
            return _recipients(args)
    return _used(args)


def _keyring(args: argparse.Namespace) -> Keyring:
    from orchestrator.secrets.keyring import Keyring

    return Keyring(args.secret_keys)


def _split(text: str) -> tuple[Path, tuple[str, ...] | None]:
    """A file, and the path of keys after #; UsageError."""
    from orchestrator.secrets.reference import SYNTAX, parse_reference
    from remote_runtime.errors import UsageError

    try:
        reference = parse_reference(text)
    except ValueError as error:
        raise UsageError(str(error), hint=SYNTAX) from error
    if reference.is_command:
        raise UsageError(
            "a secret from a command has no file",
            hint="specify an encrypted file",
        )
    return Path(reference.source), reference.path


def _edit(args: argparse.Namespace) -> int:
    from orchestrator.secrets.encrypted_files import Editor, write
    from orchestrator.secrets.temporary_edit import edit_text

    editor = Editor(Path(args.file), _keyring(args))
    before = editor.text()

    def encrypted(after: str) -> bytes | None:
        """The new content of the file, None for an unchanged text."""
        return None if after == before else editor.sealed(after)

    suffix = ".yaml" if editor.kind == "plain" else Path(args.file).suffix
    data = edit_text(before, suffix, encrypted, _edits_again)
    if data is None:
        print(f"{args.file} is unchanged")
        return 0
    write(editor.path, data)
    print(f"written: {args.file}")
    return 0


def _edits_again(error: SecretError) -> bool:
    """Ask whether to correct content that cannot be encrypted, on the terminal."""
    if not sys.stdin.isatty():
        return False
    print(f"ccm: error: {error}", file=sys.stderr)
    print("Press Enter to edit again, Ctrl-D to discard: ", end="", file=sys.stderr, flush=True)
    return bool(sys.stdin.readline())


def _show(args: argparse.Namespace) -> int:
    import yaml

    from orchestrator.cli.data_output import yaml_text
    from orchestrator.secrets.encrypted_files import plain_text

    path, steps = _split(args.file)
    value = plain_text(path, steps, _keyring(args))
    text = value if isinstance(value, str) else yaml_text(value, yaml.SafeDumper)
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    return 0


def _set(args: argparse.Namespace) -> int:
    from orchestrator.cli.prompts import ask_secret
    from orchestrator.secrets.encrypted_files import Editor, EncryptionMethod, default_lock
    from remote_runtime.errors import UsageError

    path, steps = _split(args.file)
    if not steps:
        raise UsageError(
            "secrets set: no key is given", hint=f"write {path}#KEY, such as {path}#db.password"
        )
    keyring = _keyring(args)
    lock = EncryptionMethod(f"!{args.lock}") if args.lock else default_lock(keyring)
    if args.vault_id:
        lock = lock._replace(vault_id=args.vault_id)
    if sys.stdin.isatty():
        value = ask_secret(f"Value of {'.'.join(steps)}: ")
        if value != ask_secret("Again: "):
            raise UsageError("the two values differ", hint="run the command again")
    else:
        value = sys.stdin.read().removesuffix("\n")
    if not value:
        raise UsageError("no value was given", hint="enter it, or pipe it to standard input")
    is_new = not os.path.exists(path)  # false for a name that is too long
    if is_new:
        try:
            path.touch(mode=0o644)
        except OSError as error:
            raise UsageError(
                f"cannot create {path}: {error.strerror}",
                hint="check the path" if path.parent.exists() else "create its directory first",
            ) from error
    try:
        Editor(path, keyring).set(steps, value, lock)
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise
    print(f"written: {path}")
    return 0


def _check(args: argparse.Namespace) -> int:
    from orchestrator.secrets.audit import OWN_KEY, audit
    from orchestrator.secrets.scan import ALLOW

    report = audit(Path.cwd(), args.files, args.secret_keys)
    for line in () if args.clear else report.readers:
        print(line)
    for line in () if args.clear else report.unused:
        print(f"unused: {line}")
    for problem in [*report.clear, *(() if args.clear else report.broken)]:
        print(problem, file=sys.stderr)
    if any(one.what != OWN_KEY for one in report.clear):
        advice = f"if a line contains no secret, add the comment # {ALLOW}"
        print(f"hint: encrypt secrets with ccm secrets set; {advice}", file=sys.stderr)
    if any(one.what == OWN_KEY for one in report.clear):
        advice = "remove the key with git rm --cached; replace it if it was committed"
        print(f"hint: {advice}", file=sys.stderr)
    bad = len(report.clear) + (0 if args.clear else len(report.broken))
    checked = f"{report.checked} file{'' if report.checked == 1 else 's'} checked"
    print(f"{checked}, {bad} problem{'' if bad == 1 else 's'}")
    return 1 if bad else 0


def _rekey(args: argparse.Namespace) -> int:
    from orchestrator.secrets.encrypted_files import Editor, write
    from orchestrator.secrets.key_sources import DEFAULT_ID, PasswordSource
    from orchestrator.secrets.keyring import Keyring

    old = _keyring(args)
    keys: KeySources = args.secret_keys
    new_id = args.new_vault_id or (DEFAULT_ID if args.new_password_file else "")
    if args.new_password_file:
        source = PasswordSource(file=args.new_password_file, where="--new-password-file")
        keys = keys._replace(vault={**keys.vault, new_id: source})
    new = Keyring(keys)
    made = {}
    for name in args.files:  # all of them first: then none is left half-way for a missing key
        made[name] = Editor(Path(name), old).rekeyed(new, new_id)
    for name, data in made.items():
        write(Path(name), data)
        print(f"written: {name}")
    return 0


def _recipients(args: argparse.Namespace) -> int:
    from orchestrator.secrets.encrypted_files import NO_FILE
    from orchestrator.secrets.keyring import read_bytes
    from orchestrator.secrets.recipients import readers_of

    for name in args.files:
        lines = readers_of(read_bytes(name, name, NO_FILE), name, args.secret_keys)
        for line in lines or ["everyone (nothing in it is encrypted)"]:
            print(f"{name}: {line}")
    return 0


def _used(args: argparse.Namespace) -> int:
    from orchestrator.cli.messages import warn
    from orchestrator.manifest import load_site
    from orchestrator.planning import Planner
    from orchestrator.planning.site.secret_use import names_of, secret_use
    from orchestrator.runs import wiring

    options = read_data(args)._replace(contact=False)
    chosen = wiring.select_targets(read_inventory(args), warn)

    def make() -> Planner:
        """A planner of the manifest."""
        planner = Planner(load_site(args.manifest), options)
        planner.see(chosen.inventory)
        return planner

    names = names_of(args.name)
    count = 0
    for use in secret_use(make, chosen.hosts, names):
        for identity in use.resources:
            print(f"{use.host}  {identity}")
            count += 1
        if use.unknown:
            which = "resource" if use.unknown == 1 else "resources"
            message = f"{use.host}: {use.unknown} {which} could not be examined without facts"
            print(message, file=sys.stderr)
    if not count:
        _require_secret(args, args.secret_keys, is_encrypted=len(names) > 1)
        print(f"{args.name} reaches no resource on these hosts")
    return 0


def _require_secret(args: argparse.Namespace, keys: KeySources, *, is_encrypted: bool) -> None:
    """SecretError if the name of ``used``, which reaches no resource, is not a secret."""
    from orchestrator.secrets.checks import problem
    from orchestrator.secrets.errors import SecretError

    source, sign, key = args.name.partition("#")
    directories = (str(Path(args.manifest).parent), "")
    errors = [error for one in directories if (error := problem(args.name, one, keys))]
    if len(errors) < len(directories):
        return
    of_data = [problem(f"{source}#data.{key}", one, keys) for one in directories if sign]
    if None not in of_data:
        raise errors[0]
    if not is_encrypted:
        hint = "write FILE#KEY as in secret(), or the key of an encrypted value in a data file"
        raise SecretError(f"{args.name} is not encrypted", "secret.reference", hint)
