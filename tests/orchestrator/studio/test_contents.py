"""The contents of a file over the fleet."""

from __future__ import annotations

import re
from pathlib import Path

from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import FIRST, SECOND, THIRD, Site, plans, write_run

HOSTS = ("web1", "web2", "web3", "web4", "web5")
OLD, NEW = "a" * 64, "b" * 64


def write(run_id: str, *written: tuple[str, str], removed: str = "") -> None:
    """A run in which hosts get a content of the same file, and one of them removes it."""

    def fill(kept: Kept) -> None:
        kept.plan(*plans(*HOSTS))
        for host, content in written:
            change = {"what": "content", "from": None, "to": f"sha256:{content}"}
            kept.event(host, "/etc/motd", "changed", changes=[change])
        if removed:
            change = {"what": "ensure", "from": "present", "to": "absent"}
            kept.event(removed, "/etc/motd", "changed", changes=[change])

    write_run(run_id, fill, *HOSTS)


def test_hosts_are_grouped_by_the_content_that_they_have(state: Path) -> None:
    """Whenever and from whatever they got it; each group has the runs that wrote it."""
    write(FIRST, ("web1", OLD), ("web2", OLD), ("web4", OLD))
    write(SECOND, ("web3", NEW))
    write(THIRD, ("web2", NEW), removed="web4")
    site = Site(state)
    page = site.log_in().get("/resource?name=file%23/etc/motd").text
    table = page.partition('id="contents"')[2].partition("</table>")[0]
    cells = re.findall(r'<tr><th scope="row" class="names">(.*?)<td>(.*?)<td>(.*)', table)
    rows = [
        (*(re.sub(r"<[^>]*>", "", cell) for cell in row[:2]), re.findall(r"/runs/([\w-]+)", row[2]))
        for row in cells
    ]
    assert rows == [
        ("web[2-3] (2)", NEW[:12], [SECOND, THIRD]),
        ("web1 (1)", OLD[:12], [FIRST, FIRST]),
        ("web4 (1)", "removed", [THIRD, THIRD]),
        ("web5 (1)", "not written in the stored runs", []),
    ]
    site.close()


def test_a_resource_without_contents_has_no_such_table(state: Path) -> None:
    """A table of nothing helps nobody."""

    def fill(kept: Kept) -> None:
        kept.plan(*plans("web1"))
        kept.event("web1", "/etc/motd", "failed", error=["no"])

    write_run(FIRST, fill, "web1")
    site = Site(state)
    page = site.log_in().get("/resource?name=file%23/etc/motd").text
    assert 'id="states"' in page
    assert 'id="contents"' not in page
    site.close()
