"""Several edits of one file as one resource (controller)."""

from typing import Any

from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja.parsing import parse_expression
from orchestrator.ansible.jinja.unparse import operand
from orchestrator.ansible.jinja.value_expressions import value_expression
from orchestrator.ansible.output.manifest_entries import Entry, any_of, both, list_of
from orchestrator.ansible.problems import NotConvertible

_SHARED = ("create", "validate", "force")
_QUIET = frozenset(["edit", "file", "link"])


def loop_edits(entry: Entry, foreach: str) -> None:
    """The edits of a loop over one file, as a list that a template creates. NotConvertible."""
    if "index" in repr(entry.properties):
        raise NotConvertible("a loop over one file with the index of the element")
    if any("template(" in str(one) and "item" in str(one) for one in _edit_of(entry).values()):
        raise NotConvertible("a loop over one file with statements that read the element")
    edits = list_of(value_expression(_edit_of(entry)), foreach, entry.conditions)
    entry.properties = {
        "edits": "{{ " + edits + " }}",
        **{key: entry.properties[key] for key in _SHARED if key in entry.properties},
    }
    # Without an element there is nothing to edit, not even a file that must be there.
    written_out = foreach.startswith("[")
    some = f"{operand(parse_expression(foreach))} | length > 0"
    entry.conditions = [] if written_out else [some]


def _edit_of(entry: Entry) -> dict[str, Any]:
    return {key: one for key, one in entry.properties.items() if key not in _SHARED}


def merge_edits(builder: Conversion, entries: list[Entry]) -> None:
    """Merge edits of one file into one resource, in place of the first one."""
    first = entries[0]
    if any(one.control != first.control for one in entries):
        raise NotConvertible("edits of one file under different conditions on the host")
    plain = all(
        not one.conditions and "{{" not in str(one.properties.get("edits", "")) for one in entries
    )
    shared = _shared(entries)
    _note_order(builder, entries)
    if plain:
        made: list[Any] = []
        for one in entries:
            edit = _edit_of(one)
            made += edit.get("edits", [edit])
        edits: Any = made
    else:
        edits = "{{ " + " + ".join(_part(one) for one in entries) + " }}"
    first.properties = {"edits": edits, **shared}
    always = any(not one.conditions for one in entries)
    first.conditions = [] if always else [any_of(one.conditions for one in entries)]
    for one in entries[1:]:
        first.comments += one.comments
        first.checks += [text for text in one.checks if text not in first.checks]
        first.tags = list(dict.fromkeys([*first.tags, *one.tags])) if first.tags else []
        _drop(builder, one, first)


def _part(entry: Entry) -> str:
    edit = _edit_of(entry)
    if isinstance(edit.get("edits"), str):
        listed = f"({edit['edits'][2:-2].strip()})"
    else:
        listed = value_expression(edit.get("edits", [edit]))
    return f"({listed} if {both(entry.conditions)} else [])" if entry.conditions else listed


def _shared(entries: list[Entry]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _SHARED:
        values = [one.properties[name] for one in entries if name in one.properties]
        if values:
            found[name] = values[0]
        if name != "create" and len({repr(one) for one in values}) > 1:
            raise NotConvertible(f"edits of one file with different {name}")
    return found


def _note_order(builder: Conversion, entries: list[Entry]) -> None:
    everything = builder.manifest.entries()
    start = next(i for i, one in enumerate(everything) if one is entries[0])
    end = next(i for i, one in enumerate(everything) if one is entries[-1])
    if all(one.type in _QUIET for one in everything[start:end]):
        return
    text = "all edits of the file are here; in the original, some of them come later"
    builder.check_all(entries, text)


def _drop(builder: Conversion, entry: Entry, first: Entry) -> None:
    new = builder.reference(first)
    for other in builder.manifest.entries():
        other.subscribe = list(
            dict.fromkeys(new if one == entry.reference else one for one in other.subscribe)
        )
    builder.manifest.replace(entry, [])
    if entry.record is not None and first.record is not None:
        entry.record.resources.append(first.reference)
