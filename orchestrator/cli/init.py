"""``ccm init``: starts a project (controller). Overwrites nothing, and contacts no host."""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser

if TYPE_CHECKING:
    from orchestrator.cli.init_answers import Answers

HELP = "Create a project: inventory, ccm.yaml, data, a first site, hooks and CI files."
EXAMPLE = """
ccm init                                    # prompts for hosts, sudo and CI
ccm init site --host web1 --host deploy@web2=192.0.2.10
ccm init site --ssh-config --ci github
ccm init site --ansible inventory.ini
"""

_INVENTORIES = ("hosts.yaml", "hosts.yml", "inventory.yaml", "inventory.yml")
_OWN_FILES = (".yaml", ".yml")
_SCHEMAS = ("manifest", "inventory", "project")


def configure(parser: Parser) -> None:
    """Add the directory."""
    parser.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        default=".",
        help="the directory of the project, created if missing (default: the current directory)",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        action="append",
        default=[],
        help="a host of the inventory: NAME, USER@NAME or USER@NAME=ADDRESS; repeatable (default: "
        "prompt; without a terminal, this machine)",
    )
    which = parser.add_exclusive_group()
    which.add_argument("--ssh-config", action="store_true", help="use the hosts in ~/.ssh/config")
    which.add_argument(
        "--ansible",
        metavar="FILE",
        help="use the hosts in an Ansible inventory in INI or YAML, with group_vars and host_vars",
    )
    which.add_argument(
        "--local", action="store_true", help="create a project for this machine only"
    )
    parser.add_argument(
        "--become",
        action=argparse.BooleanOptionalAction,
        help="manage the hosts as root with sudo (default: prompt; without a terminal, yes)",
    )
    parser.add_argument(
        "--ci",
        choices=("github", "gitlab", "both", "none"),
        help="write a CI file for this forge (default: prompt; without a terminal, the forge of "
        "the git remote)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the missing files; report them and the next commands."""
    from orchestrator.project.discovery import require_private
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import UsageError

    directory = str(args.directory)
    try:
        os.makedirs(directory, 0o755, exist_ok=True)
        require_private(directory)
        files = list(_files(directory, args))
        for name, text in files:
            path = os.path.normpath(os.path.join(directory, name))
            print(plain(f"{_write(path, text)}: {path}"))
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be written: {error.strerror}",
            hint="specify a writable directory",
        ) from error
    _tell_next(directory, [name for name, _ in files])
    return 0


