"""The plan of one host."""

import json
from pathlib import Path

import jsonschema
import pytest

import schemas
from orchestrator.planning.resolved_manifest import resolved_manifest
from remote_runtime.errors import PlanError, ResourceError
from remote_runtime.plans import plan as runtime_plan
from tests.texts import expect_text

from .planned import FakeHost, entries, gathered, plan, planner, refused, refused_host

FILE = "owner: root, group: root, mode: '0644'"
MIXED = f"""
data:
  port: 80
  zero: 0
ccm:
  fail_on_error: true
  resources:
    - file:
        - /a: {{content: "port {{{{ Data.port }}}}\\n", {FILE}}}
        - /b: {{contents: plain, {FILE}, sensitive: true, alias: b}}
        - /c: {{source: in.txt, {FILE}, require: ["file#b"]}}
        - /d: {{source: /on/target, {FILE}}}
        - /e: {{content: "{{{{ lookup('data.nope') }}}}", {FILE}}}
        - /f: {{content: "{{{{ file('/etc/x') }}}}", {FILE}}}
        - "/{{{{ Host.name }}}}": {{ensure: directory, {FILE}}}
    - exec:
        - run:
            command: "echo {{{{ Data.port }}}}"
            control: {{if: "Data.port == 81"}}
            subscribe: ["file#/web1"]
            health_checks: [{{command: "check {{{{ Data.port }}}}", tries: 2}}]
"""


def mixed(directory: Path) -> str:
    (directory / "in.txt").write_text("from disk")
    return MIXED


def test_the_plan_has_what_the_manifest_says(tmp_path: Path) -> None:
    """Names and values are final, content is by reference, what is as its default is left out."""
    found = {entry["name"]: entry for entry in entries(plan(tmp_path, mixed(tmp_path)))}
    assert list(found) == ["/a", "/b", "/c", "/d", "/e", "/f", "/web1", "run"]
    assert found["/a"]["properties"]["content"]["size"] == len("port 80\n")
    assert (found["/b"]["sensitive"], found["/b"]["alias"]) == (True, "b")
    assert found["/c"]["require"] == ["file#b"]
    assert found["/d"]["properties"]["source"] == "/on/target"
    expect_text(found["/e"]["deferred_error"])
    assert "site.yaml:13:26" in found["/e"]["deferred_error"]
    assert found["/f"]["deferred_render"] is True
    assert "content" not in found["/f"]["properties"]
    assert found["run"] == {
        "type": "exec",
        "name": "run",
        "managed": False,
        "subscribe": ["file#/web1"],
        "health_checks": [{"command": "check 80", "tries": 2}],
    }


def test_the_payload_is_what_the_runtime_reads(tmp_path: Path) -> None:
    """The plan satisfies its schema, and the runtime's own parser gives the same items."""
    made = plan(tmp_path, mixed(tmp_path))
    message = json.loads(made.payload({"run_id": "1", "noop": True, "secrets": ["given"]}))
    jsonschema.validate(message, schemas.load("plan"))
    read = runtime_plan.parse(message)
    assert (read.fail_on_error, read.options.noop, read.secrets) == (True, True, ("given",))
    assert [item.id for item in read.items] == list(made.identities())
    assert list(read.items) == [
        item._replace(properties=read.items[item.index].properties) for item in made.items
    ]


def test_blobs_are_found_by_their_hash(tmp_path: Path) -> None:
    """Text and files come back byte for byte; another hash is not in the plan."""
    made = plan(tmp_path, mixed(tmp_path))
    texts = []
    for entry in entries(made):
        for value in entry.get("properties", {}).values():
            if isinstance(value, dict):
                blob = made.blob(value["$blob"])
                texts.append(b"".join(blob.chunks()))
                assert blob.size == len(texts[-1]) == value["size"]
    assert texts == [b"port 80\n", b"plain", b"from disk"]
    with pytest.raises(KeyError):
        made.blob("0" * 64)


