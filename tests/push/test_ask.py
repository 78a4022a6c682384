"""Lookups on a host: in a push, a preview, a kept plan, with every engine, over one login."""

import json
from pathlib import Path

from tests.lab import Host
from tests.push.command import Run
from tests.push.target import Target

SITE = """\
data: {word: "{{ Asked.word.stdout.strip() }}"}
ccm:
  ask:
    word: {command: echo hello}
    conf: {file: DIR/app.conf}
    there: {stat: DIR/app.conf}
    gone: {stat: DIR/gone}
  defaults: {file: {owner: OWNER, group: GROUP, mode: "0644"}}
  resources:
    - file:
        - DIR/out:
            content: "{{ Data.word }} {{ Asked.there.mode }} {{ Asked.gone.exists }} CONTENT"
        - DIR/none: {content: x, control: {if: Asked.gone.exists}}
    - apply: [{role.yaml: {data: {name: out}}}]
"""
ROLE = """\
ccm:
  ask: {mine: {stat: "DIR/{{ Data.name }}"}}
  defaults: {file: {owner: OWNER, group: GROUP, mode: "0644"}}
  resources: [{file: [{DIR/child: {content: "{{ Asked.mine.kind }}"}}]}]
"""


def ready(target: Target, conf: str = "port = 1\n") -> str:
    """The site, with the file that it looks up."""
    target.write("app.conf", conf, 0o640)
    target.ccm.site(target.filled(ROLE), "role.yaml")
    return SITE.replace("CONTENT", "{{ Asked.conf.content }}")


def push(target: Target, site: str, *options: str) -> Run:
    done = target.push(site, *options)
    assert done.code == 0, done.output
    return done


def test_answers_are_in_the_plan(target: Target) -> None:
    """Over SSH and on this machine; what a run changes is what the next one is answered."""
    site = ready(target)
    done = push(target, site)
    assert target.read("out") == "hello 0640 false port = 1\n"
    assert target.read("child") == "absent"
    assert target.statuses(done)["file#none"] == "skipped"
    target.write("app.conf", "port = 2\n", 0o640)
    push(target, site)
    assert target.read("out").endswith("port = 2\n")
    assert target.read("child") == "file"
    assert set(target.statuses(push(target, site)).values()) == {"stable", "skipped"}


def test_one_login_has_it_all(remote: Target, host: Host) -> None:
    """Two manifests that ask cost no further connection, in a preview and in a push."""
    site = ready(remote)
    count = "journalctl -b -q -t sshd -g 'Accepted .* for ' | wc -l"
    for options in (("--noop",), ()):
        before = int(host.run(count).stdout)
        push(remote, site, *options)
        assert int(host.run(count).stdout) - before == 1


def test_a_preview_says_what_would_be_answered_otherwise(target: Target) -> None:
    """The child was answered before the file is there; the rest is certain."""
    site = ready(target)
    done = push(target, site, "--noop")
    child = target.event(done, "file#child")
    assert child["prediction"] == "assumed"
    reason = (
        "Asked.mine was answered before the first change, "
        f"but file#{target.directory}/out would change the answer"
    )
    assert child["prediction_reason"] == reason
    assert target.event(done, "file#out")["prediction"] == "certain"
    assert target.names() == ["app.conf"]


def test_a_plan_is_bound_to_the_answers(local: Target, tmp_path: Path) -> None:
    """It is pushed while they are what they were, and refused once one is another."""
    site = ready(local)
    words = ("-i", str(local.inventory), "-l", "web1")
    path = str(local.ccm.site(local.filled(site)))
    plan = str(tmp_path / "a.plan")
    made = local.ccm.run("plan", *words, "-o", plan, path)
    assert made.code == 0, made.output
    local.write("app.conf", "port = 2\n", 0o640)
    refused = local.ccm.run("push", plan)
    assert refused.code == 1
    assert f"the push does not match the plan: file#{local.directory}/out" in refused.output
    local.write("app.conf", "port = 1\n", 0o640)
    done = local.ccm.run("push", plan)
    assert done.code == 0, done.output
    assert local.read("out").endswith("port = 1\n")


def test_all_commands_that_make_plans_ask(local: Target) -> None:
    """render, verify, drift, hiera; without a host they say that nobody is asked."""
    site = local.ccm.site(local.filled(ready(local)))
    words = ("-i", str(local.inventory), "-l", "web1", str(site))
    rendered = local.ccm.run("render", *words)
    assert "hello 0640 false port = 1" in rendered.stdout, rendered.output
    offline = local.ccm.run("render", "--offline", *words)
    assert (
        offline.code,
        "Asked.word has no answer: this command contacts no host" in offline.stderr,
    ) == (
        1,
        True,
    )
    parsed = local.ccm.run("hiera", "parse", str(site))
    assert '"word": "hello"' in parsed.stdout, parsed.output
    push(local, ready(local))
    push(local, ready(local))
    verified = local.ccm.run("verify", *words)
    assert verified.code == 0, verified.output
    assert local.ccm.run("drift", *words).code == 0
    assert local.ccm.run("validate", "-i", str(local.inventory), str(site)).code == 0


def test_a_host_without_an_answer_is_refused(local: Target) -> None:
    """Before its first change, with the reason; a sensitive answer is masked in all output."""
    site = ready(local).replace("{file: DIR/app.conf}", "{file: DIR}")
    done = local.push(site)
    assert done.code == 1
    assert "Asked.conf has no answer: " in done.output
    assert "not a regular file (directory)" in done.output
    assert local.names() == ["app.conf"]
    masked = ready(local, "hunter2\n").replace("app.conf}", "app.conf, sensitive: true}", 1)
    shown = push(local, masked, "--noop")
    assert "hunter2" not in shown.output


def test_stages_ask_when_they_begin(local: Target, tmp_path: Path) -> None:
    """A preview cannot know what an earlier stage leaves, and says so; the push asks after it."""
    local.path("").mkdir(exist_ok=True)
    head = 'ccm:\n  defaults: {file: {owner: OWNER, group: GROUP, mode: "0644"}}\n'
    for name, rest in (
        ("one", "  resources: [{file: [{DIR/first: {content: x}}]}]\n"),
        (
            "two",
            "  ask: {first: {stat: DIR/first}}\n"
            '  resources: [{file: [{DIR/second: {content: "{{ Asked.first.exists }}"}}]}]\n',
        ),
    ):
        local.ccm.site(local.filled(head + rest), f"{name}.yaml")
    stages = tmp_path / "stages.yaml"
    one, two = ({"name": n, "manifest": f"{n}.yaml", "hosts": "all"} for n in ("one", "two"))
    stages.write_text(json.dumps({"stages": [one, two]}))
    words = ("push", "-i", str(local.inventory), str(stages))
    preview = local.ccm.run(*words, "--noop")
    assert preview.code == 0, preview.output
    text = " ".join(preview.stdout.split())
    assert "Asked.first was answered before the first change" in text
    assert "1 assumed" in text
    done = local.ccm.run(*words)
    assert done.code == 0, done.output
    assert local.read("second") == "true"
