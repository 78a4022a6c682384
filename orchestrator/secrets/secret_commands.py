"""Runs a program that prints a secret, with limits (controller)."""

import contextlib
import os
import time
from collections.abc import Sequence

from inventory.subprocesses import LastBytes, attend, running
from orchestrator.secrets.errors import SecretError
from orchestrator.support.plain_text import one_line
from remote_runtime.reporting.masking import Mask

MAX_OUTPUT = 1 << 20
_MAX_ERRORS = 4000
_SHOWN = 300
_PRIVATE = ("PASSWORD", "PASSPHRASE")


def shell(command: str, argument: str = "") -> list[str]:
    """The words of a shell command line; ``$1`` in it is the argument."""
    return ["/bin/sh", "-c", command, "ccm", *([argument] if argument else [])]


def output_of(
    words: Sequence[str], seconds: float, *, what: str, directory: str = "", data: bytes = b""
) -> bytes:
    """The output of the program; SecretError if it fails, prints too much or takes too long.

    ``what`` names it in messages. If it fails, its stderr is shown, but never its output. The
    program gets ``data`` on its standard input, and none of ccm's own passwords.
    """
    environ = {
        name: text
        for name, text in os.environ.items()
        if not (name.startswith("CCM_") and name.endswith(_PRIVATE))
    }
    output, errors = bytearray(), LastBytes(_MAX_ERRORS)
    with contextlib.ExitStack() as stack:
        try:
            program = running(words, directory=directory, environment=environ)
            process = stack.enter_context(program)
        except OSError as error:
            message = f"{what} cannot be started: {error.strerror}"
            raise SecretError(message, hint=f"install {words[0]}, or check the command") from error
        end = time.monotonic() + seconds
        code = attend(
            process,
            output,
            errors=errors,
            left=lambda: end - time.monotonic(),
            data=data,
            maximum=MAX_OUTPUT,
        )
    if len(output) > MAX_OUTPUT:
        raise SecretError(
            f"{what} printed more than {MAX_OUTPUT >> 20} MiB", hint="reduce its output"
        )
    if code is None:
        hint = "raise timeout, or find out what it is waiting for"
        raise SecretError(f"{what} did not finish within {seconds:g} s", hint=hint)
    if code:
        how = f"was killed by signal {-code}" if code < 0 else f"exited with {code}"
        text = Mask().text(bytes(errors[-_SHOWN:]).decode("utf-8", "replace").strip())
        raise SecretError(f"{what} {how}{': ' if text else ''}{one_line(text)}")
    return bytes(output)
