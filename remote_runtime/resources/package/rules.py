"""The rules for the name and the properties of a package (controller)."""

import re
from typing import List, Tuple

from remote_runtime.base import Properties
from remote_runtime.packages.package_info import ABSENT, LATEST, PRESENT
from remote_runtime.resources.package import language_packages
from remote_runtime.text import duration
from remote_runtime.validation import rules

_NAME = re.compile(r"[A-Za-z0-9._+:~-]+\Z")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+:~^!-]*\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_URL = re.compile("https?://", re.IGNORECASE)
_DURATIONS = ("update_cache", "lock_timeout")


def problems(name: str, properties: Properties) -> List[Tuple[str, str]]:
    """Return the problems, as (property, message)."""
    problems: List[Tuple[str, str]] = []
    if language_packages.provider_of(properties) not in language_packages.PROVIDERS:
        problems += _check_name(name)
    if language_packages.is_environment_package(properties):
        from remote_runtime.resources.package.language_packages import (
            rules as language_package_rules,
        )

        problems += language_package_rules.problems(name, properties)
    ensure = properties.get("ensure", PRESENT)
    if not isinstance(ensure, str):
        problems.append(("ensure", 'quote the version: ensure: "%s"' % ensure))
    elif not _VERSION.match(ensure):
        problems.append(("ensure", "%r contains characters that versions do not allow" % ensure))
    elif ensure not in (PRESENT, ABSENT, LATEST) and not re.search("[0-9]", ensure):
        problems.append(
            ("ensure", "ensure must be present, absent, latest or a version, not %r" % ensure)
        )
    problems += rules.of_tries(properties)
    source = properties.get("source")
    problems += _check_source(source, properties.get("checksum"))
    if ensure == PRESENT and properties.get("only_upgrade") and not source:
        problems.append(
            ("only_upgrade", "present does not upgrade: use ensure: latest or a version")
        )
    problems += _check_answers(properties.get("debconf"))
    for key in _DURATIONS:
        problems += _check_duration(key, properties.get(key, "0"))
    return problems


def _check_name(name: str) -> List[Tuple[str, str]]:
    if not _NAME.match(name):
        return [
            ("name", ("%r is not a package name: use letters, digits and . _ + : ~ - only") % name)
        ]
    if name.startswith("-"):
        return [("name", "%r starts with a hyphen; package names must not" % name)]
    return []


def _check_source(source: object, checksum: object) -> List[Tuple[str, str]]:
    """Check a path or a URL; for a file next to the manifest, the plan has only the hash."""
    result: List[Tuple[str, str]] = []
    if checksum is not None:
        from remote_runtime.downloads.checksums import checksum_problem

        result += checksum_problem(checksum)
        if source is None:
            result.append(("checksum", "checksum requires source"))
    if not isinstance(source, str):
        return result
    if _URL.match(source):
        from remote_runtime.downloads.request import url_problem

        problem = url_problem(source)
        result += [("source", problem)] if problem else []
        if checksum is None:
            result.append(("checksum", "a source that is a URL requires its checksum"))
        return result
    if re.match("[A-Za-z][A-Za-z0-9+.-]*://", source):
        text = "only http and https URLs can be downloaded, not %s" % source.partition(":")[0]
        return result + [("source", text)]
    if not source.endswith((".deb", ".rpm")):
        result.append(("source", "%r is not the name of a .deb or .rpm file" % source))
    if checksum is not None and not source.startswith("/"):
        result.append(
            ("checksum", "checksum does not apply to a file next to the manifest: omit it")
        )
    return result


def _check_duration(key: str, value: object) -> List[Tuple[str, str]]:
    if not isinstance(value, str):
        return [(key, "expected a duration such as 1h or 30m, not %r" % (value,))]
    return [(key, message) for message in rules.of_text(duration.parse, value)]


def _check_answers(answers: object) -> List[Tuple[str, str]]:
    """Return the answers that debconf could not store. Values are not shown, because they may be
    passwords.
    """
    result = []
    for question, answer in answers.items() if isinstance(answers, dict) else ():
        if not isinstance(answer, dict):
            continue
        value = answer.get("value")
        right = isinstance(value, bool) or value in ("true", "false")
        if answer.get("type") == "boolean" and not right:
            result.append(("debconf", "the answer to %s must be true or false" % question))
        if not isinstance(value, str):
            continue
        if _CONTROL.search(value):
            result.append(("debconf", "the answer to %s has a control character" % question))
        if value.endswith("\\"):
            result.append(("debconf", "the answer to %s ends with a backslash" % question))
    return result
