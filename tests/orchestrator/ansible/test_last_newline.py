"""The end of templates and texts: Ansible adds only the newlines that the result lacks."""

from pathlib import Path

import pytest
import yaml

from orchestrator.cli.app import main
from tests.orchestrator.ansible.sites import convert_tasks

_DEFAULTS = "empty: ''\nblock: |\n  one\n  two\nplain: x\nyes_: true\nlist: [1, 2]\nmap: {a: 1}\n"
_INC = "inc\n"
_INC_OF_BLOCK = "{% if yes_ %}\ninc2\n{% endif %}\n"

RESULTS = {
    "a\n{{ empty }}\n": "a\n",
    "a\n{{ empty }}\n\n": "a\n\n",
    "x = {{ empty }}\n": "x = \n",
    "a\n{{ block }}\n": "a\none\ntwo\n",
    "a\n{{ block }}\n\n": "a\none\ntwo\n\n",
    "x = {{ block }}\n": "x = one\ntwo\n",
    "a{{ block }}b\n": "aone\ntwo\nb\n",
    "a {{ plain }}": "a x",
    "{{ map | to_nice_yaml }}\n": "a: 1\n",
    "x:\n{{ map | to_nice_yaml | indent(2, true) }}\n": "x:\n  a: 1\n",
    "a {% if yes_ %}b{% endif %}\n": "a b\n",
    "a {% if not yes_ %}b{% endif %}\n": "a \n",
    "a\n\n{% if not yes_ %}b{% endif %}\n": "a\n\n",
    "a\n{% if yes_ %}\nb\n{% endif %}\n": "a\nb\n",
    "a\n{% if yes_ %}\nb\n  {% endif %}\n": "a\nb\n  \n",
    "#jinja2: lstrip_blocks: True\na\n  {% if yes_ %}\nb\n  {% endif %}\n": "a\nb\n",
    "{% for i in list %}{{ i }} {% endfor %}\n": "1 2 \n",
    "{% for i in list %}\n{{ i }}\n{% endfor -%}\n": "1\n2\n",
    "y\n\nx\n{% for i in list %}{{ i }},{% endfor %}\n": "y\n\nx\n1,2,\n",
    "{% for i in list %}b{% if not loop.last %},{% endif %}{% endfor %}\n": "b,b\n",
    "{% if yes_ -%}\nb\n{%- endif %}\n": "b\n",
    "a {{ plain -}}\n": "a x\n",
    "a\n{{ plain }} {# c #}\n": "a\nx \n",
    "a\n{{ plain }} {# c -#}\n": "a\nx \n",
    "a\n{% set x = 1 %}\n": "a\n",
    "{% macro q(v) %}<{{ v }}>{% endmacro %}\n{{ q(1) }}\n": "<1>\n",
    '{% include "inc" %}\nb\n': "incb\n",
    '{% include "inc" %}\n': "inc\n",
    '{% include "inc2" %}\nc\n': "inc2\nc\n",
}
"""What Ansible 2.19 writes for each template."""

IN_TASKS = [one for one in RESULTS if not any(w in one for w in ("include", "jinja2"))]


def _rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["render", "--offline", str(tmp_path / "site/roles/role.yaml")]) == 0
    resources = yaml.safe_load(capsys.readouterr().out)["ccm"]["resources"]
    return str(resources[0]["file"][0]["/a"]["content"])


@pytest.mark.parametrize("template", RESULTS)
def test_the_end_of_a_template(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A converted template ends as the original does in Ansible."""
    convert_tasks(
        tmp_path,
        "- template: {src: a, dest: /a, owner: a, group: a, mode: '0644'}\n",
        defaults__main=_DEFAULTS,
        templates__a=template,
        templates__inc=_INC,
        templates__inc2=_INC_OF_BLOCK,
    )
    assert _rendered(tmp_path, capsys) == RESULTS[template]


@pytest.mark.parametrize("text", IN_TASKS)
def test_the_end_of_a_text(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So does a text in a task."""
    copy = {"content": text, "dest": "/a", "owner": "a", "group": "a", "mode": "0644"}
    convert_tasks(tmp_path, yaml.safe_dump([{"copy": copy}]), defaults__main=_DEFAULTS)
    assert _rendered(tmp_path, capsys) == RESULTS[text]


def test_usual_ends_stay_as_they_are(tmp_path: Path) -> None:
    """A line of text, a block of lines and a plain value at the end of a template are kept."""
    bodies = ["a\n", "a\n{% if yes_ %}\nb\n{% endif %}\n", "a\n{{ plain }}\n"]
    tasks = "".join(
        f"- template: {{src: t{number}, dest: /{number}, owner: a, group: a, mode: '0644'}}\n"
        for number in range(len(bodies))
    )
    files = {f"templates__t{number}": body for number, body in enumerate(bodies)}
    convert_tasks(tmp_path, tasks, defaults__main=_DEFAULTS, **files)
    base = tmp_path / "site/roles/role/templates"
    found = [(base / f"t{number}").read_text() for number in range(len(bodies))]
    assert [one.replace("Data.", "") for one in found] == bodies


def test_a_header_with_a_default(tmp_path: Path) -> None:
    """A header that names a default does not change how the template ends, nor does another."""
    _, _ = convert_tasks(
        tmp_path,
        """
        - template: {src: a, dest: /a, mode: "0644"}
        - template: {src: b, dest: /b, mode: "0644"}
        - template: {src: c, dest: /c, mode: "0644"}
        """,
        defaults__main="jobs: [a]\n",
        templates__a="#jinja2: trim_blocks: True, lstrip_blocks: True\n{{ jobs | to_nice_yaml }}\n",
        templates__b="#jinja2: trim_blocks: False\n{{ jobs | to_nice_yaml }}\n",
        templates__c="#jinja2: lstrip_blocks: False\na\n{% set b = 1 %}\n",
    )
    folder = tmp_path / "site/roles/role/templates"
    assert (folder / "a").read_text().endswith("| to_nice_yaml }}")
    assert (folder / "b").read_text().endswith("| to_nice_yaml }}")
    assert (folder / "c").read_text().endswith("\na\n{% set b = 1 %}\n")


def test_a_variable_that_is_a_template_with_a_newline(tmp_path: Path) -> None:
    """Its newline is the last one of the text, as Ansible adds none behind it."""
    _, text = convert_tasks(
        tmp_path,
        '- copy: {dest: /a, content: "{{ body }}\\n"}\n',
        defaults__main='body: "a {{ word }}\\n"\nword: b\n',
    )
    assert 'content: "{{ Data.body }}"' in text


def test_a_template_that_keeps_the_newlines_of_blocks(tmp_path: Path) -> None:
    """Its last newline is the one in the loop if there was an element."""
    convert_tasks(
        tmp_path,
        "- template: {src: a.j2, dest: /a, trim_blocks: false}\n",
        templates__a_DOT_j2="{% for i in rows %}\n{{ i }}\n{% endfor %}\n",
        defaults__main="rows: [1]\n",
    )
    text = (tmp_path / "site/roles/role/templates/a.j2").read_text()
    assert text == "#jinja2: trim_blocks: False\n{% for i in Data.rows %}\n{{ i }}\n{% endfor %}"
