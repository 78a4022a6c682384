"""Keys of data that look misspelled, below the top of overrides and data files as well."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import planner
from tests.texts import expect_text

SITE = """\
data:
  app: {port: 80, limits: {files: 1}}
  ports: {http: 80}
  users: {ann: {shell: sh}}
  sites: [{name: a, max_body: 1}, {name: b}]
hierarchy: {order: ["role:{{ Facts.role }}"], merge: deep}
overrides:
  "role:web":
    OVER
ccm:
  resources:
    - exec:
        - "{{ Data.app.port }} {{ Data.app.limits.files }} {{ Data.app.colour | default(1) }}": {}
        - "p {{ key }}": {foreach: Data.ports}
        - "u {{ key }} {{ item.shell }}": {foreach: Data.users}
        - "s {{ item.name }} {{ template('t.j2') }}": {foreach: Data.sites}
    - apply:
        - child.yaml: {data: {PASS}}
"""


def told(
    directory: Path, *, over: str = "{}", handed: str = "level: 1", file: str = ""
) -> list[str]:
    """What is told of these keys, without the file."""
    (directory / "t.j2").write_text(
        "Plain text about prto.zzz\n"
        "{% if item.max_body is defined %}{{ item['max_body'] }}{% endif %}"
    )
    (directory / "child.yaml").write_text(
        "data: {level: 0}\nccm: {resources: [{exec: [{'l {{ Data.level }}': {}}]}]}"
    )
    (directory / "data" / "role").mkdir(parents=True)
    (directory / "data" / "role" / "web.yaml").write_text(file or "{}")
    text = SITE.replace("OVER", over).replace("PASS", handed)
    made = planner(directory, text, data_dir=str(directory / "data"))
    return [str(one).rpartition("/")[2] for one in made.data_warnings()]


@pytest.mark.parametrize(
    ("over", "likely"),
    [
        ("app: {prot: 1}", "port"),
        ("app: {limits: {flies: 1}}", "files"),
        ("app: {limts: {files: 1}}", "limits"),
        ("app: {color: 1}", "colour"),
        ("users: {ann: {shel: sh}}", "shell"),
        ("sites: [{name: c, max_bdy: 1}]", "max_body"),
        ("sites: [{nmae: c}]", "name"),
    ],
)
def test_a_misspelled_key_below_an_override(tmp_path: Path, over: str, likely: str) -> None:
    """It is told with its place and the key that was probably meant."""
    (found,) = told(tmp_path, over=over)
    assert found.startswith("site.yaml:9:")
    assert f"by name, and no other data has it (did you mean {likely}?)" in found


def test_a_misspelled_key_of_a_data_file(tmp_path: Path) -> None:
    """It is told, at the top of the file as well as below."""
    found = told(tmp_path, file="ap:\n  port: 1\nprots: {http: 1}\nusers:\n  ann: {shel: sh}\n")
    assert [one.partition(":")[0] for one in found] == ["web.yaml"] * 3
    assert [one.rpartition("did you mean ")[2] for one in found] == ["app?)", "ports?)", "shell?)"]


def test_a_misspelled_key_for_a_child(tmp_path: Path) -> None:
    """The data of an apply is looked at, too."""
    (found,) = told(tmp_path, handed="levle: 1")
    expect_text(found)


@pytest.mark.parametrize(
    "over",
    [
        "app: {port: 1, limits: {files: 2}, colour: red}",
        "ports: {htpt: 80}",
        "ports: {https: 443, http2: 80, ssh: 22}",
        "users: {anna: {shell: sh}, bob: {shell: sh}}",
        "sites: [{name: c, max_body: 1}]",
        "app: {wholly: new}",
        "app: 1",
    ],
)
def test_keys_that_are_right(tmp_path: Path, over: str) -> None:
    """Names of entries, what data has or templates read, and what is like nothing else."""
    assert told(tmp_path, over=over) == []


def test_what_other_manifests_use(tmp_path: Path) -> None:
    """A data file that no order of the run can name is left to them."""
    assert told(tmp_path) == []
    (tmp_path / "data" / "other.yaml").write_text("app: {prot: 1}")
    made = planner(
        tmp_path, SITE.replace("OVER", "{}").replace("PASS", ""), data_dir=str(tmp_path / "data")
    )
    assert made.data_warnings() == []


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ("file: {mode: 1}\n  free: {node: 18}", "{{ Data.file.mode }} {{ Data.free | to_json }}"),
        ("app: {host: a, port: 1}\n  free: {hosts: [a]}", "{{ Data.app.host }} {{ Data.free }}"),
        ("limits: {memory: 1}\n  ulimits: {memlock: 1}", "{{ Data.limits.memory }}"),
        ("web: {port: 80}\n  db: {ports: [5432]}", "{{ Data.web.port }}"),
        ("names: {anna: 1, naan: 2}", "{{ Data.names['anna'] }} {{ Data.names | length }}"),
        ("cmd: {file: id}\n  look: {files: 1}", "{{ Data.cmd.file }}"),
    ],
)
def test_free_names(tmp_path: Path, data: str, names: str) -> None:
    """Keys of another map, and of one that is read as a whole, are not compared."""
    text = f"data:\n  {data}\nccm:\n  resources:\n    - exec: [{{{names!r}: {{}}}}]\n"
    assert [str(one) for one in planner(tmp_path, text).data_warnings()] == []


@pytest.mark.parametrize(
    "reader",
    [
        "{{ file('data/motd.txt') }}",
        "{{ 'the data' }}{{ ['Data'] | first }}",
        '{{ "all Data of it" | upper }}',
        "{{ template('prose.j2') }}",
        "{{ {'data': 1}.data }}",
    ],
)
def test_the_word_data_in_prose(tmp_path: Path, reader: str) -> None:
    """A text that has the word reads no data, so keys are compared as ever."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "motd.txt").write_text("All Data of this host, data and so on\n")
    (tmp_path / "prose.j2").write_text("It is Data. {{ Host.name }}\n")
    assert len(told_beside(tmp_path, reader)) == 1


@pytest.mark.parametrize(
    "reader",
    [
        "{{ Data | to_json }}",
        "{{ lookup('data') }}",
        "{{ lookup('data.' ~ Host.name) }}",
        "{{ template('whole.j2') }}",
        "{{ template('header.j2') }}",
    ],
)
def test_all_data_that_is_read(tmp_path: Path, reader: str) -> None:
    """Then each key has a free name."""
    (tmp_path / "whole.j2").write_text("It's here: {{ Data | to_json }}\n")
    (tmp_path / "header.j2").write_text(
        "#jinja2: variable_start_string: '<<', variable_end_string: '>>'\n<< Data | to_json >>\n"
    )
    assert told_beside(tmp_path, reader) == []


def told_beside(directory: Path, reader: str) -> list[str]:
    """What is told of a misspelled key of an override, where something else reads so."""
    text = (
        "data:\n  anna: {shell: sh}\nhierarchy: {order: [x]}\noverrides: {x: {naan: {shell: b}}}\n"
        "ccm:\n  resources:\n    - exec:\n"
        f"        - {{'x {{{{ Data.anna.shell }}}}': {{}}}}\n        - {reader!r}: {{}}\n"
    )
    return [str(one) for one in planner(directory, text).data_warnings()]