def test_a_plan_knows_how_long_its_slowest_resource_may_take(tmp_path: Path) -> None:
    """All timeouts of one resource count, its guards' and its health checks' with all tries."""
    text = """ccm: {resources: [{exec: [
      {quick: {command: "true", timeout: 10s}},
      {slow: {command: "true", timeout: 1h, onlyif: {command: "true", timeout: 5m},
              health_checks: [{command: "true", tries: 3, try_sleep: 1m, timeout: 2m}]}}]}]}"""
    assert plan(tmp_path, text).longest() >= 3600 + 2 * 300 + 3 * (60 + 120)
    assert plan(tmp_path, "ccm: {resources: [{exec: [{x: {command: 'true'}}]}]}").longest() == 0
    tried = "{exec: [{x: {command: 'true', timeout: 1m, tries: 20, try_sleep: 30s}}]}"
    assert plan(tmp_path, f"ccm: {{resources: [{tried}]}}").longest() >= 20 * 60 + 19 * 30
    waits = plan(tmp_path, "ccm: {resources: [{wait: [{x: {port: 80}}]}]}")
    assert waits.longest() >= 300  # by default


def test_this_machine_is_not_rebooted(tmp_path: Path) -> None:
    """A plan that may reboot the machine of ccm itself is refused, with its place."""
    text = "ccm: {resources: [{reboot: [{now: {onlyif: 'true', control: {if: 'CONDITION'}}}]}]}"
    here, far = FakeHost(connection="local"), FakeHost()
    asked, left_out = (planner(tmp_path, text.replace("CONDITION", on)) for on in ("true", "false"))
    assert left_out.plan(here, gathered()).items
    assert asked.plan(far, gathered()).items
    with pytest.raises(PlanError) as refused:
        asked.plan(here, gathered())
    expect_text(refused.value)


def test_deferred_templates_are_rendered_at_their_turn(tmp_path: Path) -> None:
    """render reads the target's file, and what it read is never rendered again."""
    made = plan(tmp_path, mixed(tmp_path))
    asked = []

    def read(path: str) -> bytes:
        asked.append(path)
        return b"{{ 1 + 1 }}\n"

    assert made.render(5, read) == {"content": "{{ 1 + 1 }}\n"}
    assert asked == ["/etc/x"]


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"\xff", "not UTF-8"), (b"x" * ((1 << 20) + 1), "larger than 1 MiB")],
)
def test_a_file_of_the_target_is_bounded(tmp_path: Path, data: bytes, words: str) -> None:
    """What is no text or too large fails that resource."""
    made = plan(tmp_path, mixed(tmp_path))
    with pytest.raises(ResourceError, match=words):
        made.render(5, lambda path: data)


def test_a_file_may_name_the_next_one_but_not_without_end(tmp_path: Path) -> None:
    """A chain of files ends at a bound, however the target answers."""
    text = f'ccm: {{resources: [{{file: [{{/a: {{{FILE}, content: "{{{{ CHAIN }}}}"}}}}]}}]}}'
    chain = "file('/start')"
    for _ in range(70):
        chain = f"file({chain}|trim)" if chain.count("(") < 3 else chain
    made = plan(tmp_path, text.replace("CHAIN", chain))
    answers = {"/start": b"/next\n", "/next": b"/last\n", "/last": b"end"}
    assert made.render(0, answers.__getitem__) == {"content": "end"}
    with pytest.raises(ResourceError):
        made.render(1, answers.__getitem__)


def test_resources_without_templates_are_made_once(tmp_path: Path) -> None:
    """Two hosts share the very same outlines and bytes of what does not depend on them."""
    one = planner(tmp_path, mixed(tmp_path))
    first = one.plan(FakeHost(vars={"x": "1"}), gathered())
    second = one.plan(FakeHost(vars={"x": "2"}), gathered())
    assert first.resources[1] is second.resources[1]
    assert first.resources[6] is not second.resources[6]


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ("{ensure: '{{ ''presnt'' }}', OWN}", "did you mean present?"),
        ("{owner: root, group: root, mode: '{{ ''0888'' }}'}", "'0888' is not allowed"),
        ("{owner: root, group: root, mode: '{{ 420 }}'}", "quote it where it is set"),
        ("{owner: root, group: root, mode: '{{ true }}'}", "the template returns true"),
        ("{owner: '{{ Data.nope }}', group: root, mode: '0644'}", "nope"),
        ("{ensure: '{{ ''present'' }}'}", "required property 'owner' is missing"),
        ("{OWN, control: {if: 'Data.port'}}", "control must return true or false"),
        ("{OWN, control: {unless: 'Data.nope'}}", "nope"),
        ("{OWN, provider: '{{ ''x'' }}'}", "no provider 'x'"),
        ("{OWN, force: '{{ true }}'}", "force requires ensure: absent"),
        ("{OWN, content: '{{ Facts.cpu }}'}", "not available"),
    ],
)
def test_a_value_is_checked_again_once_it_is_known(
    tmp_path: Path, properties: str, words: str
) -> None:
    """What only rendering shows refuses that host, with the position."""
    text = "data: {port: 80}\nccm: {resources: [{file: [{/a: PROPERTIES}]}]}"
    text = text.replace("PROPERTIES", properties.replace("OWN", FILE))
    error = refused_host(tmp_path, text, gathered(unavailable={"cpu": "late"}))
    assert words in str(error)
    assert "site.yaml:2:" in str(error)
    assert error.kind == ("facts.timeout" if "Facts.cpu" in properties else error.kind)


