"""``ccm hiera parse``: which value wins for which host, without a push."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from orchestrator.cli import app
from tests.push.command import Ccm
from tests.texts import expect_text

SITE = """\
data:
  port: 80
  role: "{{ lookup('facts.role', 'none') }}"
  users: [root]
  # @secret
  password: sesame-{{ lookup('facts.role', 'none') }}
  # @secret
  pin: 123456
hierarchy:
  order: ["role:{{ lookup('facts.role', '') }}", "host:{{ Host.name }}"]
  merge: deep
overrides:
  "role:web": {port: 8080, users: [www]}
  "host:web2": {port: 8081}
ccm:
  resources: [{nonsense: []}]
"""


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    found = Ccm(tmp_path)
    found.site(SITE)
    found.site(
        "defaults: {connection: local}\nhosts: {db1: {}, web1: {vars: {role: web}},"
        " web2: {vars: {role: web}}}\n",
        "hosts.yaml",
    )
    return found


def parse(ccm: Ccm, *words: str) -> object:
    """The document that comes out."""
    done = ccm.run("hiera", "parse", *words)
    assert done.code == 0, done.output
    return json.loads(done.stdout)


def test_the_facts_given_decide(ccm: Ccm) -> None:
    """Offline, only the facts of the command line count, and secrets are masked."""
    assert parse(ccm, "--offline", "site.yaml", "--fact", "role=web") == {
        "port": 8080,
        "role": "web",
        "users": ["root", "www"],
        "password": "[masked]",
        "pin": "[masked]",
    }


def test_facts_may_follow_the_file(ccm: Ccm) -> None:
    """KEY=VALUE behind the file is a fact, as in Choria CCM."""
    behind = parse(ccm, "--offline", "site.yaml", "role=web")
    assert behind == parse(ccm, "--offline", "site.yaml", "--fact", "role=web")


def test_the_environment_may_be_facts(ccm: Ccm) -> None:
    """``-E`` makes facts of its variables, but for the secret ones; ``--fact`` goes over them."""
    ccm.environment |= {"role": "web", "DB_PASSWORD": "hunter22"}
    assert parse(ccm, "--offline", "-E", "site.yaml", "--query", "port") == 8080
    assert parse(ccm, "--offline", "site.yaml", "--query", "port") == 80
    assert parse(ccm, "--offline", "-E", "site.yaml", "role=db", "--query", "port") == 80
    ccm.site("data: {word: \"{{ lookup('facts.DB_PASSWORD', 'none') }}\"}\n", "word.yaml")
    assert parse(ccm, "--offline", "-E", "word.yaml") == {"word": "none"}


def test_yaml_comes_out_too(ccm: Ccm) -> None:
    """``--yaml`` writes the same as YAML."""
    done = ccm.run("hiera", "parse", "--offline", "--yaml", "site.yaml")
    assert yaml.safe_load(done.stdout)["port"] == 80
    assert done.stdout.startswith("port: 80\n")
    done = ccm.run("hiera", "parse", "--offline", "--yaml", "site.yaml", "--query", "port")
    assert done.stdout == "80\n"


def test_variables_for_a_shell(ccm: Ccm) -> None:
    """``--env`` writes what a shell can read, whatever is in the values; of one host only."""
    ccm.site('data: {port: 80, a-b: "it\'s", list: [1, x]}\n', "odd.yaml")
    done = ccm.run("hiera", "parse", "--offline", "--env", "odd.yaml")
    script = done.stdout + 'printf "%s|" "$HIERA_PORT" "$HIERA_A_B" "$HIERA_LIST"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert shell.stdout == '80|it\'s|[1, "x"]|'
    words = ("--env-prefix", "site", "--query", "port")
    done = ccm.run("hiera", "parse", "--offline", "--env", "odd.yaml", *words)
    assert done.stdout == "SITE_VALUE=80\n"
    assert ccm.run("hiera", "parse", "-i", "hosts.yaml", "--env", "odd.yaml").code == 2
    assert ccm.run("hiera", "parse", "-S", "--env", "odd.yaml").code == 0


def test_with_an_inventory_each_host_has_its_data(ccm: Ccm) -> None:
    """Vars and names of hosts choose the overrides; without ``--offline`` hosts are asked."""
    words = ("-i", "hosts.yaml", "-l", "web*", "--query", "port", "site.yaml")
    assert parse(ccm, *words, "--offline") == {"web1": 8080, "web2": 8081}
    assert parse(ccm, *words) == {"web1": 8080, "web2": 8081}


def test_this_host_is_asked_where_no_inventory_is_given(ccm: Ccm) -> None:
    """What templates use of the facts is that of this machine."""
    ccm.site("data: {kernel: \"{{ lookup('facts.host.info.os') }}\"}\n", "data.yaml")
    assert parse(ccm, "data.yaml") == {"kernel": "linux"}


def test_data_and_files_of_the_command_line_go_over_it(ccm: Ccm) -> None:
    """``--hiera`` and ``--data`` overlay in the order of the reference."""
    ccm.site("data: {port: 1, extra: {a: 1}}\n", "more.yaml")
    words = ("--offline", "site.yaml", "--hiera", "more.yaml", "--data", "extra.b=2")
    found = parse(ccm, *words)
    assert isinstance(found, dict)
    assert (found["port"], found["extra"]) == (1, {"a": 1, "b": 2})


def test_a_file_is_not_merged_with_itself(ccm: Ccm) -> None:
    """The file that is parsed counts once, also where the project's file names it as data."""
    ccm.site("data: {users: [root]}\n", "common.yaml")
    ccm.site("hiera: ./common.yaml\n", "ccm.yaml")
    done = ccm.run("hiera", "parse", "common.yaml")
    assert json.loads(done.stdout) == {"users": ["root"]}, done.output


