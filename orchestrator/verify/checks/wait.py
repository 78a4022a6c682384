"""wait: the condition is still met (controller).

Files and ports are checked again. Requests for a URL and commands come from the user, so they run
as in a push, with their secrets.
"""

from orchestrator.verify.expectation import Expectation, Host, equal
from orchestrator.verify.paths import kind
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import nothing_to_do

_MET, _NOT_MET = "met", "not met"
_CONNECT = """\
set -- %s %s
if command -v bash >/dev/null; then
    timeout 10 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$@"
elif command -v nc >/dev/null; then
    nc -z -w 10 "$@"
else
    echo 'neither bash nor nc is installed, so the check cannot connect' >&2
    exit 127
fi && echo open || echo closed"""


def expectations(subject: Subject) -> list[Expectation]:
    """The expectation of a single check, made by the host itself."""
    absent = subject.get("ensure", "present") == "absent"
    expected, instead = (_NOT_MET, _MET) if absent else (_MET, _NOT_MET)
    if subject.get("file") is not None:
        return [equal("condition", expected, lambda host: _file(host, subject.text("file")))]
    if subject.get("port") is not None:
        return [equal("condition", expected, lambda host: _port(host, subject))]
    ensure = str(subject.get("ensure", "present"))
    return [nothing_to_do("condition", expected, instead, ensure=ensure)]


def _file(host: Host, path: str) -> str:
    return _NOT_MET if kind(host, path, follow=True) == "nothing" else _MET


def _port(host: Host, subject: Subject) -> str:
    result = host.run(_CONNECT, subject.text("host") or "127.0.0.1", subject.text("port"))
    words = {"open": _MET, "closed": _NOT_MET}
    output = str(result.stdout).strip()
    if output not in words:
        raise RuntimeError(result.stderr.strip() or f"the connection test exited with {result.rc}")
    return words[output]
