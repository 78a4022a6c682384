"""Commands: how they are read, when they run, as whom and in which surroundings."""

import os
import pwd

import pytest

from tests.lab import Host
from tests.push.target import Target

RUN = """\
ccm:
  resources:
    - exec:
        - /bin/touch "DIR/by name" DIR/it\\'s $HOME '*':
            cwd: DIR
        - words:
            command: sh -c 'printf "[%s]" "$@" > DIR/words' x "a b" 'c d' e\\ f "\\$g" | ; *
        - script:
            command: |
              set -e
              cd DIR && for i in 1 2 3; do echo $i; done | tac > script
              echo "${PATH%%:*} $0" >> script
            provider: shell
        - bash: {command: 'a=(1 2 3); [[ $a == 1 ]] && echo ${#a[@]} > DIR/bash', interpreter: bash}
        - sh: {command: 'echo $((1+1)) > DIR/sh', interpreter: sh}
        - python: {command: 'open("DIR/python", "w").write("py" * 2)', interpreter: python}
        - perl: {command: 'open(F, ">", "DIR/perl"); print F "p" x 3', interpreter: perl}
        - environment:
            command: env > environment
            provider: shell
            cwd: DIR
            environment: ["ONE=1", "TWO=a=b c"]
        - path:
            command: mine
            path: "DIR/bin:/usr/bin:/bin"
        - returns: {command: exit 3, provider: shell, returns: [3, 4]}
        - returns-replaces: {command: "true", returns: [3]}
        - fails: {command: "sh -c 'echo to stdout; echo to stderr >&2; exit 7'"}
        - killed: {command: "kill -9 $$", provider: shell}
        - no-program: {command: no-such-program --now}
        - no-directory: {command: "true", cwd: DIR/nowhere}
        - not-executable: {command: DIR/plain}
        - no-user: {command: "true", user: nobody-like-that}
        - umask: {command: "touch DIR/masked", umask: "077"}
        - unmask: {command: "touch DIR/unmasked", umask: "000"}
"""


def test_commands_run_as_written(target: Target) -> None:
    """Words, scripts, interpreters, surroundings and exit codes mean what the manifest says."""
    target.write(
        "bin/mine", "#!/bin/sh\necho mine $PATH > DIR/mine".replace("DIR", target.directory)
    )
    target.path("bin/mine").chmod(0o755)
    target.write("plain", "echo never\n")
    done = target.push(RUN)
    assert done.code == 1, done.output
    failing = {"returns-replaces", "fails", "killed", "no-program", "no-directory", "no-user"}
    failing.add("not-executable")
    for identity, status in target.statuses(done).items():
        wanted = "failed" if identity.partition("#")[2] in failing else "changed"
        assert status == wanted, (identity, done.output)
    names = target.names()
    assert {"by name", "it's", "$HOME", "*"} <= set(names)
    assert target.read("words") == "[a b][c d][e f][$g][|][;][*]"
    assert target.read("script") == "3\n2\n1\n/usr/bin /bin/sh\n"
    assert target.read("bash") == "3\n"
    assert target.read("sh") == "2\n"
    assert target.read("python") == "pypy"
    assert target.read("perl") == "ppp"
    assert target.read("mine") == f"mine {target.directory}/bin:/usr/bin:/bin\n"
    me = pwd.getpwuid(os.getuid())
    environment = dict(
        line.split("=", 1) for line in target.read("environment").splitlines() if line[:1] != "_"
    )
    assert environment == {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin",
        "LANG": "C",
        "LC_ALL": "C",
        "HOME": me.pw_dir,
        "USER": me.pw_name,
        "LOGNAME": me.pw_name,
        "SHELL": environment["SHELL"],
        "PWD": target.directory,
        "ONE": "1",
        "TWO": "a=b c",
    }
    modes = [found.mode for found in map(target.look, ("masked", "unmasked", "sh")) if found]
    assert modes == [0o600, 0o666, 0o644]
    errors = {name: target.event(done, f"exec#{name}")["error"] for name in failing}
    assert errors["fails"][0].startswith("desired state not achieved: exit code 7, expected 0")
    assert errors["fails"][1] == "to stderr"
    assert "exit code 0, expected 3" in errors["returns-replaces"][0]
    assert "signal 9" in errors["killed"][0]
    assert "no-such-program" in errors["no-program"][0]
    assert f"{target.directory}/nowhere" in errors["no-directory"][0]
    assert f"{target.directory}/plain" in errors["not-executable"][0]
    assert "nobody-like-that" in errors["no-user"][0]


