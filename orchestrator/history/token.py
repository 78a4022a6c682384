"""The token with which runs are posted (controller). It is never part of a message."""

from __future__ import annotations

import os
import re
import subprocess

from orchestrator.history.errors import HistoryError
from orchestrator.history.location import TOKEN_VARIABLE, HistoryLocation
from orchestrator.support.private_file import read_private
from remote_runtime.errors import UsageError

COMMAND_TIME = 30.0  # seconds
MAX_CHARACTERS = 1_000  # characters
TOKEN = re.compile(r"[A-Za-z0-9_.~+/=-]{20,}", re.ASCII)


def token_of(choice: HistoryLocation) -> str:
    """The token from the environment, else from the file or the command of the project.

    HistoryError without a token.
    """
    where, text = TOKEN_VARIABLE, os.environ.get(TOKEN_VARIABLE, "")
    if not text and "file" in choice.token:
        where, text = "the file of history_token", _from_file(choice.token["file"])
    elif not text and "command" in choice.token:
        where, text = "the command of history_token", _from_command(choice.token["command"])
    elif not text:
        raise HistoryError(
            "there is no token for the history",
            hint=f"set {TOKEN_VARIABLE}, or history_token in ccm.yaml",
        )
    token = text.partition("\n")[0].strip()
    if not TOKEN.fullmatch(token) or len(token) > MAX_CHARACTERS:
        raise HistoryError(
            f"{where} does not contain a token", hint="ccm studio token add creates one"
        )
    return token


def _from_file(path: str) -> str:
    try:
        return read_private(path, MAX_CHARACTERS)
    except UsageError as error:
        raise HistoryError(error.message, hint=error.hint) from error


def _from_command(command: str) -> str:
    hint = "run it by hand to see why"
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_TIME,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HistoryError("the command of history_token failed", hint=hint) from error
    if done.returncode:
        raise HistoryError(
            f"the command of history_token failed with exit code {done.returncode}", hint=hint
        )
    return done.stdout[:MAX_CHARACTERS].decode("utf-8", "replace")
