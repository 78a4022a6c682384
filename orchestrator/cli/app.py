"""The entry point of ``ccm``: selects the command and maps errors to exit codes (controller).

Only the selected command is imported, so that ``ccm --version`` and shell completion respond
quickly.
"""

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remote_runtime.errors import CcmError

MAX_REPORTED = 100
"""The maximum number of mistakes in the input that are listed with positions; the rest
is counted.
"""

COMMANDS = (
    "push",
    "plan",
    "verify",
    "apply",
    "ensure",
    "session",
    "status",
    "run",
    "fetch",
    "drift",
    "validate",
    "render",
    "facts",
    "hiera",
    "inventory",
    "hosts",
    "init",
    "fmt",
    "import",
    "config",
    "registration",
    "worker",
    "engine",
    "runs",
    "report",
    "diff",
    "studio",
    "secrets",
    "schema",
    "docs",
    "completion",
)


READERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Environment variables of CI systems that execute commands found in a job's log."""

# Loading makes many objects and hardly any garbage: looking for it as often as Python does by
# itself costs a tenth of a short run, and once in 50,000 objects still 3 %. So much garbage is
# some megabytes.
_OBJECTS_PER_COLLECTION = 200_000


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code (see the reference page on exit codes).

    Without ``argv``, it runs the command line of this process.
    """
    if argv is not None:
        return _run(argv)
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_streams()
    if any(name in os.environ for name in READERS):
        _give_no_orders()
    try:
        return _run(sys.argv[1:])
    finally:
        # No collection at the end of the process: saves 9 % of the CPU time of a push that finds
        # one local resource unchanged (20 pairs: 0 to 20 %).
        gc.freeze()


def _open_streams() -> None:
    """Open /dev/null for each closed standard stream, so that no other file gets its descriptor
    number.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)  # as the others are
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def _give_no_orders() -> None:
    """Prevent the output from containing commands that a CI system would execute."""
    from orchestrator.cli.ci_log import Log

    out: Any = Log(sys.stdout)
    err: Any = Log(sys.stderr)
    sys.stdout, sys.stderr = out, err


def _run(words: list[str]) -> int:
    try:
        try:
            code = _dispatch(words)
        except SystemExit:  # how argparse ends a --help
            sys.stdout.flush()
            raise
        # Here, where an error can still be reported: Python's own flush comes too late for that.
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("\nccm: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        from orchestrator.support.stdout import detach_stdout

        detach_stdout()
        return 0
    except Exception as error:  # a defect of ccm, too, ends in a message and an exit code
        return _fail(error, words)


def _dispatch(words: list[str]) -> int:
    name = words[0] if words else "--help"
    if name == "--version":
        from remote_runtime.version import VERSION

        print(f"ccm {VERSION}")
        return 0
    from orchestrator.cli.command_lookup import (
        build_parser,
        find_command,
        overview,
        unknown_command,
    )
    from orchestrator.cli.signals import programs_end_with_it

    if name in ("-h", "--help", "help"):
        if len(words) > 1 and words[1] in COMMANDS:
            return _dispatch([*words[1:], "--help"])
        print(overview(COMMANDS))
        return 0 if words else 2
    if name not in COMMANDS:
        raise unknown_command(name, COMMANDS)
    name, command, rest = find_command(words)
    args = build_parser(name, command).parse(rest)
    with programs_end_with_it():
        code: int = command.run(args)
    return code


def _fail(error: Exception, words: list[str]) -> int:
    from remote_runtime.errors import CcmError

    if isinstance(error, CcmError):
        print(_told(error), file=sys.stderr)
        return exit_code_of(error)
    if isinstance(error, OSError) and _is_full(error):
        from orchestrator.support.atomic_file import error_text
        from orchestrator.support.stdout import detach_stdout

        detach_stdout()
        print(f"ccm: error: cannot write output: {error_text(error)}", file=sys.stderr)
        return 1
    from orchestrator.support.crash_report import describe_crash

    path = describe_crash(error, f"ccm {words[0] if words else ''}")
    print(f"ccm: error: internal error in ccm: {type(error).__name__}", file=sys.stderr)
    if path:
        print(f"     please report this error with {path}", file=sys.stderr)
    return 70


def _is_full(error: OSError) -> bool:
    from orchestrator.support.line_file import FULL

    return error.errno in FULL


def exit_code_of(error: "CcmError") -> int:
    """The exit code of an error that ended the whole command."""
    from orchestrator.fleet.outcome import is_loss
    from remote_runtime.errors import InputError, UsageError

    if error.kind == "defect":
        return 70
    if isinstance(error, (UsageError, InputError)):
        return 2
    return 3 if is_loss(error) else 1


def _told(error: "CcmError") -> str:
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import InputError

    if isinstance(error, InputError) and len(error.problems) > 1:
        lines = [f"ccm: error: {len(error.problems):,} errors"]
        lines += [f"  {problem}" for problem in error.problems[:MAX_REPORTED]]
        if len(error.problems) > MAX_REPORTED:
            lines.append(f"  … {len(error.problems) - MAX_REPORTED:,} more")
        return plain("\n".join(lines))
    if isinstance(error, InputError) and error.problems:
        return plain(f"ccm: error: {error.problems[0]}")
    message = error.message.replace("\n", "\n     ")
    text = f"ccm: error: {message}"
    return plain(f"{text}\n     {error.advice}" if error.advice else text)


if __name__ == "__main__":
    sys.exit(main())