GUARDS = """\
ccm:
  resources:
    - file:
        - DIR/there: {content: "x\\n", owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - creates: {command: touch DIR/ran-creates, creates: DIR/there, onlyif: touch DIR/asked}
        - creates-not: {command: touch DIR/ran-creates-not, creates: DIR/ran-creates-not}
        - creates-relative: {command: touch ran-relative, cwd: DIR, creates: there}
        - onlyif: {command: touch DIR/ran-onlyif, onlyif: test -e DIR/there}
        - onlyif-not: {command: touch DIR/ran-onlyif-not, onlyif: test -e DIR/missing}
        - unless: {command: touch DIR/ran-unless, unless: test -e DIR/missing}
        - unless-not: {command: touch DIR/ran-unless-not, unless: test -e DIR/there}
        - both: {command: touch DIR/ran-both, onlyif: "true", unless: "true"}
        - refresh-only: {command: touch DIR/ran-refresh, refresh_only: true}
        - subscribed:
            command: touch DIR/ran-subscribed
            refreshonly: true
            creates: DIR/there
            onlyif: "false"
            subscribe: ["file#DIR/there"]
        - shell-guard:
            command: touch DIR/ran-shell
            provider: shell
            onlyif: '[ -e there ] && ! [ -e missing ]'
            cwd: DIR
        - script-guard:
            command: touch DIR/ran-script
            guard_interpreter: python
            onlyif: import os, sys; sys.exit(not os.path.exists("DIR/there"))
        - bash-guard:
            command: touch DIR/ran-bash
            guard_interpreter: bash
            unless: '[[ -e DIR/missing ]]'
        - inherits:
            command: touch DIR/ran-inherits
            cwd: DIR
            environment: ["WORD=exec"]
            provider: shell
            onlyif: {command: '[ "$WORD" = exec ] && [ "$PWD" = DIR ]'}
        - overrides:
            command: touch DIR/ran-overrides
            cwd: DIR
            environment: ["WORD=exec"]
            timeout: 1m
            provider: shell
            onlyif:
              command: '[ "$WORD" = guard ] && [ "$PWD" = / ] && [ "$(umask)" = 0027 ] && exit 5'
              environment: ["WORD=guard"]
              cwd: /
              umask: "027"
              returns: [5]
        - guard-cannot-start: {command: touch DIR/ran-1, onlyif: no-such-guard}
        - guard-too-slow: {command: touch DIR/ran-2, unless: {command: sleep 60, timeout: 300ms}}
"""

RAN = "creates-not onlyif unless subscribed shell script bash inherits overrides"


@pytest.mark.long("ssh")
def test_conditions_decide(target: Target) -> None:
    """creates, guards, refresh_only and subscriptions decide, in a preview just as in the push."""
    preview = target.push(GUARDS, "--noop")
    assert not target.path("ran-subscribed").exists()
    assert preview.event("exec#subscribed")["noop_message"] == "Would have executed via subscribe"
    # The guards ran, and there was no file yet: these two see it as planned.
    assert preview.event("exec#creates")["status"] == "stable"
    assert preview.event("exec#creates-relative")["status"] == "stable"
    done = target.push(GUARDS)
    assert done.code == 1, done.output
    ran = sorted(name for name in target.names() if name.startswith("ran-"))
    assert ran == sorted(f"ran-{name}" for name in RAN.split())
    assert not target.path("asked").exists()
    assert done.event("exec#subscribed")["refreshed"] is True
    # In the preview an earlier command may bring the program of the guard.
    assert preview.event("exec#guard-cannot-start")["prediction"] == "unknown"
    assert "no-such-guard" in done.event("exec#guard-cannot-start")["error"][0]
    # It may be quicker after what earlier commands do: a failure of the push alone.
    assert preview.event("exec#guard-too-slow")["prediction"] == "unknown"
    assert "timed out after 0.3 s" in done.event("exec#guard-too-slow")["error"][0]
    again = target.push(GUARDS)
    assert again.event("exec#subscribed")["status"] == "stable"
    assert again.event("exec#creates-not")["status"] == "stable"
    third = target.push(GUARDS, "--noop")
    assert third.event("exec#onlyif")["noop_message"] == "Would have executed"
    assert third.event("exec#onlyif-not")["status"] == "stable"


