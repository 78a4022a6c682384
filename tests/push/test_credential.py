"""Credentials as a booted host encrypts and its service manager decrypts them; over SSH."""

import json

from tests.lab import Host
from tests.push.target import Target

VALUE = "tr0ub4dor-and-three"
SITE = """\
ccm:
  resources:
    - credential:
        - db.password: {value: VALUE}
        - old: {ensure: absent}
    - service:
        - reader:
            unit: |
              [Service]
              ExecStart=/bin/sh -c 'cat %d/db.password > /run/seen'
              Type=oneshot
              RemainAfterExit=yes
              LoadCredentialEncrypted=db.password
            subscribe: ["credential#db.password"]
"""
FILE = "/etc/credstore.encrypted/db.password"


def test_a_service_gets_the_value(remote: Target, host: Host) -> None:
    """As previewed, once, masked everywhere, again after a change, and seen by a verify."""
    first = SITE.replace("VALUE", VALUE)
    preview = remote.push(first, "--noop")
    assert host.run(f"test -e {FILE}", check=False).returncode != 0
    done = remote.push(first, "--verify")
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    assert host.run("cat /run/seen").stdout == VALUE
    assert host.run(f"stat -c %a {FILE}").stdout == "600\n"
    assert VALUE not in json.dumps([preview.events, done.events]) + preview.output + done.output
    encrypted = host.read(FILE)
    assert VALUE not in encrypted

    again = remote.push(first, "--detailed-exitcode")
    assert again.code == 0, again.output
    assert host.read(FILE) == encrypted

    changed = remote.push(SITE.replace("VALUE", "another-value"))
    assert changed.event("service#reader", "web1")["refreshed"]
    assert host.run("cat /run/seen").stdout == "another-value"