def test_a_query_reaches_into_lists(ccm: Ccm) -> None:
    """The path is one of lookup(), with or without its first word."""
    assert parse(ccm, "--offline", "site.yaml", "--query", "users.0") == "root"
    assert parse(ccm, "--offline", "site.yaml", "--query", "data.users.#") == 1


def test_a_query_that_finds_nothing_is_an_error(ccm: Ccm) -> None:
    """A script must not take null for a value."""
    done = ccm.run("hiera", "parse", "--offline", "site.yaml", "--query", "prot")
    assert (done.code, done.stdout) == (1, "")
    expect_text(done.stderr)


def test_a_path_that_is_none_is_refused_at_once(ccm: Ccm) -> None:
    """A bad query is a mistake of the command line."""
    done = ccm.run("hiera", "parse", "-i", "hosts.yaml", "site.yaml", "--query", "a..b")
    assert done.code == 2, done.output


def test_mistakes_are_told_with_their_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them, before any host is asked; the resources are not looked at."""
    path = tmp_path / "bad.yaml"
    path.write_text("dta: {}\nhierarchy: {merge: depp}\ndata:\n  # @require\n  a: '{{ 1 + }}'\n")
    assert app.main(["hiera", "parse", str(path)]) == 2
    told = capsys.readouterr().err
    assert f"{path}:1:1: a data file: unknown key 'dta'" in told
    assert f"{path}:2:20: merge must be first or deep, not 'depp' (did you mean deep?)" in told
    assert f"{path}:5:" in told


def test_a_value_that_is_required_is_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The checks of the comments are made as for a push."""
    path = tmp_path / "site.yaml"
    path.write_text("data:\n  # @require\n  a: ''\n")
    assert app.main(["hiera", "parse", str(path)]) == 2
    assert f"{path}:3:3" in capsys.readouterr().err


EXPLAINED = """\
data:
  ntp: [base]
  users: [ann, bob]
  app:
    port: 80
    url: "http://{{ Host.name }}:{{ Data.app.port }}"
  # @secret
  pw: hunter22
hierarchy:
  order: ["role:{{ Facts.role }}", "site:no", "{{ Facts.nope }}", "host:{{ Host.name }}"]
  merge: deep
  keys: {ntp: first, users: unique}
  knockout: "--"
overrides:
  "role:web": {ntp: [role], users: [carl, --bob], pw: othersecret}
  "host:web1": {ntp: [host], users: [dora, ann], app: {port: 81}}
ccm:
  resources: [{exec: [{x: {}}]}]
"""


def explain(ccm: Ccm, key: str, *words: str) -> str:
    """What is told of a value on web1, without contacting it."""
    ccm.site(EXPLAINED)
    words = ("-i", "hosts.yaml", "-l", "web1", "--offline", *words)
    done = ccm.run("hiera", "explain", key, *words)
    assert done.code == 0, done.output
    return done.stdout


def test_each_part_of_a_value_has_its_origin(ccm: Ccm) -> None:
    """Every source is named in order, with what it has; then each part with file, line, entry."""
    expect_text(explain(ccm, "users"))


def test_a_source_that_does_not_count_is_told_as_such(ccm: Ccm) -> None:
    """With first, the entries behind the one that decides."""
    told = explain(ccm, "ntp")
    expect_text(told)


def test_the_command_line_and_other_files_are_sources(ccm: Ccm) -> None:
    """--hiera has its own place, --data none; a template is told by its place and its value."""
    ccm.site("data: {app: {name: x}}", "more.yaml")
    told = explain(ccm, "app", "--hiera", "more.yaml", "--data", "app.port=8080")
    assert "    app.port  8080                --data\n" in told
    assert '    app.url   "http://web1:8080"  data, site.yaml:6:10\n' in told
    assert '    app.name  "x"                 data, more.yaml:1:20\n' in told
    assert explain(ccm, "data.app.port").endswith("app.port  81  host:web1, site.yaml:16:62\n")


