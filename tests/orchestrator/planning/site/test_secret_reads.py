"""``secret()`` and encrypted values in manifests: checks without a key, plans, masks."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.secrets.key_sources import KeySources
from remote_runtime.errors import PlanError
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.planning.planned import FakeHost, gathered, plan, planner, refused, show
from tests.orchestrator.secrets.keys import inline, project, vault
from tests.texts import expect_text

DATA = "db: {password: hunter2-hunter2, ports: [80, 443]}\n"


def site(content: str, head: str = "") -> str:
    file = f"/x: {{content: {json.dumps(content)}, owner: root, group: root, mode: '0600'}}"
    return f"{head}\nccm: {{resources: [{{file: [{{{file}}}]}}]}}"


@pytest.fixture
def keys(tmp_path: Path) -> KeySources:
    vault(tmp_path / "v.yml", DATA)
    return project(tmp_path)


def test_a_secret_in_each_language(tmp_path: Path, keys: KeySources) -> None:
    """Expressions, whole templates, Jet, and data that reads it."""
    (tmp_path / "t.j2").write_text(
        "{% set p = secret('v.yml#db.password') %}{{ p | upper }} {% include 'u.j2' %}"
    )
    (tmp_path / "u.j2").write_text('{{ secret("v.yml#db.ports") | sum }}')
    (tmp_path / "t.jet").write_text('[[ secret("v.yml#db.password") ]]')

    def got(expression: str, head: str = "") -> Any:
        return show(tmp_path, expression, head, secret_keys=keys)

    assert got("{{ secret('v.yml#db.password') }}") == "hunter2-hunter2"
    assert got("{{ template('t.j2') }}") == "HUNTER2-HUNTER2 523"
    assert got("{{ jet('t.jet') }}") == "hunter2-hunter2"
    assert got("{{ Data.x }}", "data: {x: \"{{ secret('v.yml#db.password') }}\"}") == (
        "hunter2-hunter2"
    )
    assert got("{{ 'a' if secret('v.yml#db.ports') | length > 1 }}") == "a"


def test_the_plan_masks_it_in_every_form(tmp_path: Path, keys: KeySources) -> None:
    """The value reaches the host as content, and as a text to mask."""
    made = plan(tmp_path, site("p = {{ secret('v.yml#db.password') }}"), secret_keys=keys)
    assert "hunter2-hunter2" in made.own_secrets
    mask = Mask(made.own_secrets)
    for form in ("hunter2-hunter2", "aHVudGVyMi1odW50ZXIy", "68756e746572322d"):
        assert form not in mask.text(f"<{form}68756e74657232>")
    resources = json.loads(made.payload({"run_id": "1"}))["resources"]
    assert "hunter2" not in json.dumps(resources)


def test_an_encrypted_value_in_data(tmp_path: Path, keys: KeySources) -> None:
    """It is text where it is read, and masked; overrides have some, too."""
    head = f"data:\n  token: {inline('t0ken-t0ken', '    ')}"
    head += f"overrides:\n  default:\n    more: {inline('m0re-m0re', '      ', 'prod')}"
    made = plan(tmp_path, site("{{ Data.token }} {{ Data.more }}", head), secret_keys=keys)
    assert {"t0ken-t0ken", "m0re-m0re"} <= set(made.own_secrets)
    assert made.items[0].deferred_error == ""


def test_encrypted_files_of_data(tmp_path: Path, keys: KeySources) -> None:
    """A whole file of the data directory or of --hiera: all of its values are secret."""
    (tmp_path / "data").mkdir()
    vault(tmp_path / "data/default.yaml", "a: from-file\nb: '{{ Host.name }}-host'\n")
    vault(tmp_path / "h.yaml", "data: {c: from-hiera}\n")
    made = plan(
        tmp_path,
        site("{{ Data.a }} {{ Data.b }} {{ Data.c }}"),
        secret_keys=keys,
        data_dir=str(tmp_path / "data"),
        hiera=[str(tmp_path / "h.yaml")],
    )
    assert {"from-file", "web1-host", "from-hiera"} <= set(made.own_secrets)


def test_sources_of_one_plan_are_opened_side_by_side(tmp_path: Path, keys: KeySources) -> None:
    """Two commands that wait for each other, in data and in a resource."""
    from orchestrator.secrets.key_sources import CommandSource

    wait = "touch $1; for n in $(seq 400); do [ -e $OTHER ] && break; sleep 0.05; done; ls $OTHER"
    commands = {name: CommandSource(f"OTHER={other}; {wait}") for name, other in ("ab", "ba")}
    head = "data: {x: \"{{ secret('cmd:a/a') }}\"}"
    made = plan(
        tmp_path,
        site("{{ Data.x }}{{ secret('cmd:b/b') }}", head),
        secret_keys=keys._replace(commands=commands),
    )
    assert made.items[0].deferred_error == ""


def test_nothing_that_is_not_needed_is_read(tmp_path: Path, keys: KeySources) -> None:
    """A resource that control leaves out reads no secret."""
    text = site("{{ secret('cmd:echo/x') }}").replace(
        "{content", "{control: {if: 'false'}, content"
    )
    planner(tmp_path, text, secret_keys=keys).plan(FakeHost(), gathered())
    assert not (tmp_path / "ran").exists()


def test_a_turn_masks_what_it_reads(tmp_path: Path, keys: KeySources) -> None:
    """A template behind a file of the target is rendered later, and its secret is masked before."""
    content = "{{ file('/etc/x') }}{{ secret('v.yml#db.password') }}"
    made = plan(tmp_path, site(content), secret_keys=keys)
    assert "hunter2-hunter2" in made.own_secrets
    made.render(0, lambda path: b"x")


def test_validate_reads_none(tmp_path: Path, keys: KeySources) -> None:
    """What needs one is counted, with the reason; no command runs, no password is needed."""
    text = site("{{ secret('v.yml#anything') }}{{ secret('cmd:echo') }}")
    made = planner(tmp_path, text, secret_keys=keys._replace(vault={}), contact=False)
    check = made.examine(FakeHost())
    assert (check.known, dict(check.unknown)) == (0, {"secret.unread": 1})
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("secret('none.yml#a')", "there is no file 'none.yml'"),
        ("secret('vv.yml#a')", "(did you mean v.yml?)"),
        ("secret('cmd:no')", "ccm.yaml defines no command 'no'"),
        ("secret('plain.yml#a.b')", "plain.yml has no key 'b' under a (did you mean bb?)"),
        ("secret('torn.yml')", "the vault is damaged"),
        ("secret('v.yml#')", "has an empty key"),
        ("template('t.j2')", "t.j2:2:4: secret('gone.yml'): there is no file"),
        ("secret(Host.name)", "secret() takes literal text"),
        ("secret('v' ~ '.yml')", "secret() takes literal text"),
        ("secret()", "secret() takes literal text"),
        ("[secret] | first", "secret can be called only by its own name"),
    ],
)
def test_mistakes_show_before_any_host(
    tmp_path: Path, keys: KeySources, call: str, words: str
) -> None:
    """Sources and keys that are not there, without a key."""
    (tmp_path / "plain.yml").write_text("a: {bb: 1}")
    (tmp_path / "torn.yml").write_text("$ANSIBLE_VAULT;1.1;AES256\nabc\n")
    (tmp_path / "t.j2").write_text("\n{{ secret('gone.yml') }}")
    assert words in refused(tmp_path, site("{{ " + call + " }}"), secret_keys=keys, contact=False)


def test_an_encrypted_value_elsewhere(tmp_path: Path, keys: KeySources) -> None:
    """Only data is decrypted: a property has a template."""
    file = f"content: {inline('x', '              ')}"
    text = (
        f"ccm:\n  resources:\n    - file:\n        - /x:\n            {file}            mode: '1'"
    )
    words = "a value encrypted with !vault is allowed only in data and overrides"
    assert words in refused(tmp_path, text, secret_keys=keys)


def test_a_broken_value(tmp_path: Path, keys: KeySources) -> None:
    """A merge conflict and a wrong format show before any host."""
    lines = inline("x", "    ").splitlines()
    torn = "\n".join([*lines[:2], "    <<<<<<< HEAD", *lines[2:]])
    assert "merge conflict" in refused(tmp_path, f"data:\n  x: {torn}\n" + site("x"))
    expect_text(refused(tmp_path, "data: {x: !vault abc}\n" + site("x")))
    expect_text(refused(tmp_path, "data: {x: !age abc}\n" + site("x")))


def test_an_error_fails_what_reads_it(tmp_path: Path, keys: KeySources) -> None:
    """A property fails its resource, data refuses the host; neither shows what was printed."""
    made = plan(tmp_path, site("{{ secret('cmd:fail') }}"), secret_keys=keys)
    expect_text(made.items[0].deferred_error)
    head = "data: {x: \"{{ secret('cmd:fail') }}\"}"
    with pytest.raises(PlanError) as caught:
        plan(tmp_path, site("x", head), secret_keys=keys)
    expect_text(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_worker_reads_the_secrets_of_the_site(tmp_path: Path, keys: KeySources) -> None:
    """It asks the controller, which answers for what the site names and for nothing else."""
    head = f"data:\n  token: {inline('t0ken-t0ken', '    ')}"
    text = site("{{ secret('v.yml#db.password') }}{{ Data.token }}", head)
    here = planner(tmp_path, text, secret_keys=keys)
    worker = planner(tmp_path, text, contact=False)
    worker.forward_to(here.answer)
    made = worker.plan(FakeHost(), gathered())
    assert {"hunter2-hunter2", "t0ken-t0ken"} <= set(made.own_secrets)
    for reference in ("v.yml#db.ports", "v.yml", "v.yml#db", "v"):
        asked = {"secret": reference, "place": ".", "bounded": False}
        assert here.answer(asked) == {"error": ["the site reads no such secret", "secret", ""]}
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "v.yml").write_text((tmp_path / "v.yml").read_text())
    named = {"secret": "v.yml#db.password", "bounded": False}
    assert here.answer({**named, "place": "."}) == {"value": "hunter2-hunter2"}
    for place in ("below", "..", str(tmp_path / "below")):
        assert "error" in here.answer({**named, "place": place}), place
    other = {"tag": "vault", "inline": inline("other", "").partition("\n")[2]}
    assert "error" in here.answer(other)
    assert "error" in here.answer({"whole": "v.yml"})
