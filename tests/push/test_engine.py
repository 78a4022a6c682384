"""The order of things on a host: gates, subscriptions, templates, data, health checks."""

import os
from pathlib import Path

from tests.lab import Host, Lab
from tests.push.command import Ccm
from tests.push.target import Target

ORDER = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/one: {alias: first, content: "1\\n"}
        - DIR/off: {content: x, control: {if: "Facts.role == 'db'"}}
        - DIR/on: {content: x, control: {if: "Facts.role == 'web'", unless: "false"}}
        - DIR/unless: {content: x, control: {unless: "'web' in Facts.role"}}
        - DIR/broken: {content: x, owner: nobody-like-that}
        - DIR/gated: {content: x, require: ["file#DIR/broken"]}
        - DIR/gated-twice: {content: x, require: ["file#DIR/gated"]}
        - DIR/after-alias: {content: x, require: [file#first, "file#DIR/one"]}
        - DIR/after-off: {content: x, require: ["file#DIR/off"]}
    - exec:
        - on-file: {command: "true", refresh_only: true, subscribe: [file#first]}
        - on-exec: {command: "true", refresh_only: true, subscribe: [exec#on-file]}
        - on-broken: {command: "true", refresh_only: true, subscribe: ["file#DIR/broken"]}
        - on-skipped: {command: "true", refresh_only: true, subscribe: ["file#DIR/gated"]}
        - on-off: {command: "true", refresh_only: true, subscribe: ["file#DIR/off"]}
        - on-any: {command: "true", refresh_only: true, subscribe: ["file#DIR/off", "file#DIR/on"]}
    - file:
        - DIR/last: {content: "{{ Host.name }}", owner: OWNER, group: GROUP, mode: "0644"}
"""

EXPECTED = {
    "file#one": "changed",
    "file#off": "skipped",
    "file#on": "changed",
    "file#unless": "skipped",
    "file#broken": "failed",
    "file#gated": "skipped",
    "file#gated-twice": "skipped",
    "file#after-alias": "changed",
    "file#after-off": "changed",
    "exec#on-file": "changed",
    "exec#on-exec": "changed",
    "exec#on-broken": "stable",
    "exec#on-skipped": "stable",
    "exec#on-off": "stable",
    "exec#on-any": "changed",
    "file#last": "changed",
}


def test_gates_and_subscriptions(target: Target) -> None:
    """control, require, alias and subscribe decide alike in preview and push, in order."""
    fact = ("--fact", "role=web")
    preview = target.push(ORDER, "--noop", *fact)
    assert target.names() == []
    done = target.push(ORDER, *fact)
    for run in (preview, done):
        assert run.code == 1, run.output
        assert target.statuses(run) == EXPECTED
        assert list(target.statuses(run)) == list(EXPECTED)
        gated = target.event(run, "file#gated")
        assert gated["unmet_requirements"] == [target.id("file#broken")]
        assert target.event(run, "file#off")["unmet_requirements"] == []
        assert run.event("exec#on-exec")["refreshed"] is True
    assert target.read("last") == "web1"
    again = target.push(ORDER, *fact)
    assert again.event("exec#on-file")["status"] == "stable"

    stopped = target.push(ORDER.replace("ccm:\n", "ccm:\n  fail_on_error: true\n"), *fact)
    assert stopped.code == 1
    assert list(target.statuses(stopped)) == list(EXPECTED)[:5]


TEMPLATES = """\
data:
  greeting: hello
  list: [1, 2]
  nested: {deep: {key: "a value"}}
  text: "{{ 'never' }} twice"
  null_value: null
overrides:
  role-web: {greeting: "hello web", nested: {deep: {more: x}}}
  host-web1: {greeting: hello web1}
hierarchy:
  order: ["role-{{ Facts.role }}", "host-{{ Host.name }}", "{{ lookup('facts.nothing', '') }}"]
  merge: deep
ccm:
  pre_message: before it all
  post_message: after it all
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "{{ Data.mode }}"}
        - "DIR/{{ Host.name }}-{{ Data.list[1] }}":
            content: |
              {{ Data.greeting }} {{ lookup('data.nested.deep.key') }} {{ Data.nested.deep.more }}
              {{ lookup('facts.host.info.kernelArch') }} {{ Facts.role }} {{ Environ.WORD_OF_MINE }}
              {{ lookup('data.no', 'fallback') }} ${ Data.list[0] } ${HOME} $1 {% raw %} {# no #}
              {{ '{{' }} {{ file('beside.txt') }}{{ Data.from_hiera }}
        - DIR/raw: {content: "{{ Data.greeting }}\\n", render: false, mode: "0644"}
        - DIR/once: {content: "{{ Data.injected }}"}
"""


def test_templates_and_data(target: Target) -> None:
    """Facts, vars, data, environment and files on the controller come together in a template."""
    scratch = target.ccm.scratch
    (scratch / "beside.txt").write_text("beside {{ the manifest }}")
    (scratch / "hiera.yaml").write_text("data: {from_hiera: ' and hiera', mode: '0600'}\n")
    target.ccm.environment["WORD_OF_MINE"] = "environ"
    options = ["--fact", "role=web", "--hiera", str(scratch / "hiera.yaml"), "--data", "mode='640'"]
    done = target.push(TEMPLATES, *options, "--data", "injected='{{ Data.greeting }}'")
    assert done.code == 0, done.output
    assert target.read("web1-2") == (
        f"hello web1 a value x\n{os.uname().machine} web environ\n"
        "fallback 1 ${HOME} $1 {% raw %} {# no #}\n{{ beside {{ the manifest }} and hiera\n"
    )
    found = target.look("web1-2")
    assert found is not None
    assert found.mode == 0o640
    assert target.read("raw") == "{{ Data.greeting }}\n"
    assert target.read("once") == "{{ Data.greeting }}"
    assert "before it all" in done.stdout
    assert done.stdout.rstrip().endswith("after it all")


def test_monitoring_is_no_preview(local: Target) -> None:
    """--noop with --monitor-only is refused, because neither would be done."""
    done = local.push(TEMPLATES, "--noop", "--monitor-only")
    assert done.code == 2
    assert "--noop with --monitor-only" in done.stderr


def test_post_message_after_a_failure(target: Target) -> None:
    """The closing words are said where nothing failed, and not after a failure."""
    site = """
ccm:
  post_message: all is well
  resources: [{exec: [{run: {command: "COMMAND"}}]}]
"""
    assert (
        "all is well" in target.push(site.replace("COMMAND", "true"), "--detailed-exitcode").stdout
    )
    done = target.push(site.replace("COMMAND", "false"))
    assert done.code == 1
    assert "all is well" not in done.output


def test_data_differs_per_host(ccm: Ccm, lab: Lab, hosts: list[Host], tmp_path: Path) -> None:
    """The hierarchy is resolved for each host by its own vars and groups."""
    inventory = lab.inventory(
        tmp_path / "hosts.yaml",
        groups={"front": ["web1", "web2"]},
        hosts={"web2": {"vars": {"role": "cache"}}},
    )
    done = ccm.push(
        inventory,
        """\
data: {word: default}
overrides: {role-cache: {word: cache}, front: {word: front}}
hierarchy:
  order: ["role-{{ lookup('facts.role', 'none') }}", "{{ Host.groups[0] }}"]
ccm:
  resources:
    - file:
        - /srv/word:
            content: "{{ Data.word }} {{ Facts.host.info.hostname }}"
            owner: root
            group: root
            mode: "0644"
""",
    )
    assert done.code == 0, done.output
    words = [host.read("/srv/word") for host in hosts]
    assert words == ["front web1", "cache web2", "default web3"]


DEFERRED = """\
ccm:
  resources:
    - exec:
        - measure: {command: "printf 4711 > DIR/measured", provider: shell, creates: DIR/measured}
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/token: {content: "{{ 'tok' }}en {{ Data.brace }}"}
        - DIR/copy: {content: "[{{ file('DIR/token') }}|{{ file('DIR/measured') }}]"}
        - DIR/missing: {content: "{{ file('DIR/nowhere') }}"}
        - DIR/skipped: {content: "{{ file('DIR/nowhere') }}", control: {if: "false"}}
        - DIR/wrong: {content: "{{ Data.nothing.at.all }}"}
        - DIR/gated: {content: "{{ Data.nothing }}", require: ["file#DIR/wrong"]}
    - exec:
        - use: {command: "touch DIR/used-{{ file('DIR/measured') }}"}
        - guard: {command: touch DIR/guarded, onlyif: "test {{ file('DIR/measured') }} = 4711"}
"""


def test_files_of_the_target_in_templates(target: Target) -> None:
    """file() with an absolute path sees what earlier resources wrote; its failure is its own."""
    data = ("--data", "brace='{{ Data.brace }}'")
    preview = target.push(DEFERRED, "--noop", *data)
    assert target.names() == []
    assert preview.code == 1, preview.output
    for name in ("file#copy", "exec#use", "exec#guard"):
        assert target.event(preview, name)["prediction"] == "unknown", name
        assert target.event(preview, name)["status"] == "changed", name
    done = target.push(DEFERRED, *data)
    assert done.code == 1, done.output
    # What stood in the file is no template, whatever it looks like.
    assert target.read("copy") == "[token {{ Data.brace }}|4711]"
    assert target.path("used-4711").exists()
    assert target.path("guarded").exists()
    statuses = target.statuses(done)
    assert statuses["file#missing"] == statuses["file#wrong"] == "failed"
    assert statuses["file#skipped"] == statuses["file#gated"] == "skipped"
    assert "nowhere" in target.event(done, "file#missing")["error"][0]
    wrong = target.event(done, "file#wrong")["error"][0]
    assert "nothing" in wrong
    assert "site.yaml:11:" in wrong


HEALTH = """\
ccm:
  resources:
    - exec:
        - defaults: {provider: shell}
        - ok: {command: "true", health_checks: [{command: "sh -c 'echo fine'"}]}
        - warning:
            command: "true"
            health_checks: [{command: "sh -c 'echo meh; exit 1'", name: w}]
        - critical: {command: "true", health_checks: [{command: "sh -c 'echo bad; exit 2'"}]}
        - strange: {command: "true", health_checks: [{command: "sh -c 'exit 77'"}]}
        - no-program: {command: "true", health_checks: [{command: no-such-check}]}
        - slow: {command: "true", health_checks: [{command: sleep 60, timeout: 300ms}]}
        - settles:
            command: "true"
            health_checks:
              - {command: "sh -c 'echo x >> DIR/tries; test $(wc -l < DIR/tries) = 3'",
                 tries: 5, try_sleep: 10ms}
        - gated: {command: "true", require: [exec#critical]}
"""


def test_health_checks(target: Target) -> None:
    """Checks run after the push and with --monitor-only, and their results decide the resource."""
    assert target.push(HEALTH, "--noop").code == 0
    assert target.names() == []
    for options in ((), ("--monitor-only",)):
        target.path("tries").unlink(missing_ok=True)
        done = target.push(HEALTH, *options)
        assert done.code == 1, done.output
        checks = {e["name"]: e["health_check"][0] for e in done.events if "health_check" in e}
        assert {name: check["status"] for name, check in checks.items()} == {
            "ok": "OK",
            "warning": "WARNING",
            "critical": "CRITICAL",
            "strange": "UNKNOWN",
            "no-program": "UNKNOWN",
            "slow": "CRITICAL",
            "settles": "OK",
        }
        assert checks["settles"]["tries"] == 3
        assert checks["warning"] == {"name": "w", "status": "WARNING", "tries": 1, "output": "meh"}
        failed = {e["name"] for e in done.events if e["failed"]}
        assert failed == {"critical", "strange", "no-program", "slow"}
        assert done.event("exec#gated")["unmet_requirements"] == ["exec#critical"]
        assert "bad" in done.stdout
