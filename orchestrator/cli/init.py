"""``ccm init``: begin a project (controller). Overwrites nothing, contacts no host."""

import argparse
import os
from collections.abc import Iterator

HELP = "Create a project file ccm.yaml; in an empty directory, also an inventory and an example."
EXAMPLE = """
ccm init                                    # prompts for the hosts
ccm init site --host web1 --host deploy@web2=192.0.2.10
ccm init site --ssh-config
"""

_INVENTORIES = ("hosts.yaml", "hosts.yml", "inventory.yaml", "inventory.yml")
_PROJECT = """\
# Options of all commands in this project. Paths start at this directory.
# Flags override the environment, which overrides this file; see ccm config.

# The inventory: a file, a program that prints one, or a list of these.
{inventory}

# Data that overrides the data of manifests: a file, or a list of files.
# hiera: production.yaml

# The directory of data files, one for each entry of a hierarchy.
# data: data

# The age up to which stored facts of other hosts are used.
# facts_max_age: 1h

# The store of service registrations: a file, or an address without a login.
# registration: registry.json

# Hosts from which data is read over https without a digest.
# source_hosts: [data.example.net]

# The NATS server of kv:// and kvGet(), without a login.
# nats: nats://nats.example.net:4222

# Maximum number of hosts in parallel.
# forks: 50

# Number of stored runs of all projects.
# keep: 200

# Rollouts by name: ccm push --rollout careful.
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
# Preview with ccm push --noop site.yaml, apply with ccm push site.yaml.

data:
  greeting: Hello

ccm:
  resources:
    - file:
        - /srv/hello.txt:
            content: |
              {{ Data.greeting }} from {{ Host.name }}
            owner: root
            group: root
            mode: "0644"
"""


def configure(parser: argparse.ArgumentParser) -> None:
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
        "prompt)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--ssh-config", action="store_true", help="use the hosts of ~/.ssh/config")
    which.add_argument(
        "--local", action="store_true", help="create a project for this machine only"
    )


def run(args: argparse.Namespace) -> int:
    """Write what is missing, and say what it was."""
    from orchestrator.project.discovery import require_private
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import UsageError

    directory = str(args.directory)
    try:
        os.makedirs(directory, 0o755, exist_ok=True)
        require_private(directory)
        for name, text in list(_files(directory, args)):
            path = os.path.normpath(os.path.join(directory, name))
            _write(path, text)
            print(plain(f"written: {path}"))
    except FileExistsError as error:
        hint = "edit that file, or give another directory"
        raise UsageError(f"{error.filename} already exists", hint=hint) from error
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be written: {error.strerror}",
            hint="give a writable directory",
        ) from error
    return 0


def _files(directory: str, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The files that are to be made: the project's own, an inventory where hosts are named or there
    is nothing, and then an example. UsageError."""
    from orchestrator.cli.init_hosts import host_lines
    from remote_runtime.errors import UsageError

    there = {name for name in os.listdir(directory) if not name.startswith(".")}
    known = next((name for name in _INVENTORIES if name in there), "")
    inventory = f"inventory: {known or 'hosts.yaml'}"
    given = bool(args.host or args.ssh_config or args.local)
    if given and known:
        hint = "add the hosts there, and omit --host, --ssh-config and --local"
        raise UsageError(f"{known} already lists the hosts", hint=hint)
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
    """Create a file that no other user may write, whatever the umask; OSError if it exists."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(handle, 0o644)
        file.write(text)