def test_a_version_is_not_guessed_within_a_text_either(tmp_path: Path) -> None:
    """1.10 arrives as 1.1, so a release after it would name another version; a whole number does
    not change."""
    text = """data: {v: 1.10, epoch: 1, quoted: "1.10"}
ccm: {resources: [{package: [{a: {ensure: "{{ Data.VERSION }}-{{ Data.epoch }}"}}]}]}"""
    error = refused_host(tmp_path, text.replace("VERSION", "v"))
    expect_text(str(error))
    (item,) = plan(tmp_path, text.replace("VERSION", "quoted")).items
    assert item.properties["ensure"] == "1.10-1"


def test_a_number_from_data_becomes_text_where_only_text_fits(tmp_path: Path) -> None:
    """Numbers are written out at any depth; where the property takes numbers they stay."""
    text = """
data: {uid: 1000, codes: [0, 3], half: 0.5}
ccm:
  resources:
    - exec:
        - x: {user: "{{ Data.uid }}", umask: "022", onlyif: {command: "{{ Data.half }}"},
              returns: "{{ Data.codes }}"}
"""
    (item,) = plan(tmp_path, text).items
    assert item.properties == {
        "user": "1000",
        "umask": "022",
        "onlyif": {"command": "0.5"},
        "returns": [0, 3],
    }


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ("[{exec: [{a: {}}, {'{{ Data.a }}': {}}]}]", "exec#a is defined twice"),
        ("[{exec: [{'{{ Data.a }}': {}}, {b: {require: ['exec#c']}}]}]", "not in this run"),
        ("[{exec: [{'x': {alias: '{{ Data.a }}'}}, {a: {}}]}]", "exec#a is defined twice"),
    ],
)
def test_templated_names_are_checked_per_host(tmp_path: Path, resources: str, words: str) -> None:
    """Duplicates and references are checked once names are known, before the host is changed."""
    error = refused_host(tmp_path, f"data: {{a: a}}\nccm: {{resources: {resources}}}")
    assert words in str(error)


def test_nothing_deferred_is_rendered_for_what_control_leaves_out(tmp_path: Path) -> None:
    """A failing deferred template of a resource that is not managed does not matter."""
    text = "ccm: {resources: [{exec: [{a: {command: '{{ Data.no }}', control: {if: 'false'}}}]}]}"
    (item,) = plan(tmp_path, text).items
    assert (item.managed, item.deferred_error, item.properties) == (False, "", {})


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ("source: nowhere.txt", "cannot read"),
        ("source: folder", "is a directory"),
        ("source: nowhere.txt, alias: '{{ Host.name }}'", "cannot read"),
        ("content: '{{ file(''nowhere.txt'') }}'", "cannot read"),
    ],
)
def test_files_beside_the_manifest_are_opened_before_any_host(
    tmp_path: Path, properties: str, words: str
) -> None:
    """A literal file that is missing or no file refuses the run, with its position."""
    (tmp_path / "folder").mkdir()
    text = f"ccm: {{resources: [{{file: [{{/a: {{{FILE}, {properties}}}}}]}}]}}"
    message = refused(tmp_path, text)
    assert words in message
    assert "site.yaml:1:" in message


