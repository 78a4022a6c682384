"""Converts the failure of a package manager into an error with a hint (target)."""

import re
from typing import TYPE_CHECKING, List, NamedTuple, Pattern, Sequence

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Result

SHOWN = 15  # lines of the package manager's output that go into the event


class Known(NamedTuple):
    """One kind of failure, with the text that identifies it."""

    pattern: Pattern[str]
    kind: str
    hint: str


def known(pattern: str, kind: str, hint: str) -> Known:
    """One row of a package manager's table."""
    return Known(re.compile(pattern), kind, hint)


def explain(
    what: str, result: "Result", *, headline: str, table: Sequence[Known], noise: Pattern[str]
) -> ResourceError:
    """Return the error of a failed command; ``what`` is the attempt, such as "installing nginx".

    ``headline`` is the most informative line, "" for none; the first matching row of ``table``
    determines kind and hint; lines that begin with ``noise`` are left out of the output.
    """
    ended = "exit code %d" % result.code if result.code >= 0 else "signal %d" % -result.code
    message = "%s failed (%s): %s" % (what, ended, headline or "it gave no reason")
    output = "\n".join(_telling_lines(result, noise))
    text = result.stdout + "\n" + result.stderr
    for row in table:
        if row.pattern.search(text):
            return ResourceError(message, row.kind, row.hint, output)
    return ResourceError(message, kind="package.failed", output=output)


def _telling_lines(result: "Result", noise: Pattern[str]) -> List[str]:
    """Return the end of the output: that of scripts comes first, the tool's own errors last."""
    seen: List[str] = []
    for text in (result.stdout, result.stderr):
        for line in text.splitlines():
            line = line.rstrip()
            if line and not noise.match(line) and line not in seen:
                seen.append(line)
    return seen[-SHOWN:]
