"""Renders pages with every value escaped (controller)."""

from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from orchestrator.fleet.host.stage_host import host_in
from orchestrator.report.html.page import environment, page_text
from orchestrator.studio.pages.fleet import COLUMNS
from orchestrator.studio.pages.page import MARKS, Page, Parameters, outcome_words
from orchestrator.studio.pages.page_context import moment
from remote_runtime.version import VERSION

TEMPLATES = (
    "layout.html", "parts.html", "message.html", "login.html", "unreadable.html", "fleet.html",
    "runs.html", "run.html", "host_run.html", "host.html", "resource.html", "compare.html",
    "search.html", "design.html", "design_files.html", "design_diff.html", "design_try.html",
    "plans.html", "plan.html", "plan_parts.html", "plan_push.html",
    "compare_plans.html", "compare_hosts.html",
)  # fmt: skip


class Renderer:
    """The templates of the studio and of the report."""

    def __init__(self) -> None:
        self._environment = environment(_template)
        self._environment.filters.update(
            moment=moment, segment=_segment, outcome_words=outcome_words, host_in=host_in
        )
        self._environment.globals.update(version=VERSION, marks=MARKS, columns=COLUMNS)

    def prepare(self) -> None:
        """Compile every template in advance, so that the first page does not have to wait."""
        for name in TEMPLATES:
            self._environment.get_template(name)

    def render(self, page: Page, parameters: Parameters, **members: Any) -> str:
        """The HTML of a page; ``members`` are the values of the layout."""
        template = self._environment.get_template(page.template)
        return template.render(
            title=page.title,
            live=page.live,
            asked=parameters,
            query=parameters.changed,
            searched=parameters.text("q"),
            **members,
            **page.values,
        )


def _template(name: str) -> str | None:
    if name not in TEMPLATES:
        return None
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """The files that pages refer to, by name, with content and type. No other files are served."""
    static = resources.files("orchestrator.studio").joinpath("static")

    def own(name: str) -> bytes:
        """A file of the studio."""
        return static.joinpath(name).read_bytes()

    return {
        "report.css": (page_text("page.css").encode(), "text/css; charset=utf-8"),
        "studio.css": (own("studio.css"), "text/css; charset=utf-8"),
        "studio.js": (own("studio.js"), "text/javascript; charset=utf-8"),
        "design.js": (own("design.js"), "text/javascript; charset=utf-8"),
        "design.css": (own("design.css"), "text/css; charset=utf-8"),
        "icon.svg": (own("icon.svg"), "image/svg+xml"),
    }