NOTHING = """\
data: {empty: "", quote: "it's"}
ccm:
  resources:
    - exec:
        - defaults: {provider: shell}
        - touch DIR/by-name: {command: "{{ lookup('data.empty') }}"}
        - onlyif: {command: touch DIR/onlyif, onlyif: "{{ lookup('data.empty') }}"}
        - map: {command: touch DIR/map, onlyif: {command: "{{ lookup('data.empty') }}"}}
        - value: {command: touch DIR/value, environment: ["A={{ lookup('data.empty') }}"]}
        - quote: {command: touch DIR/quote, provider: posix, onlyif: "{{ lookup('data.quote') }}"}
        - last: {command: touch DIR/last}
"""


def test_texts_that_come_to_nothing(local: Target) -> None:
    """A template that leaves no command, guard or value fails its resource and runs nothing."""
    done = local.push(NOTHING)
    assert done.code == 1, done.output
    assert local.names() == ["last"]
    reasons = ["command must not be empty", "onlyif must not be empty", "onlyif.command must not"]
    reasons += ["environment: 'A=' is not KEY=VALUE", "quote at character 3 is not closed"]
    for event, reason in zip(done.events, reasons, strict=False):
        assert event["failed"]
        assert reason in event["error"][0]
        assert not event["error"][0].startswith("exec#"), "the event names its resource already"
    assert [event["status"] for event in done.events] == ["failed"] * 5 + ["changed"]


SECRET = """\
data:
  # @secret
  password: pass-by-environment
ccm:
  resources:
    - exec:
        - login:
            command: 'printf "$WORD" > DIR/out; echo "with $WORD"'
            provider: shell
            logoutput: true
            environment: ["WORD={{ lookup('data.password') }}"]
"""


def test_secrets_by_environment(local: Target) -> None:
    """A secret given by environment reaches the script and is masked wherever it is shown."""
    done = local.push(SECRET, "-v")
    assert done.code == 0, done.output
    assert local.read("out") == "pass-by-environment"
    assert "with [masked]" in done.output
    assert "pass-by-environment" not in done.output + str(done.events)


OTHER_USERS = """\
ccm:
  resources:
    - exec:
        - defaults: {provider: shell, cwd: /tmp}
        - as-user:
            command: id > /tmp/as-user; echo $HOME $USER $LOGNAME $SHELL >> /tmp/as-user
            user: appuser
        - as-group: {command: 'id -gn > /tmp/as-group', group: appuser}
        - as-both:
            command: id -un > /tmp/as-both; id -gn >> /tmp/as-both
            user: deploy
            group: appuser
        - by-id: {command: 'id -un > /tmp/by-id', user: "1000"}
        - guarded:
            command: id -un > /tmp/guarded
            user: appuser
            onlyif: test $(id -un) = appuser
        - guarded-other:
            command: id -un > /tmp/guarded-other
            user: appuser
            onlyif: {command: 'test $(id -un) = deploy', user: deploy}
"""


def test_other_users(remote: Target, host: Host) -> None:
    """Commands and guards run wholly as another user or group, supplementary groups included."""
    done = remote.push(OTHER_USERS)
    assert done.code == 0, done.output
    identity = host.run("runuser -u appuser -- id").stdout
    assert host.read("/tmp/as-user") == f"{identity}/home/appuser appuser appuser /bin/bash\n"
    assert host.read("/tmp/as-group") == "appuser\n"
    assert host.read("/tmp/as-both") == "deploy\nappuser\n"
    assert host.read("/tmp/by-id") == host.run("id -un 1000").stdout
    assert host.read("/tmp/guarded") == host.read("/tmp/guarded-other") == "appuser\n"
    assert {e["status"] for e in done.events} == {"changed"}


def test_a_command_for_a_shell_without_one(local: Target) -> None:
    """Signs of a shell are a warning beforehand; a word of a shell fails with the way out."""
    done = local.push("ccm: {resources: [{exec: [{x: {command: cd /tmp && ls}}]}]}")
    assert done.code == 1, done.output
    assert "exec#x: command: the provider posix passes && to" in done.output
    assert "site.yaml:1:" in done.output
    assert (
        "it is a shell builtin or keyword: set provider: shell" in done.event("exec#x")["error"][0]
    )
