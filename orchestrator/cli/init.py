"""``ccm init``: begin a project (controller). Overwrites nothing, contacts no host."""

import argparse
import os
from collections.abc import Iterator

HELP = "Write a project's file ccm.yaml, in an empty folder with an inventory and an example."
EXAMPLE = """
ccm init                                    # asks for the hosts
ccm init site --host web1 --host deploy@web2=192.0.2.10
ccm init site --ssh-config
"""

_INVENTORIES = ("hosts.yaml", "hosts.yml", "inventory.yaml", "inventory.yml")
_PROJECT = """\
# What every command of this project would have to be told. Paths start from this folder.
# A flag wins over the environment, that over this file; ccm config shows what counts.

# Where the hosts are: a file, a program that prints one, or a list of such.
{inventory}

# Data that overlays that of the manifests: a file, or a list of files.
# hiera: production.yaml

# Where services are registered: a file, or an address without a login.
# registration: registry.json

# Hosts at a time.
# forks: 50

# Runs that are kept, those of all projects of a user counted.
# keep: 200

# Ways to go through the fleet: ccm push --rollout careful.
# rollouts:
#   careful: {{waves: "1,10%,100%", max_fail: 0}}
"""
_HOSTS = """\
# ccm inventory lists these hosts.

hosts:
HOSTS
  # web1: {address: 192.0.2.10, user: deploy, become: true}
"""
_SITE = """\
# ccm push --noop site.yaml shows what this would change, ccm push site.yaml changes it.

data:
  greeting: Hello

ccm:
  resources:
    - file:
        - /srv/hello.txt:
            content: |
              {{ lookup('data.greeting') }} from {{ Host.name }}
            owner: root
            group: root
            mode: "0644"
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        default=".",
        help="where to begin it, made where it is missing (default: the current folder)",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        action="append",
        default=[],
        help="a host of the inventory: NAME, USER@NAME or USER@NAME=ADDRESS; repeatable "
        "(default: ask)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--ssh-config", action="store_true", help="take the hosts that ~/.ssh/config names"
    )
    which.add_argument("--local", action="store_true", help="make a project for this machine alone")


def run(args: argparse.Namespace) -> int:
    """Write what is missing, and say what it was."""
    from orchestrator.project.finding import require_private
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import UsageError

    folder = str(args.folder)
    try:
        os.makedirs(folder, 0o755, exist_ok=True)
        require_private(folder)
        for name, text in list(_files(folder, args)):
            path = os.path.normpath(os.path.join(folder, name))
            _write(path, text)
            print(plain(f"written: {path}"))
    except FileExistsError as error:
        hint = "change that one, or name another folder"
        raise UsageError(f"{error.filename} is there already", hint=hint) from error
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be written: {error.strerror}",
            hint="name a folder that can be written",
        ) from error
    return 0


def _files(folder: str, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The files that are to be made: the project's own, an inventory where hosts are named or there
    is nothing, and then an example. UsageError."""
    from orchestrator.cli.init_hosts import host_lines
    from remote_runtime.errors import UsageError

    there = {name for name in os.listdir(folder) if not name.startswith(".")}
    known = next((name for name in _INVENTORIES if name in there), "")
    inventory = f"inventory: {known or 'hosts.yaml'}"
    given = bool(args.host or args.ssh_config or args.local)
    if given and known:
        hint = "add the hosts there, and leave out --host, --ssh-config and --local"
        raise UsageError(f"{known} names the hosts already", hint=hint)
    own = given or not there
    yield (
        "ccm.yaml",
        _PROJECT.format(inventory=inventory if known or own else f"# {inventory}"),
    )
    if own:
        lines = "\n".join(
            f"  {line}"
            for line in host_lines(args.host, ssh_config=args.ssh_config, local=args.local)
        )
        yield "hosts.yaml", _HOSTS.replace("HOSTS", lines)
    if not there:
        yield "site.yaml", _SITE


def _write(path: str, text: str) -> None:
    """A new file, which nobody else may write whatever the umask; OSError, for one there is."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(handle, 0o644)
        file.write(text)
