"""What is asked of systemd over its socket, beside what systemctl says on a real host."""

from __future__ import annotations

import json
import shlex

from remote_runtime.resources.service import unit, unit_bus
from remote_runtime.resources.service.providers.systemd import SHOW

from ...lab import Lab
from ..on_host import apply

_SOCKET = "/run/systemd/private"
_ASK = """
import json, sys
from remote_runtime.resources.service import unit, unit_bus
names = json.load(sys.stdin)
json.dump(unit_bus.show({socket!r}, names, unit.PROPERTIES), sys.stdout)
"""
_IN_ANY_ORDER = ("RequiredBy", "BoundBy", "ConsistsOf", "ConflictedBy", "TriggeredBy")
OF_STOPPED = {"Type", "RemainAfterExit", "Result"}
_REFUSED = ["app@.service", "no:such|name.service"]


def alike(properties: dict[str, str]) -> dict[str, object]:
    """Properties without what systemctl adds for shells, and without the order of lists."""
    plain = {key: value.replace('"', "") for key, value in properties.items()}
    return {
        key: sorted(value.replace("\\\\", "\\").split()) if key in _IN_ANY_ORDER else value
        for key, value in plain.items()
    }


def test_every_unit_is_shown_as_systemctl_shows_it(lab: Lab) -> None:
    """Of every kind of unit, loaded or not, the same is known but for what starts and ends those
    that run; names that it refuses are left."""
    host = lab.hosts["web2"]
    apply(host)  # which brings the runtime there
    listed = host.run(
        "systemctl list-units --all --plain --no-legend --no-pager;"
        "systemctl list-unit-files --plain --no-legend --no-pager"
    ).stdout
    names = {line.split()[0] for line in listed.splitlines() if line.strip()}
    passing = ("session-", "user", "run-user")  # they come and go
    names = {name for name in names if "@." not in name and not name.startswith(passing)}
    names |= {"no-such.service", "a-b@c.service", "m@x@.service"}
    assert {name.rpartition(".")[2] for name in names} >= {"service", "socket", "target", "mount"}
    program = _ASK.format(socket=_SOCKET)
    host.write("/srv/ask.py", program)
    asked = json.dumps([*sorted(names), *_REFUSED])
    question = " ".join([*SHOW, "--", *map(shlex.quote, sorted(names))])
    for _ in range(5):  # what goes on there meanwhile changes units
        told = host.run("PYTHONPATH=/srv/ccm-runtime python3 /srv/ask.py", input=asked)
        found = json.loads(told.stdout)
        assert set(found) == names
        shown = unit.parse_show(host.run(question).stdout)
        differing = []
        for name, said in zip(sorted(names), shown, strict=True):
            if said["ActiveState"] in unit.RUNNING:
                assert not found[name].keys() & OF_STOPPED
                said = {key: value for key, value in said.items() if key not in OF_STOPPED}
            if alike(found[name]) != alike(said):
                differing.append((name, alike(found[name]), alike(said)))
        if not differing:
            break
    assert not differing
    assert {said["ActiveState"] in unit.RUNNING for said in shown} == {True, False}


def test_one_unit_alone_is_shown_at_once(lab: Lab) -> None:
    """However short the question is, systemd hears it."""
    host = lab.hosts["web2"]
    apply(host)
    host.write("/srv/ask.py", _ASK.format(socket=_SOCKET))
    told = host.run("PYTHONPATH=/srv/ccm-runtime python3 /srv/ask.py", input='["-.slice"]')
    assert json.loads(told.stdout)["-.slice"]["ActiveState"] == "active"


def test_the_path_of_a_unit() -> None:
    """A name becomes a part of a path as systemd writes it."""
    assert unit_bus.label("ssh.service") == "ssh_2eservice"
    assert unit_bus.label("1a@b-c.mount") == "_31a_40b_2dc_2emount"
    assert unit_bus.label("é") == "_c3_a9"
    assert unit_bus.label("") == "_"


def test_without_systemd_nothing_is_told() -> None:
    """Where there is no such socket, systemctl is left to say what is the matter."""
    assert unit_bus.show("/nonexistent/private", ["ssh.service"], unit.PROPERTIES) == {}
