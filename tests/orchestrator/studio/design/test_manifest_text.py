"""The resources of a manifest, and what a designer does to them."""

from __future__ import annotations

import textwrap

import pytest

from orchestrator.formatter.canonical import rank_of
from orchestrator.manifest.resource_types import BUILT_IN
from orchestrator.studio.design.manifest_text import NEW, ManifestText
from orchestrator.studio.design.yaml_text import YamlText
from remote_runtime.errors import InputError

SITE = """\
data:
  port: 80  # of the server
ccm:
  resources:
    # what is installed
    - package:
        - defaults: {ensure: latest}
        - nginx:
        # a tool
        - jq: {}

    - service:
        name: nginx
        ensure: running   # always
    - file:
        - /etc/motd: {content: hi}
"""


def manifest(text: str = SITE) -> ManifestText:
    """A manifest of an indented text."""
    return ManifestText(YamlText(textwrap.dedent(text), "site.yaml"))


def test_resources_are_found_in_both_forms() -> None:
    """Each has its properties and its line; the defaults of a list are marked."""
    found = [(one.id, one.line, one.is_defaults) for one in manifest().resources]
    assert found == [
        ("package#defaults", 7, True),
        ("package#nginx", 8, False),
        ("package#jq", 10, False),
        ("service#nginx", 12, False),
        ("file#/etc/motd", 16, False),
    ]
    assert manifest().resources[3].properties == {"ensure": "running"}


def test_a_property_comes_at_its_place() -> None:
    """In the order of ``ccm fmt``, in the style of the map; nothing stands for no property."""
    rank = rank_of(BUILT_IN)
    site = (
        manifest().set(4, "owner", "root", rank("file")).set(4, "ensure", "present", rank("file"))
    )
    assert "- /etc/motd: {ensure: present, content: hi, owner: root}\n" in site.text
    site = (
        manifest()
        .set(3, "enable", True, rank("service"))
        .set(1, "provider", "apt", rank("package"))
    )
    assert "        ensure: running   # always\n        enable: true\n" in site.text
    assert "        - nginx:\n            provider: apt\n" in site.text


def test_a_manifest_from_nothing() -> None:
    """Resources and data are added in the canonical form."""
    empty = manifest("")
    for site in (empty, manifest(NEW), manifest("ccm:\n"), manifest("ccm: {}\n")):
        made = site.add("package", "nginx", {}).add("user", "bob", {"groups": ["adm"]})
        assert "    - user:\n        - bob:\n            groups: [adm]\n" in made.text
        assert [one.id for one in made.resources] == ["package#nginx", "user#bob"]
        assert made.set_data("port", 80).text.startswith("data:\n  port: 80\n")


def test_a_resource_moves_and_goes_with_its_comment() -> None:
    """In its list first, then with its list; the last one of a list takes the list with it."""
    site = manifest().move(2, -1)
    assert [one.name for one in site.resources][:3] == ["defaults", "jq", "nginx"]
    assert site.text.index("# a tool") < site.text.index("- jq") < site.text.index("- nginx:")
    site = manifest().move(3, 1)
    assert [one.type for one in site.resources][-2:] == ["file", "service"]
    assert manifest().move(4, 1).text == SITE
    assert "# a tool" not in manifest().remove(2).text
    assert "file" not in manifest().remove(4).text
    assert manifest().remove(3).text == SITE.replace(
        SITE[SITE.index("    - serv") : SITE.index("    - file")], ""
    )


def test_names_and_data_change_in_place() -> None:
    """A name is a key or a property; a comment of data stays."""
    assert "- jq2: {}" in manifest().rename(2, "jq2").text
    assert "        name: apache\n" in manifest().rename(3, "apache").text
    assert "  port: 8080  # of the server\n" in manifest().set_data("port", 8080).text
    assert (
        manifest()
        .set_data("new", {"a": [1]})
        .text.startswith("data:\n  port: 80  # of the server\n  new:\n    a: [1]\nccm:")
    )
    assert manifest().unset_data("port").data == {}


@pytest.mark.parametrize("text", ["- a\n", "a: [\n", "a: 1\na: 2\n", "text"])
def test_what_is_no_manifest_is_refused(text: str) -> None:
    """With an error of the reader or of the designer."""
    with pytest.raises(InputError):
        manifest(text)


def test_odd_forms_are_left_to_the_text() -> None:
    """An entry that is not a resource is skipped; validation reports it."""
    site = manifest("ccm:\n  resources: [a, {file: x}, {file: [b, {c: 1}]}, {}, {file: []}, [1]]\n")
    assert site.resources == []
    assert manifest("ccm: 1\n").resources == manifest("ccm: {resources: 2}\n").resources == []
