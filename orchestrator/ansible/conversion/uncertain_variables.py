"""Variables whose value may differ from the original: resources that read them are
marked (controller).
"""

import re
from typing import Any

from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.scope import Scope, Uses
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_READ = re.compile(r"\bData\.(\w+)")


def spread(builder: Conversion, uncertain: dict[str, str], more: list[Any]) -> None:
    """Mark the resources that read an uncertain variable, directly or through other variables.

    ``more`` has maps of variables in addition to the data of the manifest, nested in any way.
    """
    if not uncertain:
        return
    values = [{name: one.value for name, one in builder.manifest.data.items()}, *more]
    found = dict(uncertain)
    while new := _readers(values, found):
        found.update(new)
    for entry in builder.manifest.entries():
        for name in sorted(set(_READ.findall(_text(builder, entry))) & set(found)):
            text = f"it reads {name}: {found[name]}"
            if text not in entry.checks and found[name] not in entry.checks:
                builder.check(entry, text)


def _readers(values: list[Any], readers: dict[str, str]) -> dict[str, str]:
    new: dict[str, str] = {}
    for one in values:
        for name, value in one.items() if isinstance(one, dict) else ():
            if name in readers:
                continue
            if isinstance(value, dict) and ":" in name:
                new.update(_readers([value], readers))  # an entry of the hierarchy
                continue
            for read in _READ.findall(repr(value)):
                if read in readers:
                    new[name] = readers[read]
    return new


def _text(builder: Conversion, entry: Entry) -> str:
    """The text of a resource, and of the role's templates that it renders."""
    text = f"{entry.name} {entry.all_properties()!r}"
    return text + "".join(
        body
        for written, body in builder.files.texts.items()
        if f"'{written}'" in text or f"{written}\\'" in text
    )


def unreadable(values: dict[str, list[Any]], scope: Scope) -> dict[str, str]:
    """The variables of a project that have no equivalent, with the reasons."""
    found: dict[str, str] = {}
    while True:
        uses = Uses(broken=dict(found))
        probe = scope.having(uses=uses)
        new: dict[str, str] = {}
        for name, versions in values.items():
            if name not in found:
                reason = _reason(versions, probe)
                if reason:
                    new[name] = f"the variable {name}: {reason}"
        if not new:
            return found
        found.update(new)


def _reason(versions: list[Any], scope: Scope) -> str:
    for one in versions:
        try:
            text_rewriter.value(one, scope)
        except NotConvertible as error:
            return error.reason
    return ""
