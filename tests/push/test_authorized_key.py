"""Keys as a push leaves them on a booted host, tried by a login with them; over SSH."""

import subprocess
from pathlib import Path

from tests.lab import Host
from tests.push.target import NAME, Target

OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFpBWFdKAaQ8dXALEfTKWlB5xXEA9XGjQ1NdXJ0U2tRn"

ALL = """\
ccm:
  resources:
    - user:
        - anna: {shell: /bin/sh}
    - authorized_key:
        - anna@laptop: {user: anna, key: "HERS", options: 'no-pty,command="echo \\"in, sh\\""'}
        - other: {user: anna, key: OTHER old}
        - anna: {ensure: absent, key: OTHER, path: "%h/none"}
"""

LOCKOUT = """\
ccm:
  resources:
    - authorized_key:
        - root: {key: OTHER, exclusive: true}
        - more: {user: root, key: OTHER}
"""


def test_keys(remote: Target, host: Host, tmp_path: Path) -> None:
    """A key of a planned user logs in, is previewed the same, and is stable then; the key of the
    push's own login stays."""
    key = tmp_path / "key"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "of anna", "-f", str(key)]
    subprocess.run(words, check=True)
    hers = key.with_suffix(".pub").read_text(encoding="utf-8").strip()
    site = ALL.replace("OTHER", OTHER).replace("HERS", hers)
    preview = remote.push(site, "--noop")
    assert preview.code == 0, preview.output
    assert {event["prediction"] for event in preview.events} == {"certain"}
    done = remote.push(site)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    again = remote.push(site, "--detailed-exitcode")
    assert again.code == 0, again.output
    options = ["-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no"]
    options += ["-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-F", "/dev/null"]
    said = subprocess.run(["ssh", *options, f"anna@{host.address}"], capture_output=True, text=True)
    assert said.stdout == "in, sh\n", said.stderr

    for options in (["--noop"], []):
        run = remote.push(LOCKOUT.replace("OTHER", OTHER), *options)
        assert run.code == 1, run.output
        (error,) = run.event("authorized_key#root", NAME)["error"]
        assert "removing the key SHA256:" in error
        assert "could lock out root" in error
        assert run.event("authorized_key#more", NAME)["status"] == "changed"
