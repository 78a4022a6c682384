"""Interpreters of commands and guards, each with the real program of Debian's package."""

import pytest

from tests.lab import Host
from tests.push.target import Target

# What each language says about one thing: a script that uses what only it has, over several lines,
# with text that is not ASCII; and a guard that is true if WORD is "yes" in the environment.
SCRIPTS = {
    "sh": ('for i in 1 2; do\n  printf "ä$i " >> out\ndone', '[ "$WORD" = yes ]'),
    "bash": (
        'words=(ä1 ä2)\nfor i in "${!words[@]}"; do printf "%s " "${words[i]}" >> out; done',
        "[[ $WORD == y?s ]]",
    ),
    "csh": (
        'set words = (ä1 ä2)\nforeach i ($words)\n  printf "%s " $i >> out\nend',
        'if ($WORD == "yes") exit 0\nexit 1',
    ),
    "perl": (
        'open my $out, ">", "out" or die;\nprint $out "ä$_ " for 1 .. 2;',
        'exit($ENV{WORD} eq "yes" ? 0 : 1);',
    ),
    "python": (
        'with open("out", "w", encoding="utf-8") as out:\n'
        "    for i in (1, 2):\n"
        '        print(f"ä{i}", end=" ", file=out)',
        'import os\nraise SystemExit(os.environ["WORD"] != "yes")',
    ),
    "ruby": (
        'File.open("out", "w") do |out|\n  (1..2).each { |i| out.print "ä#{i} " }\nend',
        'exit ENV["WORD"] == "yes"',
    ),
}
FAILING = {
    "sh": "exit 7",
    "bash": "exit 7",
    "csh": "exit 7",
    "perl": "exit 7;",
    "python": "raise SystemExit(7)",
    "ruby": "exit 7",
}


def block(text: str, indent: int = 14) -> str:
    """A text as a YAML block of its own lines."""
    return "|\n" + "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def resource(name: str, command: str, **properties: str) -> str:
    lines = "".join(f"            {key}: {value.rstrip()}\n" for key, value in properties.items())
    return f"        - {name}:\n            command: {block(command)}{lines}"


def site(*resources: str) -> str:
    return "ccm:\n  resources:\n    - exec:\n" + "".join(resources)


@pytest.mark.parametrize("language", SCRIPTS)
def test_commands_and_guards_in_each_language(remote: Target, language: str) -> None:
    """A script and both guards run in their language; what the guard's map sets is its own."""
    script, guard = SCRIPTS[language]
    options = {"interpreter": language, "guard_interpreter": language, "cwd": "DIR"}
    yes, no = '["WORD=yes"]', '["WORD=no"]'

    def mapped(environment: str) -> str:
        inner = f"environment: {environment}"
        return f"\n              command: {block(guard, 16)}              {inner}"

    done = remote.push(
        site(
            resource("runs", script, **options, environment=yes, onlyif=block(guard)),
            resource("no", FAILING[language], **options, environment=no, onlyif=block(guard)),
            resource("unless", FAILING[language], **options, environment=yes, unless=block(guard)),
            resource("override", script, **options, environment=no, onlyif=mapped(yes)),
            resource("override-no", "-", **options, environment=yes, onlyif=mapped(no)),
            resource("fails", FAILING[language], **options),
            resource("accepted", FAILING[language], **options, returns="[7]"),
            resource("guard-7", script, **options, onlyif=block(FAILING[language])),
        )
    )
    assert remote.statuses(done) == {
        "exec#runs": "changed",
        "exec#no": "stable",
        "exec#unless": "stable",
        "exec#override": "changed",
        "exec#override-no": "stable",
        "exec#fails": "failed",
        "exec#accepted": "changed",
        "exec#guard-7": "stable",
    }, done.output
    assert done.event("exec#fails")["error"][0].startswith(
        "desired state not achieved: exit code 7, expected 0"
    )
    appends = language in ("sh", "bash", "csh")
    assert remote.read("out") == "ä1 ä2 " * (2 if appends else 1)


# The RFC's examples, with a user, a group and a umask beside the directory and the environment.
INHERITED = """\
ccm:
  resources:
    - exec:
        - defaults:
            interpreter: bash
            guard_interpreter: bash
            cwd: /opt
            environment: ["JAVA_HOME=/usr/lib/java"]
            path: /opt/tools:/usr/bin:/bin
            user: appuser
            group: deploy
            umask: "027"
        - inherits:
            command: "true"
            onlyif: >-
              [[ $PWD == /opt && $JAVA_HOME == /usr/lib/java && $PATH == /opt/tools:* ]] && tool &&
              [[ $(id -un) == appuser && $(id -gn) == deploy && $(umask) == 0027 ]]
        - overrides:
            command: "true"
            onlyif:
              command: >-
                [[ $PWD == /var && $JAVA_HOME == "" && $OTHER == 1 && $PATH == /usr/bin:/bin ]] &&
                [[ $(id -un) == bob && $(id -gn) == appuser && $(umask) == 0002 ]] && exit 3
              cwd: /var
              environment: ["OTHER=1"]
              path: /usr/bin:/bin
              user: bob
              group: appuser
              umask: "002"
              returns: [3]
        - the-command-too:
            command: |
              echo "$PWD $JAVA_HOME $(id -un) $(id -gn)" > /tmp/as
              tool
            creates: /tmp/as
        - other-languages:
            command: raise SystemExit("$BASH" in globals())
            interpreter: python
            onlyif: '[[ -n $BASH ]]'
        - default-is-the-providers-way:
            command: "true"
            guard_interpreter: default
            onlyif: test 1 = 1
        - default-knows-no-bash:
            command: "true"
            provider: shell
            guard_interpreter: default
            unless: '[[ 1 == 1 ]] 2> /dev/null'
        - no-such-interpreter:
            command: "true"
            path: /nonexistent
            guard_interpreter: ruby
            onlyif: exit
        - no-powershell:
            command: Get-Date
            interpreter: powershell_script
"""


def test_guards_inherit_and_override(remote: Target, host: Host) -> None:
    """A guard has all of the exec's surroundings, and instead of them what its map sets."""
    host.write("/opt/tools/tool", "#!/bin/sh\nexit 0\n", mode=0o755)
    preview = remote.push(INHERITED, "--noop")
    done = remote.push(INHERITED)
    failing = {"exec#no-such-interpreter", "exec#no-powershell"}
    assert {i for i, status in remote.statuses(done).items() if status != "changed"} == failing
    words = preview.event("exec#inherits")["noop_message"]
    assert words == preview.event("exec#overrides")["noop_message"] == "Would have executed"
    assert "onlyif: program ruby not found" in done.event("exec#no-such-interpreter")["error"][0]
    assert "program pwsh not found" in done.event("exec#no-powershell")["error"][0]
    assert host.read("/tmp/as") == "/opt /usr/lib/java appuser deploy\n"
    assert host.run("stat -c '%U %G %a' /tmp/as").stdout == "appuser deploy 640\n"
