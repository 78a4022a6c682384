"""The request of a type's page does what the manifest above it says, and so do its commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from docs.examples import resources_of
from orchestrator.cli.api_responses import PROTOCOL as RESPONSE
from orchestrator.manifest.api_request import PROTOCOL
from orchestrator.manifest.editor_schema import request_schema
from tests.contract.scenario import module_of
from tests.docs.pages import DOCS, TYPE_PAGES, Block, blocks, on_a_host
from tests.docs.scene import CHILD, Scene, statuses

TYPES = DOCS / "reference" / "resources"
IN_A_SCENE = ("archive", "download", "git", "scaffold")
"""Types whose examples need a server or a directory of templates."""
SHORT = ("package", "service")
"""Types that are tried on a host in the short form; it holds that all stand for the manifests."""
DOWNLOADED = [
    *blocks(TYPES / "archive.md", "yaml"),
    *blocks(TYPES / "download.md", "yaml"),
    next(blocks(TYPES / "git.md", "yaml")),
]


def example(page: Path, language: str) -> Block:
    """The first block of a language that is not a file beside the manifest."""
    return next(block for block in blocks(page, language) if not CHILD.match(block.text))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Scene]:
    """This machine, below a scratch directory."""
    found = Scene(tmp_path)
    yield found
    found.close()


@pytest.fixture
def scene(page: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    """Where the page's example can be tried: packages and services are for a lab host."""
    if not on_a_host(page):
        found: Scene = request.getfixturevalue("here")
        return found
    lab = request.getfixturevalue("lab")
    lab.hosts["web1"].reset()
    if page.stem == "reboot":
        lab.hosts["web1"].write("/run/reboot-required", "")
    if page.stem == "service":
        lab.hosts["web1"].run("apt-get install -y -q nginx-light", timeout=300)
        lab.hosts["web1"].run("systemctl disable --now nginx")
    if page.stem == "cron":
        lab.hosts["web1"].run("mkdir -p /etc/cron.d; install -m 755 /dev/null /usr/sbin/cron")
    return Scene(tmp_path, lab)


def test_the_page_of_requests_shows_requests_and_responses() -> None:
    """Its requests fit the schema of requests, and its responses have the members of one."""
    checker = Draft202012Validator(request_schema())
    shown = [json.loads(block.text) for block in blocks(TYPES.parent / "api.md", "json")]
    requests = [each for each in shown if each["protocol"] == PROTOCOL]
    assert [list(checker.iter_errors(each)) for each in requests] == [[]]
    members = [set(each) for each in shown if each["protocol"] == RESPONSE]
    assert members == [{"protocol", "state"}, {"protocol", "error"}]


@pytest.mark.parametrize("page", TYPE_PAGES, ids=lambda p: p.stem)
def test_a_request_stands_for_its_resource(page: Path) -> None:
    """It has the properties of a resource of the manifest, and what every request has."""
    asked = json.loads(example(page, "json").text)
    name = asked["properties"].pop("name")
    properties = {
        (kind, of): {k: v for k, v in given.items() if k not in ("require", "subscribe")}
        for kind, of, given in resources_of(page.read_text(encoding="utf-8"))
    }
    assert asked == {
        "protocol": PROTOCOL,
        "type": page.stem,
        "properties": properties[page.stem, name],
    }


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=page.stem,
            marks=pytest.mark.long if on_a_host(page) and page.stem not in SHORT else (),
        )
        for page in TYPE_PAGES
    ],
)
def test_a_request_does_what_it_says(page: Path, scene: Scene) -> None:
    """It changes its resource once, if its type does; asked again, it finds that one stable."""
    scene.write(example(page, "yaml"))
    block = example(page, "json")
    if page.stem == "file":
        asked = json.loads(scene.fill(block.text))
        Path(asked["properties"]["name"]).parent.mkdir(exist_ok=True)
    response = scene.request(block)
    passive = getattr(module_of(page.stem), "PASSIVE", False)
    assert response["state"]["status"] == ("stable" if passive else "changed"), response
    assert scene.request(block)["state"]["status"] == "stable"


@pytest.mark.parametrize("name", IN_A_SCENE)
def test_commands_do_what_the_manifest_says(name: str, here: Scene) -> None:
    """After the commands of the page, a push of its manifest finds everything as it should be."""
    page = TYPES / f"{name}.md"
    here.write(example(page, "yaml"))
    assert "changed" in statuses(here.push("--noop")).values()
    done = here.script(example(page, "sh"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(statuses(here.push("--noop")).values()) == {"stable"}


@pytest.mark.parametrize("block", DOWNLOADED, ids=str)
def test_downloads_do_what_the_page_says(block: Block, here: Scene) -> None:
    """From a server on loopback, an example changes things once, and a preview says so."""
    here.write(block)
    preview = statuses(here.push("--noop"))
    assert set(preview.values()) == {"changed"}
    assert not any((here.root / "opt").iterdir())
    assert statuses(here.push()) == preview
    assert set(statuses(here.push()).values()) == {"stable"}
