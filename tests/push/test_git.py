"""A checkout on a booted host from a server over SSH, as a push leaves it; over SSH."""

import json
from pathlib import Path

from tests.lab import Host
from tests.lab.host import make_key
from tests.push.target import Target

SERVER = """\
set -e
install -d -o appuser -g appuser -m 700 /home/appuser/.ssh
install -o appuser -g appuser -m 600 /srv/key.pub /home/appuser/.ssh/authorized_keys
install -d -o appuser -g appuser /srv/git
su -s /bin/sh appuser -c '
git init -q -b main /srv/git/app; cd /srv/git/app
git config user.name x; git config user.email x
echo one > app; git add app; git commit -q -m one
'
"""
SITE = """\
ccm:
  resources:
    - file:
        - DIR/theirs: {ensure: directory, owner: alice, group: alice, mode: "0750"}
    - git:
        - DIR/theirs/app:
            url: appuser@127.0.0.1:/srv/git/app
            owner: alice
            ssh_key: KEY
            known_host: HOST
    - file:
        - DIR/theirs/app/own: {content: "x\\n", owner: alice, group: alice, mode: "0640"}
"""


def test_a_checkout_over_ssh(remote: Target, host: Host, tmp_path: Path) -> None:
    """The key opens the server, is in no file, and the checkout follows its branch as its owner."""
    key = tmp_path / "key"
    make_key(key, "deploy")
    secret = key.read_text("utf-8")
    host.write("/srv/key.pub", key.with_suffix(".pub").read_text("utf-8"))
    host.run(SERVER)
    site = SITE.replace("KEY", json.dumps(secret)).replace("HOST", host.public_host_key)

    preview = remote.push(site, "--noop")
    assert preview.code == 0, preview.output
    name = f"git#{remote.directory}/theirs/app"
    assert preview.event(name, "web1")["prediction"] == "certain"
    assert not remote.path("theirs").exists()
    done = remote.push(site)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    assert done.event(name, "web1")["changes"] == preview.event(name, "web1")["changes"]
    assert remote.read("theirs/app/app") == "one\n"
    path = f"{remote.directory}/theirs"
    assert host.run(f"find {path} ! -user alice").stdout == ""
    line = secret.splitlines()[1]
    host.run(f"! grep -rqF {line} {path} /root /tmp /home /var/lib/ccm /dev/shm")
    assert line not in done.output + json.dumps([*preview.events, *done.events])
    again = remote.push(site, "--detailed-exitcode")
    assert (again.code, set(remote.statuses(again).values())) == (0, {"stable"}), again.output

    host.run("su -s /bin/sh appuser -c 'cd /srv/git/app; echo two > app; git commit -qam two'")
    assert remote.push(site).code == 0
    assert remote.read("theirs/app/app") == "two\n"
    assert remote.read("theirs/app/own") == "x\n"
    other = site.replace(host.public_host_key, host.public_host_key[:-12] + "AAAAAAAAAAAA")
    refused = remote.push(other)
    assert "Host key verification failed" in refused.output
    found = remote.ccm.run(
        "verify",
        *("-i", str(remote.inventory), "-l", "web1"),
        str(remote.ccm.site(remote.filled(site))),
    )
    assert found.code == 0, found.output
