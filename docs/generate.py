"""Fills the generated parts of the reference pages from the schemas and the command line.

    python -m docs.generate           write the pages
    python -m docs.generate --check   only say which pages are not current; exit 1 if there are any

A generated part stands between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``; what is outside
of markers is written by hand. Runs on the controller, from a checkout.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import schemas
from docs import command_line, examples, expressions, health_checks
from schemas import tables

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
TYPES = ROOT / "remote_runtime" / "resources"

Parts = Mapping[str, str]


def fill(text: str, parts: Parts) -> str:
    """Replace the text between the markers of each part; ValueError where a marker is missing."""
    for name, content in parts.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        new = f"{begin}\n{content}\n{end}".replace("\\", r"\\")  # no reference to a group
        text, count = pattern.subn(new, text)
        if count != 1:
            raise ValueError(f"the markers {begin} and {end} must stand there exactly once")
    return text


def resource_types() -> list[str]:
    """The types that the runtime has, by name."""
    return sorted(path.parent.name for path in TYPES.glob("*/schema.json"))


def type_schema(name: str) -> dict[str, Any]:
    """The schema of one type's properties."""
    text = (TYPES / name / "schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def generated() -> Iterator[tuple[Path, Callable[[], Parts]]]:
    """Every page with generated parts, and what makes them."""
    reference = DOCS / "reference"
    for name in resource_types():
        yield reference / "resources" / f"{name}.md", functools.partial(_type_parts, name)
    yield reference / "manifest.md", lambda: {"common": tables.properties(_common())}
    yield reference / "inventory.md", lambda: {"properties": tables.properties(_connection())}
    yield reference / "events.md", lambda: {"members": tables.properties(schemas.load("event"))}
    yield reference / "expressions.md", expressions.parts
    yield reference / "health-checks.md", health_checks.parts
    yield reference / "cli.md", lambda: {"commands": command_line.commands()}


def _type_parts(name: str) -> Parts:
    schema = type_schema(name)
    page = (DOCS / "reference" / "resources" / f"{name}.md").read_text(encoding="utf-8")
    example = "<!-- command-line:begin -->" in page
    return {
        **({"command-line": examples.command_lines(page)} if example else {}),
        **({"api-request": examples.api_request(name, page)} if example else {}),
        "ensure": tables.meanings("Value", schema["x-ccm-ensure"]),
        "properties": tables.properties(schema, schema["x-ccm-name"]["description"]),
    }


def _common() -> tables.Schema:
    return schemas.load("common")


def _connection() -> tables.Schema:
    definitions = schemas.load("inventory")["$defs"]
    return {"properties": {**definitions["properties"], "vars": definitions["vars"]}}


def outdated() -> dict[Path, str]:
    """The pages whose generated parts are not current, with the text that they should have."""
    found = {}
    for path, parts in generated():
        text = path.read_text(encoding="utf-8")
        try:
            new = fill(text, parts())
        except ValueError as error:
            raise SystemExit(f"{path.relative_to(ROOT)}: {error}") from error
        if new != text:
            found[path] = new
    return found


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if outdated")
    options = parser.parse_args()
    pages = outdated()
    for path, text in pages.items():
        if not options.check:
            path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT), "is outdated" if options.check else "written")
    return 1 if options.check and pages else 0


if __name__ == "__main__":
    sys.exit(main())
