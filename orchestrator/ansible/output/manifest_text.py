"""Writes a manifest as text (controller)."""

from itertools import groupby
from typing import Any

from orchestrator.ansible.output.manifest_entries import Comment, Entry, Manifest
from orchestrator.ansible.output.yaml_text import comment, lines, pair, scalar

_NOTHING = "# no resources were converted; see the comments below for the reasons"


def manifest_text(manifest: Manifest) -> str:
    """The text of a manifest."""
    found: list[str] = []
    for line in manifest.title:
        found += comment(line, 0)
    if manifest.title:
        found.append("")
    found += _data(manifest)
    found += _hierarchy(manifest)
    found += ["ccm:"]
    if manifest.fail_on_error:
        found.append("  fail_on_error: true")
    found += _questions(manifest)
    found += _resources(manifest)
    return "\n".join(found) + "\n"


def data_text(values: dict[str, Any], title: list[str]) -> str:
    """The text of a data file."""
    found = [line for one in title for line in comment(one, 0)]
    return "\n".join([*found, *lines(values, 0)]) + "\n"


def _data(manifest: Manifest) -> list[str]:
    if not manifest.data:
        return []
    found = ["data:"]
    for key, one in manifest.data.items():
        for text in one.comments:
            found += comment(text, 2) if text else [""]
        found += pair(key, one.value, 2)
    return [*found, ""]


def _hierarchy(manifest: Manifest) -> list[str]:
    if not manifest.order:
        if not manifest.first_keys:
            return []
        keys = dict.fromkeys(manifest.first_keys, "first")
        return ["hierarchy:", *pair("keys", keys, 2), ""]
    found = ["hierarchy:", "  order:"]
    found += [f"    - {scalar(one)}" for one in manifest.order]
    found.append("  merge: deep")
    if manifest.first_keys:
        found += pair("keys", dict.fromkeys(manifest.first_keys, "first"), 2)
    if manifest.overrides:
        found += ["", "overrides:", *lines(manifest.overrides, 2)]
    return [*found, ""]


def _questions(manifest: Manifest) -> list[str]:
    found: list[str] = []
    if manifest.asks:
        found.append("  ask:")
        for name, question in manifest.asks.items():
            found += pair(name, question, 4)
    wanted = [one for one in manifest.assertions if isinstance(one, dict)]
    if wanted:
        found.append("  assert:")
    for one in manifest.assertions:
        if isinstance(one, Comment):
            found += [line for text in one.lines for line in comment(text, 4)]
            continue
        first = pair("that", one["that"], 6, as_expression=True)
        found += [f"    - {first[0].lstrip()}", *pair("message", one["message"], 6)]
    return found


def _resources(manifest: Manifest) -> list[str]:
    if not manifest.entries():
        # A manifest without resources is refused, so it gets an entry without effect.
        found = ["  resources:", f"    {_NOTHING}"]
        for one in manifest.items:
            assert isinstance(one, Comment)
            found += [line for text in one.lines for line in comment(text, 4)]
        return [*found, "    - exec:", "        - nothing to do:", "            command: /bin/true",
                "            refresh_only: true"]  # fmt: skip
    found = ["  resources:"]
    pending: list[str] = []

    def kind(item: Entry | Comment) -> str:
        return item.type if isinstance(item, Entry) else ""

    for name, group in groupby(manifest.items, key=kind):
        for item in group if not name else ():
            assert isinstance(item, Comment)
            pending += [line for text in item.lines for line in comment(text, 4)]
            pending.append("")
        if not name:
            found += ["", *pending[:-1]] if found[-1] != "  resources:" else pending[:-1]
            pending = []
            continue
        if found[-1] != "  resources:":
            found.append("")
        found.append(f"    - {name}:")
        for index, item in enumerate(group):
            assert isinstance(item, Entry)
            if index and (item.comments or item.checks):
                found.append("")
            found += _entry(item)
    return found


def _entry(entry: Entry) -> list[str]:
    found: list[str] = []
    for text in entry.comments:
        found += comment(text, 8)
    for text in entry.checks:
        found += comment(f"CHECK: {text}", 8)
    properties = entry.all_properties()
    name = scalar(entry.name)
    if not properties:
        return [*found, f"        - {name}:"]
    found.append(f"        - {name}:")
    for key, value in properties.items():
        if key == "control" and isinstance(value, dict):
            found += _control(value)
        else:
            found += pair(key, value, 12, as_expression=key == "foreach")
    return found


def _control(control: dict[str, Any]) -> list[str]:
    found = [f"{' ' * 12}control:"]
    for key, value in control.items():
        found += pair(key, value, 14, as_expression=key in ("if", "unless"))
    return found
