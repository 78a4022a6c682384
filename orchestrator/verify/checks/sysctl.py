"""sysctl: the value that sysctl prints, and the last value in systemd's list of
settings (controller).
"""

import re

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.subject import Subject

_DEFAULT = "/etc/sysctl.d/99-ccm.conf"
_END = "# end"
_LIST = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)+|\d+-\d+")
_LISTED = "systemd-analyze cat-config sysctl.d && if test -e %s; then cat %s; fi && echo && echo %s"
_IN_FILE = "if test -e %s; then cat %s; fi && echo && echo %s"
_LIVE = "sysctl -n %s"
_LIVE_IF_KNOWN = "if test -e %s; then sysctl -n %s; else echo unknown; fi"


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations: the value now and at the next boot, or no setting in the file."""
    name, file = subject.name, subject.text("file") or _DEFAULT
    if subject.get("ensure", "present") == "absent":

        def left(host: Host) -> str:
            """Whether the file has a line for it."""
            return (
                "none" if _last(_asked(host, _IN_FILE, file, file, _END), name) is None else "one"
            )

        return [equal("boot", "none", left)]
    wanted = " ".join(str(subject.get("value")).split())

    def at_boot(host: Host) -> str:
        """The value of its last line."""
        expectations = _last(_asked(host, _LISTED, file, file, _END), name)
        return wanted if _means(expectations or "", wanted) else expectations or "no line"

    expectations = [equal("boot", wanted, at_boot)]
    if subject.get("live", True):
        expectations.append(_live(subject, wanted))
    return expectations


def _live(subject: Subject, wanted: str) -> Expectation:
    """The value in the kernel."""
    path = "/proc/sys/" + "/".join(_parts(subject.name))

    def now(host: Host) -> str:
        """The value as printed by sysctl."""
        key = path[len("/proc/sys/") :]
        if subject.get("ignore_unknown"):
            text = _asked(host, _LIVE_IF_KNOWN, path, key)
            if text == "unknown":
                return wanted
        else:
            text = _asked(host, _LIVE, key)
        words = text.split()
        numbers = all(word.lstrip("-").isdigit() for word in words)
        first = " ".join(words[: len(wanted.split())] if numbers else words)
        return wanted if text and _means(first, wanted) else " ".join(words)

    return equal("value", wanted, now)


def _asked(host: Host, command: str, *words: str) -> str:
    """The output of a command. RuntimeError if it fails or prints nothing."""
    problem = f"{command.split()[0]} printed nothing"
    return answer(
        host, command, *words, problem=problem, valid=lambda text: bool(text.strip())
    ).strip()


def _last(text: str, name: str) -> str | None:
    """The value on the last line for a parameter in settings files; None if there is none."""
    if text.splitlines()[-1:] != [_END]:
        raise RuntimeError("the host did not print all of its settings")
    found = None
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        key = key.strip().removeprefix("-")
        if equals and not key.startswith(("#", ";")) and _parts(key) == _parts(name):
            found = " ".join(value.split())
    return found


def _parts(name: str) -> list[str]:
    """The parts of a parameter's name: its first dot or slash determines the separator."""
    first = next((sign for sign in name if sign in "./"), ".")
    other = "/" if first == "." else "."
    parts = name.split(first)
    return parts if first == "/" else [part.replace(other, ".") for part in parts]


def _means(value: str, wanted: str) -> bool:
    """Whether two values are the same numbers or words."""
    return [_plain(word) for word in value.split()] == [_plain(word) for word in wanted.split()]


def _plain(word: str) -> str:
    """A number in decimal, and a list of numbers as ranges, in order."""
    if _LIST.fullmatch(word):
        return _ranges(word)
    try:
        return str(int(word, 8 if word[:1] == "0" and word.isdigit() else 0))
    except ValueError:
        return word


def _ranges(word: str) -> str:
    """The ranges of a list such as ``80,81,443``; adjacent ones are joined."""
    result: list[list[int]] = []
    for first, _, last in sorted(
        (int(first), sign, int(last or first))
        for first, sign, last in (part.partition("-") for part in word.split(","))
    ):
        if result and first <= result[-1][1] + 1:
            result[-1][1] = max(result[-1][1], last)
        else:
            result.append([first, last])
    return ",".join(f"{first}-{last}" for first, last in result)
