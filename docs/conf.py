"""How Sphinx makes a site of these pages; ``scripts/docs`` builds it.

The text is plain Markdown, which a forge shows as it is, so what Sphinx wants beside it is made
here: the navigation is the links of each README, section by section.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

project = "ccm"
html_title = "ccm documentation"
root_doc = "README"
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True  # a link that leads nowhere is a warning, and scripts/docs makes errors of those
smartquotes = False

html_theme = "furo"
html_static_path = html_css_files = ["site.css"]
html_use_index = False
html_copy_source = False
html_show_copyright = False

_SECTION = re.compile(r"^(##?) (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w/-]+)\.md\)")


def navigation(app: Any, docname: str, source: list[str]) -> None:
    """Let the links of an index be what Sphinx calls a tree, each section below its heading."""
    if docname.rpartition("/")[2] != "README":
        return
    _, *parts = _SECTION.split(source[0])
    for level, title, text in zip(parts[::3], parts[1::3], parts[2::3]):
        caption = f":caption: {title}\n" if level == "##" else ""
        pages = "\n".join(dict.fromkeys(_LINK.findall(text)))
        source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{pages}\n```\n"


def first_page(app: Any, failure: Exception | None) -> None:
    """Let a server find the first page under the name that it looks for."""
    if failure is None:
        out = Path(app.outdir)
        shutil.copyfile(out / "README.html", out / "index.html")


def setup(app: Any) -> None:
    """What Sphinx calls first."""
    app.connect("source-read", navigation)
    app.connect("build-finished", first_page)
