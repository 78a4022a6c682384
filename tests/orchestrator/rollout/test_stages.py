"""Files of stages: what they may say, and what is told of mistakes in them."""

from pathlib import Path

import pytest

from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.shared_limits import SharedLimit
from orchestrator.rollout.stages import read_stages
from orchestrator.rollout.wave_sizes import Amount, parse_waves
from remote_runtime.errors import InputError
from tests.texts import expect_text


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "stages.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


WHOLE = """\
stages:
  - name: databases
    hosts: db
    manifest: db/site.yaml
    soak: 5m
  - name: migration
    hosts: web:&prod
    manifest: migrate.yaml
    take: 1
    data: {schema: {version: 7}}
  - name: web
    hosts: web
    manifest: web.yaml
    waves: 1,10%,100%
    max_fail: 5%
    gate: [verify, ./pool-is-well]
    per: rack=1
"""


def test_a_file_of_stages_is_read_whole(tmp_path: Path) -> None:
    """Words are those of flags, manifests start from the file's directory."""
    databases, migration, web = read_stages(written(tmp_path, WHOLE))
    assert (databases.name, databases.hosts, databases.soak) == ("databases", "db", 300.0)
    assert databases.manifest == str(tmp_path / "db/site.yaml")
    assert (migration.take, migration.data) == (1, {"schema": {"version": 7}})
    assert migration.hosts_at.line == 7
    assert web.waves == parse_waves("1,10%,100%")
    assert web.max_fail == Amount(5.0, percent=True)
    assert web.gate == ("verify", "./pool-is-well")
    assert web.per == (SharedLimit("rack", 1),)


def test_a_stage_goes_by_the_run_where_it_says_nothing(tmp_path: Path) -> None:
    """But for the budget, which of the run is one of all stages together."""
    databases, _, web = read_stages(written(tmp_path, WHOLE))
    whole = RolloutOptions(waves=parse_waves("50%"), max_fail=Amount(3.0), soak=7.0)
    assert databases.rollout(whole) == whole._replace(max_fail=None, soak=300.0)
    assert web.rollout(whole).waves == web.waves
    assert web.rollout(whole).max_fail == web.max_fail
    assert web.rollout(whole).soak == 7.0


ONE = "  - {name: a, hosts: all, manifest: site.yaml"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stages: []\n", "1:9: stages must not be empty"),
        (
            "stages:\n  - {name: a, hosts: all}\n",
            "2:5: stages[0]: required property 'manifest' is missing",
        ),
        (f"stages:\n{ONE}, wave: 1}}\n", "did you mean waves?"),
        (f'stages:\n{ONE}, waves: "3,2"}}\n', "waves: 2 comes after 3"),
        (f"stages:\n{ONE}, max_fail: 200%}}\n", "max_fail: '200%' is more than 100%"),
        (f"stages:\n{ONE}, per: rack}}\n", "per: 'rack' is not VARIABLE=N, such as rack=1"),
        (f"stages:\n{ONE}, soak: soon}}\n", "soak: 'soon' is not a duration"),
        (f"stages:\n{ONE}, gate: [verify, '']}}\n", "gate: the command is empty"),
        (f"stages:\n{ONE}, take: 0}}\n", "take must be at least 1"),
        (f"stages:\n{ONE}}}\n{ONE}}}\n", "3:12: duplicate stage 'a'"),
        (f"stages:\n{ONE}}}\nccm: {{}}\n", "a stages file contains only 'stages'"),
        (f"stages:\n{ONE}, stages: []}}\n", "stages cannot be nested"),
        ("stages:\n  - {name: a/b, hosts: all, manifest: x}\n", "2:12: "),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    """Where it stands, what is wrong, and what to do."""
    with pytest.raises(InputError) as told:
        read_stages(written(tmp_path, text))
    assert says in str(told.value)
    assert "stages.yaml:" in str(told.value)


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    """In the order of the file."""
    text = (
        f"stages:\n{ONE}, waves: 0, per: x}}\n  - {{name: b, hosts: all, manifest: y, soak: z}}\n"
    )
    with pytest.raises(InputError) as told:
        read_stages(written(tmp_path, text))
    assert [problem.where[1] for problem in told.value.problems if problem.where] == [2, 2, 3]


def test_stages_in_stages_are_refused(tmp_path: Path) -> None:
    """Where the manifest of one is a stages file itself."""
    (tmp_path / "site.yaml").write_text("stages: []\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_stages(written(tmp_path, f"stages:\n{ONE}}}\n"))
    expect_text(refused.value)
