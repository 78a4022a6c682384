"""The kinds of errors that the troubleshooting page explains."""

import re

from tests.docs.pages import DOCS, ROOT

PAGE = DOCS / "howto" / "troubleshooting.md"
ROOMS = ("orchestrator/transport", "orchestrator/fleet", "remote_runtime/system")
KIND = re.compile(r'"((?:transport|host)\.(?!info\b)[a-z_.]+)"')


def test_every_kind_of_a_lost_or_locked_host_is_explained() -> None:
    """The page has a row for each kind of transport and host error in the code, and no other."""
    sources = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    raised = {kind for path in sources for kind in KIND.findall(path.read_text(encoding="utf-8"))}
    text = PAGE.read_text(encoding="utf-8")
    explained = set(re.findall(r"`((?:transport|host)\.[a-z_.]+)`", text))
    assert raised
    assert explained == raised
