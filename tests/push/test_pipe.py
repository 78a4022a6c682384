"""``ccm ensure api pipe``: what programs get for what they ask."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.cli import app
from orchestrator.fleet.checks.event_check import ADDED
from orchestrator.manifest.api_request import MAX_BYTES
from tests.lab import Lab
from tests.orchestrator.site_types.types import copy_cron
from tests.push.command import EVENT, Ccm, Run
from tests.push.target import Target

REQUEST = "io.choria.ccm.v1.resource.ensure.request"
RESPONSE = "io.choria.ccm.v1.resource.ensure.response"


def request(kind: str, **properties: Any) -> str:
    return json.dumps({"protocol": REQUEST, "type": kind, "properties": properties})


def pipe(ccm: Ccm, text: str, *options: str) -> Run:
    return ccm.run("ensure", "api", "pipe", *options, stdin=text)


def state(done: Run) -> dict[str, Any]:
    """The event of the one response."""
    response = json.loads(done.stdout)
    assert list(response) == ["protocol", "state"], done.output
    assert response["protocol"] == RESPONSE
    event: dict[str, Any] = response["state"]
    EVENT.validate({k: v for k, v in event.items() if k not in ADDED})
    return event


def error(done: Run) -> str:
    """The error of the one response, of a request that was not tried."""
    response = json.loads(done.stdout)
    assert list(response) == ["protocol", "error"], done.output
    assert done.stderr == ""
    assert done.code == 2
    text: str = response["error"]
    return text


def test_a_request_is_carried_out_here(ccm: Ccm, tmp_path: Path) -> None:
    """A preview says what would change, then it is changed, then it is stable."""
    path = tmp_path / "a"
    text = request("exec", name=f"touch {path}", creates=str(path))
    done = pipe(ccm, text, "--noop")
    assert (done.code, done.stderr) == (0, "")
    assert state(done)["noop_message"] == "Would have executed"
    assert not path.exists()
    assert state(pipe(ccm, text))["status"] == "changed"
    assert path.exists()
    assert state(pipe(ccm, text))["status"] == "stable"


def test_yaml_goes_in_and_comes_out(ccm: Ccm) -> None:
    """A YAML document is as good as a JSON one; ``--yaml`` answers in YAML."""
    text = f"protocol: {REQUEST}\ntype: exec\nproperties:\n  name: 'true'\n"
    assert state(pipe(ccm, text))["status"] == "changed"
    response = yaml.safe_load(pipe(ccm, text, "--yaml").stdout)
    assert response["protocol"] == RESPONSE
    assert response["state"]["name"] == "true"


def test_a_failed_resource_is_a_state(ccm: Ccm) -> None:
    """The request was tried: the event says that it failed, the exit code too."""
    done = pipe(ccm, request("exec", name="false"))
    assert done.code == 1
    assert state(done)["failed"] is True


def test_json_means_what_json_says(ccm: Ccm, tmp_path: Path) -> None:
    """Tabs, escapes and numbers that YAML would read differently."""
    path = tmp_path / "a"
    text = request("exec", name=f"echo WORD > {path}", provider="shell", returns=[0])
    text = text.replace(", ", ",\n\t").replace("WORD", "\\ud83d\\ude00 \\/")
    assert state(pipe(ccm, text))["status"] == "changed"
    assert path.read_text() == "\U0001f600 /\n"


def test_templates_are_rendered_unless_told_otherwise(ccm: Ccm, tmp_path: Path) -> None:
    """Properties mean what they mean in a manifest; ``render: false`` is for foreign text."""
    path = tmp_path / "a"
    text = "{{ lookup('data.word') }}"
    shell = {"name": "word", "provider": "shell", "command": f"echo '{text}' > {path}"}
    data = ("--data", "word=rendered")
    assert state(pipe(ccm, request("exec", **shell), *data))["status"] == "changed"
    assert path.read_text() == "rendered\n"
    shell["command"] = shell["command"].replace("'data.word'", '"data.word"')
    pipe(ccm, request("exec", **shell, render=False), *data)
    assert path.read_text() == '{{ lookup("data.word") }}\n'


REFUSED = {
    "": "there is no request on standard input",
    "[1, 2]": "a request must be a map, not a list",
    '{"protocol": ': "invalid JSON",
    json.dumps({"type": "exec", "properties": {"name": "x"}}): "the protocol is missing",
    json.dumps({"protocol": "io.v2", "type": "exec", "properties": {"name": "x"}}): (
        "stdin:1:14: the protocol is 'io.v2', expected 'io.choria.ccm.v1.resource.ensure.request'"
    ),
    request("fil", name="/a"): "there is no resource type 'fil' (did you mean file?)",
    request("exec"): "name is missing",
    request("exec", name=5): "name must be text, not a number",
    request("exec", name="a", comand="b"): "exec has no property 'comand' (did you mean command?)",
    request("file", name="/a", owner="root"): "group",
    request("exec", name="a", timeout="soon"): "timeout",
    request("exec", name="a", command="{{ 1 + }}"): "stdin:1:",
    request("exec", name="a", require=["exec#b"]): "require requires a session",
    request("exec", name="a")[:-1] + ', "noop": true}': "a request: unknown key 'noop'",
    request("exec", name="a")[:-1] + ', "type": "file"}': "type",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_tried_is_an_error(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The response holds an error in place of a state, and the exit code is 2."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code = app.main(["ensure", "api", "pipe"])
    assert REFUSED[text] in error(Run(code, *capsys.readouterr(), []))


def test_a_request_has_a_largest_size(ccm: Ccm) -> None:
    """More than 16 MiB is not read into memory."""
    assert "larger than 16 MiB" in error(pipe(ccm, " " * (MAX_BYTES + 1)))


def test_a_bad_inventory_is_an_error_too(ccm: Ccm) -> None:
    """Whatever keeps the request from being tried is answered on stdout."""
    done = pipe(ccm, request("exec", name="true"), "-i", "nowhere.yaml")
    assert "nowhere.yaml" in error(done)


def test_hosts_answer_a_line_each(ccm: Ccm, lab: Lab) -> None:
    """With an inventory a response says which host it is of; one that is not there is an error."""
    inventory = ccm.scratch / "hosts.yaml"
    inventory.write_text(
        lab.inventory()
        .read_text()
        .replace("hosts:\n", "hosts:\n  gone: {address: 127.0.0.1, port: 9}\n", 1)
    )
    done = pipe(ccm, request("exec", name="hostname"), "-i", str(inventory), "-l", "web1,gone")
    answers = {a["host"]: a for a in map(json.loads, done.stdout.splitlines())}
    assert done.code == 3
    assert answers["web1"]["state"]["status"] == "changed"
    assert answers["web1"]["state"]["host"] == "web1"
    assert "state" not in answers["gone"]
    assert answers["gone"]["error"]
    documents = pipe(
        ccm, request("exec", name="hostname"), "--yaml", "-i", str(inventory), "-l", "web1"
    )
    assert [d["host"] for d in yaml.safe_load_all(documents.stdout)] == ["web1"]


def test_requests_of_a_session_see_each_other(tmp_path: Path) -> None:
    """With CCM_SESSION_STORE set, require and subscribe name earlier requests."""
    store = tmp_path / "store"
    store.mkdir(mode=0o700)
    ccm = Ccm(tmp_path, {"CCM_SESSION_STORE": str(store)})
    assert state(pipe(ccm, request("exec", name="true")))["changed"] is True
    again = request("exec", name="echo", refresh_only=True, subscribe=["exec#true"])
    assert state(pipe(ccm, again))["refreshed"] is True
    assert len(list(store.glob("*.event"))) == 2
    assert "exec#nothing" in error(pipe(ccm, request("exec", name="a", require=["exec#nothing"])))


def test_secrets_do_not_come_back(ccm: Ccm) -> None:
    """A sensitive resource's values are masked in the response."""
    done = pipe(ccm, request("exec", name="a", command="echo hunter22; false", sensitive=True))
    assert "hunter22" not in done.output


def test_a_type_of_the_working_directory_is_known(remote: Target, tmp_path: Path) -> None:
    """A site's own type takes requests like any other."""
    copy_cron(tmp_path)
    remote.path("/etc/cron.d").mkdir(exist_ok=True)
    text = request("cronjob", name="a", schedule="@daily", command="true")
    done = pipe(remote.ccm, text, "-i", str(remote.inventory), "-l", "web1", "--noop")
    assert json.loads(done.stdout)["state"]["noop_message"] == "Would have created the job"