def _files(directory: str, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The files to create: those of the project, and all others if there is no project yet.
    UsageError."""
    from orchestrator.cli import init_templates
    from orchestrator.cli.init_answers import read_answers
    from remote_runtime.errors import UsageError

    present = {name for name in os.listdir(directory) if not name.startswith(".")}
    if "ccm.yaml" in present:
        yield from _additions(directory, args)
        return
    inventory_file = next((name for name in _INVENTORIES if name in present), "")
    names_hosts = bool(args.host or args.ssh_config or args.local or args.ansible)
    if args.host and (args.ansible or args.local):
        message = f"--host and {'--ansible' if args.ansible else '--local'} are mutually exclusive"
        raise UsageError(message, hint="use one or the other")
    if names_hosts and inventory_file:
        hint = "add the hosts there, and omit --host, --ssh-config, --ansible and --local"
        raise UsageError(f"{inventory_file} already lists the hosts", hint=hint)
    new = not any(name.endswith(_OWN_FILES) for name in present)
    answers = read_answers(args, directory) if names_hosts or new else None
    inventory = f"inventory: {inventory_file or 'hosts.yaml'}"
    text = init_templates.PROJECT.format(
        inventory=inventory if inventory_file or answers else f"# {inventory}",
        data="data: data" if new else "# data: data",
    )
    yield "ccm.yaml", (init_templates.PROJECT_SCHEMA if new else "") + text
    if answers:
        yield "hosts.yaml", _inventory(answers, new)
    converted = answers.converted if answers else None
    data = dict(converted.data) if converted else {}
    if new:
        order = converted.order if converted else init_templates.ORDER
        yield "site.yaml", init_templates.SITE.replace("ORDER", _order_text(order))
        yield "data/default.yaml", init_templates.DATA + data.pop("data/default.yaml", "")
    yield from data.items()
    if new:
        yield from _tools()
    yield from _ci_files(answers.ci if answers else args.ci or "none")


def _additions(directory: str, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The files that a flag adds to an existing project. UsageError."""
    from remote_runtime.errors import UsageError

    names_hosts = args.host or args.ssh_config or args.local or args.ansible
    if args.ci is None or names_hosts or args.become is not None:
        path = os.path.normpath(os.path.join(directory, "ccm.yaml"))
        hint = (
            "edit that file, or use another directory; --ci alone adds hooks, schemas and CI files"
        )
        raise UsageError(f"{path} already exists", hint=hint)
    yield from _tools()
    yield from _ci_files(args.ci)


def _tools() -> Iterator[tuple[str, str]]:
    """The files for git, pre-commit and editors."""
    from orchestrator.cli import init_templates

    yield ".gitignore", init_templates.IGNORED
    yield ".pre-commit-config.yaml", init_templates.HOOKS
    yield from _schemas()


def _inventory(answers: "Answers", new: bool) -> str:
    from orchestrator.cli import init_templates

    defaults = []
    if answers.become:
        defaults.append("become: true")
    if answers.ci != "none" and not answers.local:
        defaults.append("known_hosts: known_hosts")
    lines = "".join(f"  {line}\n" for line in defaults)
    if answers.converted:
        return (init_templates.HOSTS_SCHEMA if new else "") + answers.converted.hosts
    return (init_templates.HOSTS_SCHEMA if new else "") + init_templates.HOSTS.format(
        defaults=f"defaults:\n{lines}" if defaults else "",
        hosts="\n".join(f"  {line}" for line in answers.hosts),
    )


def _order_text(order: list[str]) -> str:
    """The lines of ``hierarchy.order``; ``default`` is always the first entry."""
    rest = [entry for entry in order if entry != "default"]
    return "\n".join(f"    - {entry}" for entry in ["default", *map(json.dumps, rest)])


def _ci_files(forge: str) -> Iterator[tuple[str, str]]:
    from orchestrator.cli import init_templates

    if forge in ("github", "both"):
        yield ".github/workflows/ccm.yaml", init_templates.GITHUB
    if forge in ("gitlab", "both"):
        yield ".gitlab-ci.yml", init_templates.GITLAB


def _schemas() -> Iterator[tuple[str, str]]:
    """The schemas that editors use to check the files, as printed by ``ccm schema``."""
    from orchestrator.cli.schema import schema_text

    for name in _SCHEMAS:
        yield f".schemas/{name}.schema.json", schema_text(name)


def _write(path: str, text: str) -> str:
    """Create a file that no other user can write, nor read if it may contain secrets, regardless of
    the umask. Returns the message about it, even if the file already existed. OSError.
    """
    from orchestrator.secrets.scan import may_hold_secrets
    from orchestrator.support.atomic_file import replacing

    mode = 0o600 if may_hold_secrets(text) else 0o644
    os.makedirs(os.path.dirname(path) or ".", 0o755, exist_ok=True)
    try:
        with replacing(Path(path), is_new=True) as file:
            os.fchmod(file.fileno(), mode)
            file.write(text.encode("utf-8"))
    except FileExistsError:
        return "exists, unchanged"
    return "written"


def _tell_next(directory: str, names: list[str]) -> None:
    """Print the next commands."""
    import shlex

    from orchestrator.support.plain_text import plain

    if not os.path.exists(os.path.join(directory, "site.yaml")):
        return
    steps = [] if os.path.normpath(directory) == "." else [f"cd {shlex.quote(directory)}"]
    if "hosts.yaml" in names and not _is_local(os.path.join(directory, "hosts.yaml")):
        steps.append("ccm hosts trust -i hosts.yaml")
    print(plain(f"next: {' && '.join([*steps, 'ccm push --noop site.yaml'])}"))


def _is_local(path: str) -> bool:
    from orchestrator.cli.init_hosts import THIS_MACHINE

    with open(path, encoding="utf-8") as file:
        return f"  {THIS_MACHINE}:" in file.read()
