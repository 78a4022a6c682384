"""The lab from a shell: `python -m tests.lab build | up | exec | clean`, run as root from the
repository's top.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from . import base, record
from .lab import Lab
from .machine import LabError, available


def main() -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args()
    if arguments.command == "janitor":
        record.serve_as_janitor(arguments.lab)
        return 0
    if reason := available():
        print(reason, file=sys.stderr)
        return 2
    try:
        return _run(arguments)
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.lab", description="Throw-away Debian hosts."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the base that all hosts share, if it is missing")
    up = commands.add_parser("up", help="boot hosts and keep them until Ctrl-C")
    up.add_argument("--count", type=int, default=3, help="how many hosts (default: %(default)s)")
    up.add_argument("--dir", type=Path, help="write hosts.yaml into this folder")
    up.add_argument("--user", default="root", help="the user in hosts.yaml (default: %(default)s)")
    clean = commands.add_parser("clean", help="remove what a crashed lab has left")
    clean.add_argument("--all", action="store_true", help="also labs that are in use")
    clean.add_argument("--bases", action="store_true", help="also the cached bases")
    commands.add_parser("janitor").add_argument("lab")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    if arguments.command == "build":
        print(base.ensure())
    elif arguments.command == "clean":
        for lab in record.sweep(everything=arguments.all):
            print(f"removed lab {lab}")
        if arguments.bases:
            with base.locked():
                base.prune(unused_seconds=0)
    else:
        _up(arguments.count, arguments.dir, arguments.user)
    return 0


def _up(count: int, directory: Path | None, user: str) -> None:
    with Lab(count) as lab:
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        target = directory / "hosts.yaml" if directory is not None else None
        print(lab.inventory(target, user=user), flush=True)
        print(
            f"{count} hosts are up after {lab.boot_seconds:.1f} s; Ctrl-C ends them",
            file=sys.stderr,
        )
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    sys.exit(main())
