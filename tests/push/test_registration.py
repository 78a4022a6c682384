"""Registrations: published after a push, read by the next one."""

import json
from typing import Any

import pytest

from tests.orchestrator.registration.test_nats_stream import server, url
from tests.push.command import Run
from tests.push.target import Target

__all__ = ["server", "url"]

SITE = """
data: {port: 8080}
ccm:
  resources:
    - exec:
        - web:
            command: "true"
            health_checks: [{goss_rules: {user: {root: {exists: true}}}}]
            register_when_stable:
              - cluster: prod
                service: web
                protocol: http
                address: 192.0.2.1
                port: "{{ Data.port }}"
                priority: 10
                ttl: 10m
                annotations: {host: "{{ Host.name }}"}
        - stable: {command: "false", creates: /, register_when_stable: [ENTRY]}
        - plain: {command: "true", register_when_stable: [ENTRY, ENTRY]}
        - broken: {command: "false", register_when_stable: [ENTRY]}
        - warned:
            command: "true"
            health_checks: [{command: sh -c 'exit 1'}]
            register_when_stable: [ENTRY]
        - sick:
            command: "true"
            health_checks: [{command: sh -c 'exit 2'}]
            register_when_stable: [ENTRY]
        - left-out: {command: "true", control: {if: "false"}, register_when_stable: [ENTRY]}
        - unmet: {command: "true", require: [exec#broken], register_when_stable: [ENTRY]}
"""
READER = """
ccm:
  resources:
    - file:
        - DIR/web.conf:
            owner: OWNER
            group: GROUP
            mode: "0644"
            content: |
              first {{ registrations('prod', '*', 'web', '*')[0].Address }}
              {{ registrations('prod', '*', 'web', '*').PrometheusFileSD() }}
              {{ jet('web.jet') }}
"""
JET = """\
[[ registrations("prod", "http", "web", "*").PrometheusFileSD() ]]
[[ range _, e := registrations("prod", "http", "web", "*") ]]\
server [[ e.Address ]]:[[ e.Port ]] weight [[ 256 - e.Priority ]] \
[[ e.Annotations.host ]] [[ e.TTL ]]
[[ end ]]"""


def site() -> str:
    text, number = SITE, 0
    while "ENTRY" in text:
        number += 1
        port = f", port: {number}" if number > 1 else ""
        entry = f"{{cluster: test, service: s{number}, protocol: p, address: h{port}}}"
        text = text.replace("ENTRY", entry, 1)
    return text


def registered(target: Target) -> dict[str, Any]:
    path = target.ccm.scratch / "state" / "ccm" / "registrations.json"
    if not path.exists():
        return {}
    return {entry["service"]: entry for entry in json.loads(path.read_text())["registrations"]}


def read(target: Target, *options: str) -> Run:
    (target.ccm.scratch / "web.jet").write_text(JET)
    return target.push(READER, *options)


def test_what_is_published(target: Target) -> None:
    """Only what was managed, did not fail and passed its checks is announced, never a preview."""
    assert target.push(site(), "--noop").code in (0, 1)
    assert registered(target) == {}
    done = target.push(site())
    assert done.code == 1
    # stable, and both of plain; then broken, warned, sick, left-out and unmet
    assert set(registered(target)) == {"web", "s1", "s2", "s3"}
    entry = registered(target)["web"]
    assert {k: v for k, v in entry.items() if k not in ("timestamp", "source")} == {
        "cluster": "prod", "service": "web", "protocol": "http", "address": "192.0.2.1",
        "port": 8080, "priority": 10, "ttl": "10m", "annotations": {"host": "web1"},
    }  # fmt: skip


def test_monitor_only(local: Target) -> None:
    """Where only checks are run, what has checks and passes them is announced again."""
    local.push(site(), "--monitor-only")
    assert set(registered(local)) == {"web"}


