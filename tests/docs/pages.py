"""Reads the documentation's pages: their fenced blocks, headings and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import schemas
from tests.contract.scenario import module_of

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TYPE_PAGES = sorted((DOCS / "reference" / "resources").glob("*.md"))
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # pages are read at each start
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^```\w+ (\S+)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: the page, the line of its fence, its language and its text."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def kind(self) -> str:
        """``manifest``, ``stages``, ``inventory``, ``project``, ``resources`` (a list of them) or
        ``data``.

        A first line ``# data`` says that it is a file of data.
        """
        if self.text.startswith("# data"):
            return "data"
        document: Any = yaml.load(self.text, Loader=_LOADER)
        if isinstance(document, list):
            return "resources"
        if "ccm" in document:
            return "manifest"
        if "stages" in document:
            return "stages"
        if set(document) <= {"defaults", "hosts", "groups"}:
            return "inventory"
        if set(document) <= set(schemas.load("project")["properties"]):
            return "project"
        raise AssertionError(f"{self}: neither a manifest, an inventory nor resources")

    def manifest(self) -> str:
        """The block as a whole manifest."""
        if self.kind == "manifest":
            return self.text
        lines = "".join(f"    {line}" for line in self.text.splitlines(keepends=True))
        return f"ccm:\n  resources:\n{lines}"


def on_a_host(page: Path) -> bool:
    """Whether the example of a type's page can only be tried on a host of the lab."""
    return bool(getattr(module_of(page.stem), "ON_A_HOST", False))


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The fenced blocks of one language on a page."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        if match[1] == language:
            yield Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2])


def named_files(page: Path) -> dict[str, str]:
    """The blocks whose fence names a file after the language: the file and its text."""
    text = page.read_text(encoding="utf-8")
    return {match[1]: match[2] for match in _NAMED.finditer(text)}


def links(page: Path) -> list[str]:
    """The targets of a page's links, code left out."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", text))


def anchors(page: Path) -> set[str]:
    """The fragments that a page's headings can be reached by."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {_slug(match[1]) for match in _HEADING.finditer(text)}


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
