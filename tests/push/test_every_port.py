"""A custom type that calls every method of every port changes no byte of a host in a preview."""

import json

from tests.lab import Host
from tests.preview.fingerprint import differing, look
from tests.push.target import Target

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "x-ccm-title": "Whatever can be called",
    "x-ccm-name": {"description": "Any word."},
    "x-ccm-example": "- evil:\n    - all:\n",
    "x-ccm-ensure": {"present": "It has been called (default)", "absent": "It has not"},
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "ensure": {
            "description": "`present` or `absent`.",
            "enum": ["present", "absent"],
            "default": "present",
        }
    },
}

TYPE = '''
import inspect
import sys

from remote_runtime.base import StateType
from remote_runtime.errors import ResourceError

WORDS = {
    "path": "/etc/motd", "target": "/etc/motd", "parent": "/srv", "name": "ccm-hello",
    "user": "games", "group": "games", "key": "kernel/domainname", "value": "ccm-bad",
    "data": b"bad", "text": "# bad", "mode": 0o777, "uid": 1, "gid": 1, "argv": ["touch", "/bad"],
    "module": "dummy", "manager": "apt", "repository": "bad", "properties": {}, "timeout": "1s",
    "force": True, "held": True, "url": "http://127.0.0.1:9/x", "limit": 10, "seconds": 1.0,
}
MISTAKES = ("AttributeError", "TypeError", "KeyError", "ValueError")  # it was called wrongly
OF_PORT = {("units", "name"): "ccm-daemon", ("accounts", "name"): "games"}


def new(module, kind, *values, **fields):
    __import__("remote_runtime." + module)
    return getattr(sys.modules["remote_runtime." + module], kind)(*values, **fields)


def special(port, method):
    """Arguments of methods that take more than words."""
    source = lambda: new("host.checkouts", "Source", "/root/origin", "main")
    table = "tmpfs", "/mnt", "tmpfs", "size=4k", "0", "0"
    entry = lambda: new("system.kernel.fstab", "Entry", *table)
    command = lambda: new("host.command", "of_command", "touch /bad", {}, "posix")
    request = lambda: new("downloads.request", "Request", "http://127.0.0.1:9/x", 5.0, "timeout")
    known = {
        "mount": lambda: [entry()],
        "remount": lambda: [entry(), entry()],
        "clone": lambda: ["/srv/clone", source(), None],
        "update": lambda: ["/root/origin", source(), new("host.checkouts", "Target", "0" * 40)],
        "execute": lambda: [command()],
        "extract": lambda: ["/root/a.tar", new(
            "host.downloads", "Extraction", "tar", "/srv", "", 9.0, 1 << 20, 9)],
        "fetch": lambda: [new(
            "host.downloads", "NewDownload", request(), "/etc/motd", 0o644, 0, 0)],
        "set_all_attributes": lambda: [[new(
            "host.file_ports", "NewAttributes", "/etc/motd", "file", mode=0o600)]],
        "add_user": lambda: ["ccm-bad", {"home": "/home/ccm-bad"}],
        "change_user": lambda: ["games", {"shell": "/bin/bad"}],
        "change": lambda: [
            new("packages.values", "Operation", "install", "1.0-1"),
            new("packages.values", "Installed")],
        "back_up": lambda: ["/etc/motd", "/etc/motd~"],
        "write": lambda: ["/etc/motd", b"bad"] if port == "files" else None,
        "symlink": lambda: ["/etc/passwd", "/etc/motd"],
    }
    return known[method]() if method in known else None


def call(found, port, name, done):
    function = getattr(found, name)
    try:
        needed = [one for one in inspect.signature(function).parameters.values()
                  if one.default is one.empty]
        word = lambda one: OF_PORT.get((port, one.name), WORDS.get(one.name, "bad"))
        values = special(port, name)
        if values is None:
            values = [word(one) for one in needed if one.kind in (0, 1)]
        result = function(*values, **{one.name: word(one) for one in needed if one.kind == 3})
    except Exception as error:
        done[port + "." + name] = type(error).__name__
        return
    done[port + "." + name] = "done"
    if type(result).__module__.startswith("remote_runtime.host"):
        every_method(result, port + "." + name, done)


def every_method(found, port, done):
    for name in dir(type(found)):
        if not name.startswith("_") and inspect.isfunction(getattr(type(found), name)):
            call(found, port, name, done)


class Resource(StateType):
    def attack(self, host):
        done = {}
        for port in PORTS:
            found = getattr(host, port, None)
            if found is not None:
                every_method(found, port, done)
        return done

    def read(self, host):
        self.attack(host)
        return None

    def desired(self):
        return {"called": "yes"}

    def apply(self, host, diff):
        done = self.attack(host).items()
        raise ResourceError("CALLED %s REFUSED %s" % (
            " ".join(name for name, how in done if how not in MISTAKES),
            " ".join("%s:%s" % each for each in done if each[1] in MISTAKES),
        ))

    def remove(self, host):
        self.attack(host)


PORTS = (
    "files", "accounts", "archives", "checkouts", "commands", "conditions", "contents",
    "credentials", "crontabs", "downloads", "kernel", "lists", "mounts", "packages", "reboots",
    "units",
)
'''

PREPARE = """
touch /root/a && tar -cf /root/a.tar -C /root a
mkdir -p /root/origin && cd /root/origin && git init -q -b main . 2>/dev/null || true
systemctl start ccm-daemon 2>/dev/null || true
"""

WRITES = (
    "accounts.add_user", "accounts.remove_user", "archives.extract", "checkouts.clone",
    "commands.run", "credentials.write", "crontabs.set_text", "downloads.fetch", "files.write",
    "kernel.set_value", "lists.refresh", "mounts.mount", "packages.of.change", "packages.of.hold",
    "reboots.reboot", "units.stop", "units.mask",
)  # fmt: skip


def test_every_method_of_every_port(remote: Target, host: Host) -> None:
    """In a preview of it, in ``read`` and in ``apply``, before and after something is planned."""
    types = remote.ccm.scratch / "types" / "evil"
    types.mkdir(parents=True)
    (types / "__init__.py").write_text('"""Evil."""\n')
    (types / "schema.json").write_text(json.dumps(SCHEMA))
    (types / "resource.py").write_text(f'"""Calls everything."""\n{TYPE}')
    host.run(PREPARE)
    before = look(host)
    site = "ccm: {resources: [{evil: [{first: {}}, {second: {}}]}]}\n"
    preview = remote.push(site, "--noop")
    assert differing(before, look(host)) == []
    texts = [event.get("prediction_reason") or event["error"][0] for event in preview.events]
    called = [text.partition("CALLED ")[2].partition(" REFUSED ")[0].split() for text in texts]
    assert [name for name in WRITES if name not in called[0]] == [], texts
    assert [name for name in WRITES if name not in called[1]] == [], texts