def test_a_port_that_changes(local: Target) -> None:
    """The old endpoint goes at once, also where the resource is as desired; others stay."""
    local.push(site())
    for _ in range(2):
        local.push(site(), "--data", "port=8081")
        path = local.ccm.scratch / "state/ccm/registrations.json"
        entries = json.loads(path.read_text())["registrations"]
        ports = [entry.get("port") for entry in entries if entry["service"] == "web"]
        assert (ports, len(entries)) == ([8081], 4)


def test_read_back(local: Target) -> None:
    """The next push renders what was announced, with expressions and in Jet templates."""
    local.push(site())
    done = read(local)
    assert done.code == 0, done.output
    first, *listed, last = filter(None, local.read("web.conf").splitlines())
    assert (first, last) == ("first 192.0.2.1", "server 192.0.2.1:8080 weight 246 web1 10m")
    text = "\n".join(listed)
    assert text[: len(text) // 2] == text[len(text) // 2 + 1 :]
    assert json.loads(text[: len(text) // 2]) == [
        {
            "targets": ["192.0.2.1:8080"],
            "labels": {"cluster": "prod", "protocol": "http", "service": "web", "host": "web1"},
        }
    ]


SCAFFOLDS = """
ccm:
  resources:
    - scaffold:
        - DIR/go: {source: tree-go, engine: go}
        - DIR/jinja: {source: tree-jinja, engine: jinja}
"""
TREES = {
    "go": '{{ range $e := registrations "prod" "*" "web" "*" }}{{ $e.Address }}:{{ $e.Port }}'
    "{{ end }}",
    "jinja": "{% for e in registrations('prod', '*', 'web', '*') %}{{ e.Address }}:{{ e.Port }}"
    "{% endfor %}",
}


def test_in_every_template_language(local: Target) -> None:
    """Scaffolds find registrations in the words of their languages."""
    pytest.importorskip("gotpl", reason="the extra ccm-push[go] is not installed")
    local.push(site())
    for engine, text in TREES.items():
        (local.ccm.scratch / f"tree-{engine}").mkdir()
        (local.ccm.scratch / f"tree-{engine}" / "list").write_text(text)
    done = local.push(SCAFFOLDS)
    assert done.code == 0, done.output
    assert local.read("go/list").strip() == "192.0.2.1:8080"
    assert local.read("jinja/list").strip() == "192.0.2.1:8080"


def test_over_nats(local: Target, url: str) -> None:
    """The same over a NATS server, whose password stands nowhere."""
    done = local.push(site(), "--registration", url)
    assert done.code == 1
    assert registered(local) == {}
    assert "not published" not in done.output
    local.ccm.environment["CCM_REGISTRATION"] = url
    assert read(local).code == 0
    assert "server 192.0.2.1:8080 weight 246" in local.read("web.conf")
    runs = local.ccm.scratch / "state" / "ccm" / "runs"
    assert not [p for p in runs.rglob("*") if p.is_file() and "s3cret" in p.read_text()]


GOOD = """
ccm:
  resources:
    - exec:
        - web:
            command: touch DIR/ran
            register_when_stable:
              - {cluster: prod, service: web, protocol: http, address: 192.0.2.1, port: 80}
"""


def test_a_server_that_is_down(local: Target) -> None:
    """The host's result stands, the run says what is missing and exits 1; lookups fail the file."""
    pytest.importorskip("nats", reason="the extra ccm-push[nats] is not installed")
    down = ("--registration", "nats://me:s3cret@127.0.0.1:1")
    done = local.push(GOOD, *down)
    assert local.path("ran").exists()
    assert done.code == 1
    assert done.event("exec#web")["failed"] is False
    assert "1 registration was not published: nats://127.0.0.1:1/REGISTRATION" in done.output
    assert "s3cret" not in done.output
    failed = read(local, *down)
    assert failed.code == 1
    assert "registrations(): nats://127.0.0.1:1/REGISTRATION cannot be used" in failed.output


def test_a_bad_place(local: Target) -> None:
    """What is no place for registrations is refused before a host is contacted."""
    done = local.push(GOOD, "--registration", "redis://me:s3cret@x")
    assert done.code == 2
    assert "redis://" in done.output
    assert "s3cret" not in done.output
    assert not local.path("ran").exists()
