"""Ansible's header line ``#jinja2:``."""

from pathlib import Path

import pytest

from tests.texts import expect_text

from .fakes import file_text, refused

BODY = "{% if true %}\nx\n  {% endif %}\n{{ Data.port }}\n"


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("#jinja2: trim_blocks: True\n", BODY, "x\n  8080\n"),
        ("#jinja2:trim_blocks:False\n", BODY, "\nx\n  \n8080\n"),
        ("#jinja2: trim_blocks: \"false\", lstrip_blocks: 'true'\n", BODY, "\nx\n\n8080\n"),
        ("#jinja2: lstrip_blocks: yes\n", BODY, "x\n8080\n"),
        ("#jinja2: lstrip_blocks: yes, trim_blocks: no\n", f"   {BODY}", "\nx\n\n8080\n"),
        ("#jinja2: lstrip_blocks: yes, trim_blocks: no\n", " {# c #}a", "a"),
        ("#jinja2: lstrip_blocks: yes, trim_blocks: no\n", " {%+ if 1 %}a{% endif %}", " a"),
        ("#jinja2: lstrip_blocks: yes, trim_blocks: no\n", " {{ Data.port }}", " 8080"),
        (
            "#jinja2: variable_start_string: '[%', variable_end_string: '%]'\n",
            "[% Data.port %] {{ x }}\n",
            "8080 {{ x }}\n",
        ),
        ("#jinja2:\n", "\na", "\na"),
        ("#jinja2: trim_blocks: False\n", "\na", "\na"),
        ("#jinja2: trim_blocks: False", "", ""),
        (
            " #jinja2: trim_blocks: False\n",
            "{% if true %}\nx{% endif %}",
            " #jinja2: trim_blocks: False\nx",
        ),
    ],
)
def test_what_it_sets(tmp_path: Path, header: str, body: str, expected: str) -> None:
    """It holds for this template alone and is no part of what it gives."""
    assert file_text(tmp_path, "a.j2", a_j2=header + body) == expected
    include = "{% include 'a.j2' %}{% if true %}\n!{% endif %}"
    found = file_text(tmp_path, "b.j2", a_j2=header + body, b_j2=include)
    assert found == expected + "!"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("#jinja2: block_start_string: '<%'", "block_start_string: '<%' is not supported"),
        ("#jinja2: trim_blocks: 'x'", "trim_blocks: 'x' is not supported"),
        ("#jinja2: trim_blocks = False", "expected a setting at 'trim_blocks = False'"),
        ("#jinja2: variable_start_string: '[%'", "require each other"),
    ],
)
def test_what_it_cannot_set(header: str, words: str) -> None:
    """Where ccm would render it otherwise than Ansible, it is refused with its place."""
    told = refused(f"{header}\n{BODY}")
    assert words in told
    expect_text(told)


def test_lines_keep_their_numbers() -> None:
    """Mistakes below a header are reported where they are."""
    for flag in ("True", "False"):
        told = refused(f"#jinja2: trim_blocks: {flag}\n\n\n{{{{ nope }}}}\n")
        assert ":4:4: " in told