def test_options_stand_anywhere(ccm: Ccm) -> None:
    """Also between the arguments of an action; one that does not exist is named."""
    ccm.site(EXPLAINED)
    around = ("-i", "hosts.yaml", "--offline")
    done = ccm.run("hiera", "explain", "ntp", "-l", "web1", "site.yaml", *around)
    assert (done.code, done.stdout.splitlines()[0]) == (0, 'ntp on web1: ["role"]'), done.output
    done = ccm.run("hiera", "parse", "site.yaml", "-l", "web1", "extra=1", *around)
    assert done.code == 0, done.output
    done = ccm.run("hiera", "explain", "ntp", "--jsno", "site.yaml")
    assert done.code == 2
    expect_text(done.output)
    assert ccm.run("hiera", "explain", "--json").code == 2


def test_later_sources_are_shown_with_their_own_merge(ccm: Ccm) -> None:
    """The manifest's merge of a key holds over all sources; each file has its own within it."""
    more = "data: {users: [zoe, --ann]}\nhierarchy: {merge: deep}\n"
    ccm.site(f"{more}overrides: {{default: {{users: [zoe]}}}}", "more.yaml")
    told = explain(ccm, "users", "--hiera", "more.yaml")
    expect_text(told.splitlines()[:2])
    expect_text(told)
    document = json.loads(
        explain(ccm, "app", "--json", "--hiera", "more.yaml", "--data", "app.x=1")
    )
    sources = [(one["source"], one["merge"]) for one in document["web1"]["sources"]]
    assert sources == [
        *((None, "deep"),) * 5,
        *(("more.yaml", "deep"),) * 2,
        ("--data", None),
    ]


def test_secrets_are_masked_in_every_source(ccm: Ccm) -> None:
    """Those that another source replaces, too."""
    told = explain(ccm, "pw") + explain(ccm, "pw", "--json")
    assert "hunter22" not in told
    assert "othersecret" not in told


def test_an_explanation_for_programs(ccm: Ccm) -> None:
    """One document, by host."""
    told = json.loads(explain(ccm, "ntp", "--json"))["web1"]
    assert (told["value"], told["merge"], told["found"]) == (["role"], "first", True)
    assert told["parts"] == [
        {"path": "ntp.0", "value": "role", "entry": "role:web", "where": "site.yaml:15:22"}
    ]
    assert [one["entry"] for one in told["sources"]][:2] == ["data", "role:web"]


def test_a_value_that_nothing_has(ccm: Ccm) -> None:
    """The sources are told all the same; a key that is none is refused."""
    ccm.site(EXPLAINED)
    words = ("-i", "hosts.yaml", "-l", "web1", "--offline")
    done = ccm.run("hiera", "explain", "nope.x", *words)
    assert (done.code, "nope.x on web1: not set" in done.stdout) == (1, True)
    assert ccm.run("hiera", "explain", "a..b", *words).code == 2
    ccm.site(EXPLAINED.replace("app: {port: 81}", 'app: {port: "--"}'))
    done = ccm.run("hiera", "explain", "app.port", *words)
    assert (done.code, "app.port on web1: removed by a later source" in done.stdout) == (1, True)


def test_render_explains_in_comments(ccm: Ccm) -> None:
    """All of it is YAML still."""
    ccm.site(EXPLAINED)
    done = ccm.run(
        "render", "--explain", "-i", "hosts.yaml", "-l", "web1", "--offline", "site.yaml"
    )
    assert done.code == 0, done.output
    assert '#     users.1  "carl"  role:web, site.yaml:15:37\n' in done.stdout
    assert "hunter22" not in done.stdout
    assert list(yaml.safe_load(done.stdout)) == ["ccm"]


EMPTY = """\
data:
  app: {opts: {}, rows: [{}, []], args: [x]}
  users: [ann, ann]
  none: []
hierarchy: {merge: deep, knockout: "--", keys: {users: unique, none: unique}}
overrides:
  default: {app: {opts: {}, args: [--x]}, users: [--ann]}
ccm:
  resources: [{exec: [{x: {}}]}]
"""


def test_empty_maps_and_lists_have_an_origin(ccm: Ccm) -> None:
    """An empty map or list is a part, from the last source that has it or emptied it."""
    ccm.site(EMPTY)

    def parts(key: str) -> list[str]:
        """The parts of a value."""
        done = ccm.run("hiera", "explain", "--offline", key)
        assert done.code == 0, done.output
        return [
            " ".join(line.split()) for line in done.stdout.partition("parts:\n")[2].splitlines()
        ]

    assert parts("app") == [
        "app.opts {} default, site.yaml:7:25",
        "app.rows.0 {} data, site.yaml:2:26",
        "app.rows.1 [] data, site.yaml:2:30",
        "app.args [] default, site.yaml:7:35",
    ]
    assert parts("users") == ["users [] default, site.yaml:7:50"]
    assert parts("none") == ["none [] data, site.yaml:4:9"]
    done = ccm.run("hiera", "explain", "--offline", "app.opts", "--json")
    assert json.loads(done.stdout)["localhost"]["parts"] == [
        {"path": "app.opts", "value": {}, "entry": "default", "where": "site.yaml:7:25"}
    ]