def test_a_source_that_a_host_decides_stays_in_the_directory(tmp_path: Path) -> None:
    """A fact cannot make the controller ship a file from outside the manifest's directory."""
    text = f"ccm: {{resources: [{{file: [{{/a: {{{FILE}, source: '{{{{ Facts.path }}}}'}}}}]}}]}}"
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret").write_text("x")
    made = planner(inner, text).plan(FakeHost(), gathered({"path": "../secret"}))
    expect_text(made.items[0].deferred_error)
    assert "source" not in made.items[0].properties


@pytest.mark.parametrize("name", ["x" * 5000, "\ud800", "a\0b", "a/" * 3000])
@pytest.mark.parametrize(
    "resource",
    [
        f"file: [{{/a: {{{FILE}, source: '{{{{ Facts.path }}}}'}}}}]",
        f"file: [{{/a: {{{FILE}, content: '{{{{ file(Facts.path) }}}}'}}}}]",
        "scaffold: [{/a: {source: '{{ Facts.path }}', engine: jinja}}]",
        "apply: [{'{{ Facts.path }}': {}}]",
        "apply: [{'sub/{{ Facts.path }}.yaml': {}}]",
    ],
)
def test_what_names_no_file_fails_that_host_only(tmp_path: Path, resource: str, name: str) -> None:
    """A host may give a name that no file can have; that is no defect of ccm."""
    made = planner(tmp_path, f"ccm: {{resources: [{{{resource}}}]}}")
    try:
        told = made.plan(FakeHost(), gathered({"path": name})).items[0].deferred_error
    except PlanError as error:
        told = str(error)
    assert told


def test_a_secret_is_masked_in_a_refusal(tmp_path: Path) -> None:
    """The message of a refused host does not show @secret data."""
    text = (
        f"data:\n  mode: sesame99  # @secret\nccm: {{resources: [{{file: [{{/a: {{{FILE}}}}}]}}]}}"
    )
    error = refused_host(tmp_path, text.replace("'0644'", "'{{ Data.mode }}'"))
    assert "sesame99" not in str(error)
    assert "[masked]" in str(error)


def test_content_that_holds_a_secret_is_veiled(tmp_path: Path) -> None:
    """No hash of it is to be told; so with a file beside the manifest, and with a login."""
    (tmp_path / "secret.txt").write_text("key sesame99\n")
    (tmp_path / "plain.txt").write_text("no key\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a").write_text("{{ Data.a }}")
    contents = {
        "/data": "content: 'is {{ Data.a }}'",
        "/url": "content: 'http://user:pass@host/'",
        "/file": "source: secret.txt",
        "/plain": "content: plain",
        "/other": "source: plain.txt",
        "/quiet": "content: '{{ Data.a }}', sensitive: true",
    }
    files = "\n".join(f"        - {path}: {{{one}, {FILE}}}" for path, one in contents.items())
    text = f"""
data:
  a: sesame99  # @secret
ccm:
  resources:
    - file:
{files}
    - scaffold:
        - /tree: {{source: tree, engine: jinja}}
"""
    made = plan(tmp_path, text)
    redacted = [entry["name"] for entry in entries(made) if entry.get("redact_hash")]
    assert redacted == ["/data", "/url", "/file", "/tree"]
    assert [item.name for item in made.items if item.redact_hash] == redacted


def test_an_announcement_is_masked(tmp_path: Path) -> None:
    """Annotations that everybody may read hold no @secret data, nor what is sensitive."""
    where = "cluster: c, service: s, protocol: http, address: h, port: 1"
    entry = f"register_when_stable: [{{{where}, annotations: {{a: 'is {{{{ Data.a }}}}', b: x}}}}]"
    text = f"""
data:
  a: sesame99  # @secret
ccm: {{resources: [{{exec: [{{shown: {{{entry}}}}}, {{quiet: {{sensitive: true, {entry}}}}}]}}]}}
"""
    made = plan(tmp_path, text)
    (shown,) = made.registrations("exec#shown")
    (quiet,) = made.registrations("exec#quiet")
    assert shown["annotations"] == {"a": "is [masked]", "b": "x"}
    assert quiet["annotations"] == {"a": "[masked]", "b": "[masked]"}
    assert (shown["address"], shown["port"]) == ("h", 1)


