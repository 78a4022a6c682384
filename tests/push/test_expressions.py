"""A manifest written for Choria CCM, with expr-lang wherever expressions stand."""

import pytest
import yaml

from tests.push.target import Target

SITE = r"""
data:
  # @require
  # @validate isInt(value) && value > 1024
  port: 8080
  # @validate value matches "^[a-z]+$"
  user: app
  package_name: httpd
  enabled: true
  members:
    - {name: ann, admin: true}
    - {name: bob, admin: false}
  proto: "{{ lookup('facts.nope') ?? 'http' }}"

hierarchy:
  merge: deep
  order:
    - "{{ Facts?.nope?.deeper ?? '' }}"
    - "role:{{ lookup('facts.role') | lower() }}"

overrides:
  role:web:
    package_name: "{{ Facts.host.info.os contains 'lin' ? 'nginx' : 'apache2' }}"
    extra: {workers: "{{ max(2, 4) }}"}

ccm:
  resources:
    - file:
        - defaults:
            owner: OWNER
            group: GROUP
            mode: "0644"
        - DIR/conf:
            content: |
              package={{ Data.package_name | upper() }}
              port={{ Data.enabled ? Data.port + 1 : 0 }}
              admins={{ filter(Data.members, {.admin}) | map(.name) | join(",") }}
              workers={{ Data.extra?.workers ?? 1 }} proto={{ Data.proto }}
              log={{ Data.log?.level ?? `info` }}
              all={{ map(1..3, string(# * 2)) | join("-") }} {{ !Data.enabled }}
              shell=${HOME} ${ Data.nope ?? 1 }
              jinja={{ Data.members|length }} {{ 'x' if Data.enabled else 'y' }}
              default={{ Data.nope|default('d') }}
            control:
              if: lookup("facts.host.info.os") == "linux" && !("db" in ["web"])
              unless: Facts.role != "web" || lookup('data.nope', false)
        - DIR/skipped:
            content: never
            control:
              if: any(Data.members, .name startsWith "z")
    - exec:
        - "sh -c 'echo {{ Data.members[-1].name | upper() }}; exit 3'":
            returns: "{{ [0, 3] | filter(# > 0) }}"
            timeout: '{{ Data.enabled ? "10s" : "20s" }}'
            subscribe: [file#DIR/conf]
"""
EXEC = "exec#sh -c 'echo BOB; exit 3'"
CONF = """\
package=NGINX
port=8081
admins=ann
workers=4 proto=http
log=info
all=2-4-6 false
shell=${HOME} 1
jinja=2 x
default=d
"""


def test_a_manifest_of_choria_runs_unchanged(local: Target) -> None:
    """Data, annotations, the hierarchy, names, properties and control understand expr-lang."""
    done = local.push(SITE)
    assert done.code == 0, done.output
    assert local.read("conf") == CONF
    expected = {"file#conf": "changed", "file#skipped": "skipped", EXEC: "changed"}
    assert local.statuses(done) == expected
    assert local.event(local.push(SITE), "file#conf")["status"] == "stable"


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("8080", "80", "data.port: the value does not satisfy @validate isInt(value) && value"),
        (
            "user: app",
            "user: App1",
            "data.user: the value does not satisfy @validate value matches",
        ),
    ],
)
def test_data_that_breaks_an_annotation_is_refused(
    good: str, bad: str, words: str, local: Target
) -> None:
    """``@validate`` with expr-lang refuses a value before the host is changed."""
    done = local.push(SITE.replace(good, bad))
    assert done.code == 1
    assert words in done.output
    assert local.names() == []


def test_what_such_a_manifest_comes_to_can_be_looked_at(local: Target) -> None:
    """``ccm render`` shows the values, each of the type that its expression gives."""
    site = local.ccm.site(local.filled(SITE))
    done = local.ccm.run("render", str(site), "-i", str(local.inventory), "-l", "web1")
    assert done.code == 0, done.output
    conf, skipped, command = (
        properties
        for resource in yaml.safe_load(done.stdout)["ccm"]["resources"]
        for entry in next(iter(resource.values()))
        for properties in entry.values()
    )
    assert conf["content"] == CONF
    assert skipped["managed"] is False
    assert command["returns"] == [3]
    assert command["timeout"] == "10s"


BAD = r"""ccm:
  resources:
    - exec:
        - a:
            command: "echo {{ Data.x && lokup('y') }}"
            control:
              if: Data.x contain "y"
        - b:
            command: |
              one
              echo {{ date("2020") }} {{ Data.a | filter(# >) }}
        - c:
            command: >-
              echo {{ Data.x
              ?? uper(1) }}
            control:
              if: Data.x matches "(a" && true
"""
MISTAKES = (
    (
        "site.yaml:5:41: 'lokup' is not a name or function that templates can use (did "
        "you mean lookup?"
    ),
    "site.yaml:7:26: the expression 'Data.x contain \"y\"' cannot be parsed: expected an operator "
    "or the end, found 'contain' (did you mean contains?)",
    "site.yaml:11:23: the expression 'date(\"2020\")' cannot be parsed: date() is not supported "
    "here",
    "site.yaml:11:61: the expression 'Data.a | filter(# >)' cannot be parsed: expected a value",
    "site.yaml:15:18: 'uper' is not a name or function that templates can use (did you mean upper?",
    "site.yaml:17:34: the expression 'Data.x matches \"(a\" && true' cannot be parsed: matches "
    "'(a': missing ): (a (write \\( for the character)",
)


def test_mistakes_are_told_with_their_place_before_a_host_is_asked(local: Target) -> None:
    """``ccm validate`` names line, column and word of every mistake, in every form of text."""
    local.ccm.site(BAD)
    done = local.ccm.run("validate", "site.yaml")
    assert done.code == 2
    assert [mistake for mistake in MISTAKES if mistake not in done.output] == [], done.output
