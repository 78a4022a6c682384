"""Fills the generated parts of the reference pages from the schemas and the command line.

    python -m docs.generate           write the pages
    python -m docs.generate --check   only say which pages are not current; exit 1 if there are any

A generated part stands between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``; what is outside
of markers is written by hand. A type without a page gets one. Runs on the controller, from a
checkout.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import schemas
from docs import command_line, expressions, filters, health_checks, project_file, type_pages
from schemas import tables

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

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


def generated() -> Iterator[tuple[Path, Callable[[str], Parts]]]:
    """Every page with generated parts, and what makes them of the page's text."""
    reference = DOCS / "reference"
    for name in type_pages.names():
        yield reference / "resources" / f"{name}.md", functools.partial(type_pages.parts, name)
    yield DOCS / "README.md", lambda _: {"types": type_pages.links("reference/resources/")}
    yield (
        reference / "manifest.md",
        lambda _: {
            "common": tables.properties(_common()),
            "types": type_pages.links("resources/"),
        },
    )
    yield reference / "inventory.md", lambda _: {"properties": tables.properties(_connection())}
    yield reference / "project.md", lambda _: project_file.parts()
    yield (
        DOCS / "howto" / "stages.md",
        lambda _: {"stage": tables.properties(schemas.load("stages")["$defs"]["stage"])},
    )
    yield reference / "events.md", lambda _: {"members": tables.properties(schemas.load("event"))}
    yield reference / "expressions.md", lambda _: expressions.parts()
    yield (
        reference / "other-languages" / "expr-lang.md",
        lambda _: expressions.exprlang_parts(),
    )
    yield reference / "filters.md", lambda _: filters.parts()
    yield reference / "health-checks.md", lambda _: health_checks.parts()
    yield reference / "cli.md", lambda _: {"commands": command_line.commands()}


def _common() -> tables.Schema:
    return schemas.load("common")


def _connection() -> tables.Schema:
    definitions = schemas.load("inventory")["$defs"]
    return {"properties": {**definitions["properties"], "vars": definitions["vars"]}}


def outdated() -> dict[Path, str]:
    """The pages whose generated parts are not current, with the text that they should have."""
    found = {}
    for path, parts in generated():
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        page = text or type_pages.new(path.stem)
        try:
            new = fill(page, parts(page))
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
