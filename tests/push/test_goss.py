"""Goss rules of health checks, on a lab host over SSH and here."""

from tests.push.target import Target

HOST = """
data: {unit: ssh, wrong: {page: nothing like it}}
ccm:
  resources:
    - file:
        - DIR/checked:
            content: "x = 1"
            owner: OWNER
            group: GROUP
            mode: "0640"
            health_checks:
              - name: whole
                timeout: 20s
                goss_rules:
                  service:
                    "{{ Data.unit }}": {running: true, enabled: true}
                    no-such: {running: false, enabled: false}
                  port:
                    tcp:22: {listening: true, ip: [0.0.0.0]}
                  package:
                    openssh-server:
                      installed: true
                      versions: {contain-element: {match-regexp: '^1:\\d+'}}
                    nginx-light: {installed: false}
                  process: {sshd: {running: true}}
                  user:
                    deploy: {exists: true, uid: {ge: 1000}, groups: [deploy], shell: /bin/bash}
                    nobody-here: {exists: false}
                  group: {sudo: {exists: true, gid: 27}}
                  mount:
                    /proc: {exists: true, filesystem: proc, opts: [rw]}
                  kernel-param:
                    kernel.ostype: {value: Linux}
                  interface:
                    lo: {exists: true, addrs: [127.0.0.1/8]}
                  addr: {"tcp://127.0.0.1:22": {reachable: true}}
                  dns: {localhost: {resolvable: true}}
                  command: {"cat DIR/checked": {exit-status: 0, stdout: [x = 1]}}
                  file:
                    DIR/checked:
                      {exists: true, mode: "0640", owner: OWNER, contents: ["/^x = [0-9]$/"]}
"""


def test_every_kind_on_a_host(remote: Target) -> None:
    """Rules of every kind pass on a real host after the push, and with --monitor-only."""
    for options in ((), ("--monitor-only",)):
        done = remote.push(HOST, *options)
        assert done.code == 0, done.output
        event = done.event(f"file#{remote.directory}/checked")
        (result,) = event["health_check"]
        assert (result["status"], result["name"], result["tries"]) == ("OK", "whole", 1), result
        assert result["output"] == "31 of 31 passed"
        assert event.get("health_check_only", False) is bool(options)


FAILING = """
data: {file: DIR/there}
ccm:
  resources:
    - exec:
        - a:
            command: "true"
            health_checks:
              - tries: 2
                try_sleep: 10ms
                goss_rules:
                  file:
                    "{{ Data.file }}": {exists: true, mode: "0600"}
                    DIR/gone: {exists: true}
        - b:
            command: "true"
            sensitive: true
            health_checks: [{goss_rules: {file: {DIR/gone: {exists: true}}}}]
        - c: {command: "true", require: [exec#a]}
"""


def test_what_fails(target: Target) -> None:
    """A rule that fails makes its resource failed, with what was expected and what was found."""
    target.write("there", "x", 0o644)
    done = target.push(FAILING)
    assert done.code == 1
    (result,) = done.event("exec#a")["health_check"]
    there, gone = f"{target.directory}/there", f"{target.directory}/gone"
    assert result == {
        "name": "goss",
        "status": "CRITICAL",
        "tries": 2,
        "output": f'2 of 3 failed: file {there}: mode: expected "0600", found "0644"; '
        f"file {gone}: exists: expected true, found false",
    }
    assert "expected true, found false" in done.stdout
    assert done.event("exec#b")["failed"]
    assert "gone" not in str(done.event("exec#b"))
    assert done.event("exec#c")["unmet_requirements"] == ["exec#a"]
    preview = target.push(FAILING, "--noop")
    assert preview.code == 0
    assert "health_check" not in preview.event("exec#a")


WATCHED = """
ccm:
  resources:
    - exec:
        - a:
            command: touch DIR/ran
            health_checks: [{name: account, goss_rules: {user: {root: {exists: true, uid: 0}}}}]
"""


def test_monitoring_shows_what_is_well(local: Target) -> None:
    """With -v every check is shown, also one that is OK; without it only how many there are."""
    done = local.push(WATCHED, "--monitor-only", "-v")
    assert done.code == 0
    assert "unchanged exec#a" in done.stdout
    assert "health check 'account': OK: 2 of 2 passed" in done.stdout
    assert not local.path("ran").exists()
    done = local.push(WATCHED, "--monitor-only")
    assert "account" not in done.stdout
    assert "Health     1 ok" in done.stdout


REFUSED = """
data: {kind: mode}
ccm:
  resources:
    - exec:
        - a:
            command: touch DIR/ran
            health_checks:
              - goss_rules:
                  servce: {x: {running: true}}
                  file: {/x: {exists: true, mode: 420}}
              - goss_rules:
                  file: {/x: {exists: true, "{{ Data.kind }}": "0644", "contents": ["/(/"]}}
"""


def test_refused_before_any_host(local: Target) -> None:
    """Rules that are not supported are refused with their positions before a host is contacted."""
    done = local.push(REFUSED)
    assert done.code == 2
    for words in (
        "10:27: exec#a: goss_rules has no kind 'servce' (did you mean service?)",
        ": exec#a: file /x: mode must be text or a matcher, not 420 (quote it)",
        "'(' is not a regular expression",
    ):
        assert words in done.output
    assert not local.path("ran").exists()


def test_rules_that_templates_make(local: Target) -> None:
    """What a template makes of a rule is checked before the host is changed."""
    site = REFUSED.replace("servce", "service").replace("420", '"0644"').replace("/(/", "x")
    assert local.push(site.replace("kind: mode", "kind: mod")).code == 1
    assert not local.path("ran").exists()
    done = local.push(site.replace("kind: mode", "kind: mod"))
    assert "file /x has no property 'mod' (did you mean mode?)" in done.output
