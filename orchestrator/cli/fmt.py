"""``ccm fmt``: the canonical form of YAML files (controller). Contacts no host."""

import argparse
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser

if TYPE_CHECKING:
    from orchestrator.formatter.files import FormattedFile
    from remote_runtime.errors import Problem

HELP = "Format manifests, inventories and data files without changing their meaning or comments."
EXAMPLE = """
ccm fmt                        # all ccm files in this directory and below
ccm fmt site.yaml data/        # a file, and the files in a directory
ccm fmt --check                # in CI: exit code 1 if a file is not formatted
ccm fmt --diff site.yaml       # what would change
ccm fmt - < site.yaml          # to standard output, for an editor
"""

STDIN = "-"


def configure(parser: Parser) -> None:
    """Add the files and the actions."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="a YAML file, a directory, or - for standard input (default: the current directory)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 if a file is not formatted",
    )
    parser.add_argument(
        "--diff",
        action="store_true",
        help="write nothing; show what would change, and exit with 1 if anything would",
    )


def run(args: argparse.Namespace) -> int:
    """Format the files. A file that fails does not stop the others; InputError at the end."""
    from orchestrator.formatter.files import format_file, write
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import InputError, UsageError

    if STDIN in args.files:
        if len(args.files) > 1:
            raise UsageError("fmt: - cannot be combined with files", hint="use one or the other")
        return _standard_input(args)
    paths, skipped = _chosen(args.files or ["."])
    problems: list[Problem] = []
    failed = 0
    changed: list[FormattedFile] = []
    for path in paths:
        try:
            file = format_file(path)
            if file.before != file.after:
                if not (args.check or args.diff):
                    write(file)
                changed.append(file)
        except InputError as error:
            problems += error.problems
            failed += 1
            continue
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror}", hint="check its owner and mode"
            ) from error
        if file.before != file.after:
            _report(file, args)
    unchanged = len(paths) - len(changed) - failed
    dry = _is_dry(args)
    counts = {"unchanged": unchanged, "others": skipped, "failed": failed}
    print(plain(_summary(len(changed), **counts, dry=dry)))
    if problems:
        raise InputError(problems)
    return 1 if changed and _is_dry(args) else 0


def _is_dry(args: argparse.Namespace) -> bool:
    return bool(args.check or args.diff)


def _chosen(names: list[str]) -> tuple[list[str], int]:
    """The files, each once, and the number of other files in directories."""
    import os

    from orchestrator.formatter.files import files_below

    paths: dict[str, None] = {}
    skipped = 0
    for name in names:
        if os.path.isdir(name):
            below, count = files_below(name)
            paths.update(dict.fromkeys(below))
            skipped += count
        else:
            paths[name] = None
    return list(paths), skipped


def _standard_input(args: argparse.Namespace) -> int:
    """Write the canonical form of standard input to standard output; with options, as for
    a file.
    """
    from pathlib import Path

    from orchestrator.formatter.canonical import canonical
    from orchestrator.formatter.files import FormattedFile
    from orchestrator.manifest.resource_types import types_beside

    text = sys.stdin.read()
    file = FormattedFile("<stdin>", text, canonical(text, "<stdin>", types_beside(Path.cwd())))
    if not _is_dry(args):
        sys.stdout.write(file.after)
        return 0
    if file.before != file.after:
        _report(file, args)
    return int(file.before != file.after)


def _report(file: "FormattedFile", args: argparse.Namespace) -> None:
    from orchestrator.formatter.canonical import changes
    from orchestrator.support.plain_text import plain

    if args.diff:
        for line in changes(file.before, file.after, file.path):
            print(plain(line))
    else:
        print(plain(f"{'would format' if args.check else 'formatted'}: {file.path}"))


def _summary(changed: int, *, unchanged: int, others: int, failed: int, dry: bool) -> str:
    verb = "would be formatted" if dry else "formatted"
    text = f"{_files(changed)} {verb}, {unchanged:,} unchanged"
    if failed:
        text += f", {failed:,} failed"
    if others:
        kind = "a ccm file" if others == 1 else "ccm files"
        text += f"; {_files(others)} skipped: not recognized as {kind}"
    return text


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"
