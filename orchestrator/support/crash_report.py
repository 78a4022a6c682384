"""Writes a report about a bug in ccm (controller): no values, only positions."""

import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from orchestrator.support.plain_text import one_line
from orchestrator.support.state_directory import make_private, state_directory
from remote_runtime.errors import CcmError
from remote_runtime.reporting.masking import Mask
from remote_runtime.version import VERSION

MAX_REPORTS = 50
_QUOTED = r"'[^']*'|\"[^\"]*\""


class DefectError(CcmError):
    """A bug in ccm; ``report`` is the path of its report, "" for none."""

    default_kind = "defect"

    def __init__(self, error: Exception, during: str, secrets: Iterable[str] = ()) -> None:
        self.report = describe_crash(error, during, secrets)
        text = f"internal error in ccm: {type(error).__name__}"  # its words may quote a secret
        super().__init__(text, hint=self.report and f"see {self.report}")


def describe_crash(error: BaseException, during: str, secrets: Iterable[str] = ()) -> str:
    """Write a report and return its path; "" if it cannot be written.

    It contains no local values, no arguments and no quoted text of the message, because an
    exception quotes the invalid value; ``secrets`` are masked.
    """
    mask = Mask(secrets)
    try:
        directory = make_private(state_directory() / "crashes")
        path = (
            directory / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{time.monotonic_ns()}.txt"
        )
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(mask.text(_report(error, during, mask)))
        for old in sorted(directory.glob("*.txt"))[:-MAX_REPORTS]:
            old.unlink(missing_ok=True)
    except OSError:
        return ""
    return str(path)


def _report(error: BaseException, during: str, mask: Mask) -> str:
    import traceback

    lines = [
        f"ccm {VERSION}, Python {sys.version.split()[0]}, {sys.platform}",
        f"during: {during}",
        f"{type(error).__name__}: {one_line(re.sub(_QUOTED, '...', mask.text(str(error))), 200)}",
        "",
    ]
    for frame in traceback.extract_tb(error.__traceback__):
        lines.append(f"{_short(frame.filename)}:{frame.lineno} in {frame.name}")
        if frame.line:
            lines.append(f"    {frame.line}")
    cause = error.__cause__ or error.__context__
    if cause is not None:
        lines += ["", "caused by", _report(cause, during, mask).split("\n", 2)[2]]
    return "\n".join(lines) + "\n"


def _short(filename: str) -> str:
    """A path in the user's home without the user's name."""
    home = str(Path.home())
    return "~" + filename[len(home) :] if filename.startswith(home + os.sep) else filename