def test_an_announcement_is_rendered(tmp_path: Path) -> None:
    """The manifest of one host has its registrations as they come out, masked where sensitive."""
    where = "cluster: c, service: 's-{{ Host.name }}', protocol: http, address: h, port: 1"
    entry = f"register_when_stable: [{{{where}}}]"
    text = (
        f"ccm: {{resources: [{{exec: [{{a: {{{entry}}}}}, {{b: {{sensitive: true, {entry}}}}}]}}]}}"
    )
    made = planner(tmp_path, text)
    shown = resolved_manifest(made.site, made.plan(FakeHost(), gathered()))["ccm"]["resources"]
    assert shown[0]["exec"][0]["a"]["register_when_stable"][0]["service"] == "s-web1"
    assert "s-web1" not in str(shown[1])


@pytest.mark.parametrize(
    "resource",
    [
        "archive: [{/a: {url: 'http://h/a.zip', owner: r, group: r, password: SECRET}}]",
        "archive: [{/a: {url: 'http://h/a.zip', owner: r, group: r, headers: {X: [SECRET]}}}]",
        "package: [{a: {debconf: {a/b: {type: password, value: [SECRET]}}}}]",
        "package: [{a: {debconf: {a/b: {type: '{{ Data.x }}', value: [SECRET]}}}}]",
        "exec: [{a: {sensitive: true, command: [SECRET]}}]",
        "exec: [{a: {sensitive: true, environment: [SECRET]}}]",
    ],
)
def test_a_value_that_is_masked_is_not_told_when_it_is_refused(
    tmp_path: Path, resource: str
) -> None:
    """What is wrong with a password or a sensitive property is told without its value."""
    text = f"ccm: {{resources: [{{{resource}}}]}}"
    found = refused(tmp_path, text.replace("SECRET", "9977553311"))
    assert "9977553311" not in found
    assert "masked" in found


def test_a_password_that_data_gives_is_not_told_when_it_is_refused(tmp_path: Path) -> None:
    """The same holds where it shows only once the password is rendered."""
    archive = "/a.zip: {url: 'http://h/a.zip', owner: r, group: r, password: '{{ Data.x }}'}"
    text = f"data: {{x: [9977553311]}}\nccm: {{resources: [{{archive: [{{{archive}}}]}}]}}"
    error = refused_host(tmp_path, text)
    assert "9977553311" not in str(error)
    expect_text(str(error))


def test_a_part_of_a_map_that_is_secret(tmp_path: Path) -> None:
    """Of a map of maps, only the entries that its schema names are masked and not told."""
    entries = "a/b: {type: password, value: '{{ Data.x }}'}, a/c: {type: string, value: plain-text}"
    package = f"a: {{debconf: {{{entries}}}}}"
    text = f"data: {{x: hunter-22}}\nccm: {{resources: [{{package: [{{{package}}}]}}]}}"
    made = planner(tmp_path, text)
    plan = made.plan(FakeHost(), gathered())
    assert "hunter-22" in plan.secrets
    assert "plain-text" not in plan.secrets
    shown = str(resolved_manifest(made.site, plan))
    assert "hunter-22" not in shown
    assert "plain-text" in shown
    assert "9977553311" in refused(tmp_path, text.replace("plain-text", "[9977553311]"))


def test_missing_facts_that_nothing_touches_are_a_warning(tmp_path: Path) -> None:
    """An unavailable family alone does not refuse the host."""
    made = planner(tmp_path, "ccm: {resources: [{exec: [{a: {}}]}]}").plan(
        FakeHost(), gathered(unavailable={"cpu": "late"}, warnings=("slow disk",))
    )
    assert made.warnings == ["slow disk", "the facts 'cpu' are not available: late"]


def test_half_a_character_in_a_fact_harms_nobody(tmp_path: Path) -> None:
    """A lone surrogate travels as JSON escapes it; as a file's content it fails that resource."""
    text = f"""
ccm:
  resources:
    - exec:
        - x: {{command: "echo {{{{ Facts.half }}}}"}}
    - file:
        - /a: {{content: "{{{{ Facts.half }}}}", {FILE}}}
"""
    made = planner(tmp_path, text).plan(FakeHost(), gathered({"half": "\ud800"}))
    assert entries(made)[0]["properties"]["command"] == "echo \ud800"
    assert "unpaired surrogate" in made.items[1].deferred_error
