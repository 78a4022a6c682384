"""What is secret stands in no sink: output, --json, events, run directory."""

import stat
from pathlib import Path

import pytest

from tests.push.command import Ccm, Run
from tests.push.target import Target

SITE = """\
data:
  # @secret
  password: hunter2-hunter2
  # @secret
  pem: |
    -----BEGIN KEY-----
    c2VjcmV0IGxpbmU=
    -----END KEY-----
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/config: {content: "password = {{ Data.password }}\\nport = 1\\n"}
        - DIR/pem: {content: "{{ Data.pem }}"}
        - DIR/quiet: {content: "quiet-content\\n", sensitive: true}
        - DIR/{{ Data.password }}-name: {content: x, owner: nobody-like-that}
    - exec:
        - defaults: {provider: shell, logoutput: true}
        - prints: {command: "echo {{ Data.password }}; echo {{ Data.password }} >&2; exit 1"}
        - flood: {command: "yes '{{ Data.password }}' | head -c 3000000; exit 1"}
        - quoted: {command: "no-such-program-'{{ Data.password }}'"}
        - cut: {command: "printf '%s\\n' '{{ Data.pem }}' >&2; exit 1"}
        - sensitive: {command: "echo quiet-output; echo quiet-error >&2; exit 1", sensitive: true}
        - "echo {{ Data.password }}": {sensitive: true, alias: "named-{{ Data.password }}"}
        - url: {command: "echo https://user:url-password@example.com/x >&2; exit 1"}
        - header: {command: "echo 'Authorization: Bearer bearer-token' >&2; exit 1"}
        - environment: {command: "env >&2; exit 1", environment: ["PGPASSWORD={{ Data.password }}"]}
        - guard: {command: "true", onlyif: "echo {{ Data.password }}; no-such-program"}
        - check:
            command: "true"
            health_checks: [{command: "sh -c 'echo got {{ Data.password }}; exit 2'"}]
        - error: {command: "true", cwd: "/nowhere/{{ Data.password }}"}
"""

SECRETS = (
    "hunter2", "c2VjcmV0", "quiet-content", "quiet-output", "quiet-error",
    "url-password", "bearer-token",
)  # fmt: skip


def sinks(target: Target, run: Run) -> dict[str, bytes]:
    """Everything that a run leaves, by name; the user's own manifest is not ours to hide."""
    scratch = target.ccm.scratch
    found = {"stdout": run.stdout.encode(), "stderr": run.stderr.encode()}
    for directory in ("state", "cache", "home"):
        for path in (scratch / directory).rglob("*"):
            if path.is_file():
                found[str(path.relative_to(scratch))] = path.read_bytes()
    found["events"] = (scratch / "events.jsonl").read_bytes()
    return found


@pytest.mark.parametrize("options", [("-v",), ("--json", "-v"), ("--noop",), ("--diff-private",)])
def test_no_sink_shows_a_secret(target: Target, options: tuple[str, ...]) -> None:
    """@secret data, sensitive resources, URL credentials and headers are masked everywhere."""
    target.write("config", "password = hunter2-hunter2\nport = 0\n")
    target.write("quiet", "quiet-content-before\n")
    done = target.push(SITE, *options)
    assert done.code == 1, done.output
    for name, content in sinks(target, done).items():
        for secret in SECRETS:
            assert secret.encode() not in content, f"{secret} in {name}"
    assert b"[masked]" in sinks(target, done)["events"]
    kept = target.ccm.run("report", "-v")
    assert not any(secret in kept.output for secret in SECRETS)
    if "--noop" not in options:
        assert target.read("config") == "password = hunter2-hunter2\nport = 1\n"
        assert "c2VjcmV0" in target.read("pem")
        assert target.read("quiet") == "quiet-content\n"
    change = target.event(done, "file#config")["changes"][0]
    assert "-port = 0" in change["diff"]
    assert "password = [masked]" in change["diff"]


def test_what_a_run_keeps_is_private(local: Target) -> None:
    """The run's directory and the runtime's cache can be read by their owner only."""
    Path(local.ccm.scratch, "home").chmod(0o755)
    done = local.push(SITE)
    assert done.code == 1
    runs = list((local.ccm.scratch / "state/ccm/runs").iterdir())
    assert runs
    caches = list(local.ccm.scratch.rglob(".cache/ccm"))
    for directory in [*runs, *caches]:
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700, directory


def test_a_local_target_gets_no_password_of_the_controller(tmp_path: Path) -> None:
    """With connection: local the runtime's environment holds none of the password variables."""
    ccm = Ccm(tmp_path, {"CCM_BECOME_PASSWORD": "s3cret-of-mine", "CCM_SSH_PASSWORD": "an0ther"})
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts:\n  here: {connection: local}\n")
    seen = tmp_path / "seen"
    command = f"tr '\\\\0' '\\\\n' < /proc/$PPID/environ > {seen}"
    site = (
        "ccm:\n  resources:\n    - exec:\n        - look:\n            provider: shell\n"
        f'            command: "{command}"\n'
    )
    done = ccm.push(inventory, site)
    assert done.code == 0, done.output
    assert "PATH=" in seen.read_text()
    assert "_PASSWORD" not in seen.read_text()
