"""jet() in the expressions of a manifest."""

from pathlib import Path

import pytest

from orchestrator.expressions import EvaluationError
from tests.orchestrator.expressions.fakes import evaluate
from tests.orchestrator.language.jet.fakes import write


def test_jet_renders_a_text_of_the_manifest() -> None:
    """A text with an action or a comment in it is the template itself."""
    assert evaluate("jet('[[ Data.port ]]{* c *}') + '!'") == "80!"
    assert evaluate("jet('<< data.port >>', '<<', '>>')") == "80"


def test_jet_renders_a_file_beside_the_manifest(tmp_path: Path) -> None:
    """A text without any names a file, which may include others; template() knows .jet files."""
    write(tmp_path, motd_jet='[[ include "sub/part" ]]\n', sub__part_jet="[[ Host.name ]]")
    assert evaluate("jet('motd.jet')", tmp_path) == "web1\n"
    assert evaluate("template('motd.jet')", tmp_path) == "web1\n"
    assert evaluate("jet(file('motd.jet'))", tmp_path) == "web1\n"


def test_jet_renders_other_templates(tmp_path: Path) -> None:
    """template() in Jet renders a file beside the manifest, never what a host says; it ends."""
    write(tmp_path, a_jet='<[[ template("b") ]]>', b="{{ Data.port }}")
    assert evaluate("jet('a.jet')", tmp_path) == "<80>"
    write(tmp_path, evil_jet="[[ template(facts.evil) ]]", round_jet='[[ template("round.jet") ]]')
    with pytest.raises(EvaluationError, match="never computed text"):
        evaluate("jet('evil.jet')", tmp_path)
    with pytest.raises(EvaluationError, match="nested deeper"):
        evaluate("template('round.jet')", tmp_path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("jet(Facts.evil, '{{', '}}')", "never computed text"),
        ("jet('[[ ' ~ Facts.evil ~ ' ]]')", "never computed text"),
        ("jet('/etc/motd')", "takes a file next to the manifest"),
        ("jet('no.jet')", "cannot read"),
        ("jet('bad.jet')", "bad.jet:2:4: there is no function 'uper'"),
        ("jet('missing.jet')", "data.x: no such path (missing.jet:1:8)"),
    ],
)
def test_what_goes_wrong_names_the_template(tmp_path: Path, source: str, message: str) -> None:
    """Nothing that came from a host is a template, and mistakes are told where they stand."""
    write(tmp_path, bad_jet="\n[[ uper(1) ]]", missing_jet="[[ data.x ]]")
    with pytest.raises(EvaluationError) as caught:
        evaluate(source, tmp_path)
    assert message in str(caught.value)
