"""Packages of a virtual environment on a booted host, which has no network; over SSH."""

import json

from tests.lab import Host
from tests.preview.template import PRELUDE
from tests.push.target import Target

SITE = """\
ccm:
  resources:
    - file:
        - DIR/theirs: {ensure: directory, owner: alice, group: alice, mode: "0755"}
    - package:
        - python3-venv: {}
        - my_app:
            environment: DIR/theirs/venv
            ensure: "1.0"
            index_url: https://token:swordfish@index.example.net/simple
        - helper: {provider: pip, environment: DIR/theirs/venv}
"""


def test_a_virtual_environment(remote: Target, host: Host) -> None:
    """It is made with what it needs, belongs to its user alone, and root runs nothing in it."""
    host.run(f"{PRELUDE}\nwheel My_App 1.0 'helper>=1'; wheel My_App 1.1; wheel helper 1.0")
    first = SITE.split("        - python3-venv")[0] + SITE.split("python3-venv: {}\n")[1]
    lacking = remote.push(first)
    assert lacking.code == 1, lacking.output
    assert "install the package python3-venv" in lacking.output

    preview = remote.push(SITE, "--noop")
    assert (preview.code, preview.event("package#my_app", "web1")["prediction"]) == (0, "unknown")
    done = remote.push(SITE)
    assert done.code == 0, done.output
    assert remote.statuses(done) == {
        "file#theirs": "stable",
        "package#python3-venv": "changed",
        "package#my_app": "changed",
        "package#helper": "stable",
    }
    assert "swordfish" not in done.output + json.dumps([*preview.events, *done.events])
    venv = f"{remote.directory}/theirs/venv"
    assert host.run(f"find {venv} ! -user alice").stdout == ""
    host.run(f"{venv}/bin/python -c 'import My_App, helper'")
    again = remote.push(SITE, "--detailed-exitcode")
    assert (again.code, set(remote.statuses(again).values())) == (0, {"stable"}), again.output

    newer = SITE.replace('ensure: "1.0"', "ensure: latest")
    told = remote.push(newer, "--noop").event("package#my_app", "web1")
    assert (told["prediction"], told["changes"][0]["to"]) == ("certain", "1.1")
    assert remote.push(newer).code == 0
    arguments = ["-i", str(remote.inventory), "-l", "web1"]
    found = remote.ccm.run("verify", *arguments, str(remote.ccm.site(remote.filled(newer))))
    assert found.code == 0, found.output

    # What alice puts in the place of her environment is not run as root.
    host.run(f"python3 -m venv /srv/ours && rm -r {venv}")
    host.run(f"su -s /bin/sh alice -c 'ln -s /srv/ours {venv}'")
    refused = remote.push(newer)
    assert "refusing to follow symlink" in refused.output
    assert not host.exists("/srv/ours/lib/python3.11/site-packages/My_App.py")
