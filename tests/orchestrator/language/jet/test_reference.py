"""The reference page says what the engine does."""

import re
from pathlib import Path

from orchestrator.language.builtin_names import TEMPLATE_VARIABLES
from orchestrator.language.jet import Delimiters
from orchestrator.language.jet.functions import FUNCTIONS, REFUSED
from tests.orchestrator.language.jet.fakes import DATA, render

DOCS = Path(__file__).parents[4] / "docs"
PAGE = (DOCS / "reference/other-languages/jet.md").read_text(encoding="utf-8")


def test_every_function_and_name_is_in_the_reference() -> None:
    """What can be called is in the tables, and what is refused is too."""
    for name in (
        *FUNCTIONS,
        *REFUSED,
        *TEMPLATE_VARIABLES,
        "isset",
        "exec",
        "lookup",
        "file",
        "readFile",
    ):
        assert re.search(rf"`{name}\b", PAGE), name


def test_the_example_renders() -> None:
    """The page's first template gives what it promises."""
    example = re.search(r"```\n(\{\* motd.*?)```", PAGE, re.DOTALL)
    assert example
    facts = {"host": {"info": {"platform": "debian"}}}
    made = render(example.group(1), Delimiters(), facts=facts, data=DATA)
    assert made == "web1 runs debian.\n1. EVA (admin)\n2. UDO\n"


def test_a_case_of_the_conformance_suite() -> None:
    """Braces of other languages are kept byte for byte."""
    text = "name=[[ data.name ]] port=[[ data.port ]] keep {{ this }} and ${that}"
    assert render(text, Delimiters()) == "name=web port=8080 keep {{ this }} and ${that}"
    assert render("no templates <b>&", Delimiters()) == "no templates <b>&"
