"""package: installed or not, and in which version (controller)."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from orchestrator.verify import language_packages
from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations. Only the package manager knows whether a version is the latest, so
    ``latest`` counts as installed.
    """
    if language_packages.is_of_environment(subject):
        return language_packages.expectations(subject)
    name, ensure = subject.name, subject.text("ensure") or "present"
    result = language_packages.state(
        subject,
        is_there=lambda host: _is_installed(host, name),
        version=lambda host: _installed(host, name),
        is_version=Installed.is_version,
    )
    if ensure == "absent":
        if subject.get("purge"):
            result.append(equal("configuration", "purged", lambda host: _configuration(host, name)))
        return result
    if subject.get("only_upgrade"):
        return result
    if subject.get("hold") is not None:
        words = {True: "on hold", False: "not on hold"}
        wanted = words[subject.get("hold")]
        result.append(equal("hold", wanted, lambda host: words[_is_held(host, name)]))
    return result + _of_answers(name, subject.get("debconf") or {})


def _of_answers(name: str, answers: Mapping[str, Any]) -> list[Expectation]:
    """The output of debconf for the package's questions, without passwords."""
    expectations = []
    for question, given in sorted(answers.items()):
        value = given["value"]
        wanted = str(value).lower() if isinstance(value, bool) else str(value)
        if given["type"] == "password":
            continue
        if given["type"] == "multiselect":
            wanted = _in_order(wanted)

        def look(host: Host, question: str = question, kind: str = given["type"]) -> str:
            text = _answer(host, name.partition(":")[0], question)
            return _in_order(text) if kind == "multiselect" else text

        expectations.append(equal(f"debconf {question}", wanted, look))
    return expectations


def _answer(host: Host, name: str, question: str) -> str:
    """The answer in debconf's output, including its continuation lines."""
    begin = re.compile(r"^[* ] (\S+):(?: (.*))?$")
    text: list[str] = []
    inside = False
    for line in answer(host, "debconf-show %s", name).splitlines():
        fits = begin.match(line)
        inside = fits.group(1) == question if fits else inside
        if inside:
            text.append((fits.group(2) or "") if fits else line)
    return "\n".join(text)


def _in_order(choices: str) -> str:
    return ", ".join(sorted(part.strip() for part in choices.split(",") if part.strip()))


def _configuration(host: Host, name: str) -> str:
    """The state in dpkg of a package that is not installed."""
    result = host.run("dpkg-query -f '${Status} ${Version}' -W %s", name)
    if result.rc and "no packages found matching" in result.stderr:
        return "purged"
    if result.rc or not result.stdout.split():
        raise RuntimeError(result.stderr.strip() or f"dpkg-query exited with {result.rc}")
    return str(result.stdout).strip()


def _is_held(host: Host, name: str) -> bool:
    """Whether dpkg has it on hold, or dnf's version locks include it."""
    result = host.run("dpkg-query -f '${Status} ${Version}' -W %s", name)
    if result.rc == 0 and result.stdout.split():
        return bool(result.stdout.split()[0] == "hold")
    locks = host.run("cat /etc/dnf/plugins/versionlock.list /etc/dnf/versionlock.toml")
    if not locks.stdout and "No such file" not in locks.stderr:
        raise RuntimeError(result.stderr.strip() or "neither dpkg nor dnf reports holds")
    lock = rf"(?m)(^|[\s\"':]){re.escape(name)}(-[0-9]|[\"'\s]|$)"
    return re.search(lock, locks.stdout) is not None


def _is_installed(host: Host, name: str) -> bool:
    """Whether it is installed; RuntimeError if the package manager failed, which testinfra reports
    as "not installed".
    """
    if host.package(name).is_installed:
        return True
    output = host.backend.last.stderr.strip()
    if output and "no packages found matching" not in output:
        raise RuntimeError(output)
    return False


class Installed(NamedTuple):
    """An installed version from testinfra; it has a release only on systems that use one."""

    version: str
    release: str = ""

    def __str__(self) -> str:
        return f"{self.version}-{self.release}" if self.release else self.version

    def is_version(self, wanted: str) -> bool:
        """Whether it is the requested version; an epoch of 0 and leading zeros are ignored.

        An RPM's release is compared if one is requested, but its epoch never, because testinfra
        does not report it.
        """
        if not self.release:
            return _parts(wanted) == _parts(self.version)
        wanted = wanted.split(":", 1)[-1]
        return _parts(wanted) == _parts(str(self) if "-" in wanted else self.version)


def _installed(host: Host, name: str) -> Installed:
    package = host.package(name)
    try:
        return Installed(package.version, package.release)
    except NotImplementedError:
        return Installed(package.version)


def _parts(version: str) -> list[str]:
    version = re.sub(r"^0+:", "", version)
    return [str(int(part)) if part.isdecimal() else part for part in re.split(r"(\d+)", version)]
