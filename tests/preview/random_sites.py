"""Random sites of all types of a host's state, previewed and then pushed (Linux, as root).

``python -m tests.preview.random_sites --count 20 --seed 1`` draws so many sites. What a preview
tells as certain has to come true, a preview must change nothing, and a push that did not fail must
be stable. What the resources are, chance decides, so that no failure is wanted and none is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import yaml

from .judging import CLASSES, told_in_vain
from .running import Corpus, Result
from .scenario import Scenario

USERS = ("anna", "bob", "app")
GROUPS = ("staff2", "app", "web")
DIRECTORIES = ("/srv/a", "/srv/a/b", "/srv/app", "/etc/app", "/opt/x")
FILES = ("/srv/a/f", "/srv/a/b/g", "/etc/app/app.conf", "/srv/app/run", "/opt/x/y")
UNITS = ("one", "two")
PACKAGES = ("pv-tool", "pv-web", "pv-lib", "tree")
KEYS = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2v0m3Jb5yq9Zc1F0a8yOe4n6sHq1v6wq6J0b1m2n3o first",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK3w1n4Kc6zr0Ad2G1b9zPf5o7tIr2w7xr7K1c2n3o4p second",
)
LINES = ("a = 1", "b = 2", "# note", "[main]", "port 80")
UNIT = """\
[Service]
ExecStart=/bin/sleep infinity
%s[Install]
WantedBy=multi-user.target
"""
PARAMETERS = ("ip_forward", "tcp_syncookies", "tcp_fin_timeout")
MODES = ("0644", "0600", "0755", "0750", "2775", "0440")

Pick = random.Random
Drawn = tuple[str, dict[str, Any]]


def drawn(seed: int) -> Scenario:
    """The site of a seed."""
    pick = random.Random(seed)
    made = [pick.choice(MAKERS)(pick) for _ in range(pick.randrange(4, 14))]
    resources: list[Any] = []
    ids: list[str] = []
    for kind, entry in made:
        name, properties = next(iter(entry.items()))
        resource = f"{kind}#{name}"
        if resource in ids:
            continue
        if ids and pick.random() < 0.15:
            properties["require"] = [pick.choice(ids)]
        if ids and kind in ("exec", "service") and pick.random() < 0.5:
            properties["subscribe"] = [pick.choice(ids)]
        ids.append(resource)
        resources.append({kind: [{name: properties}]})
    commands = {one: "a command may fail" for one in ids if one.startswith("exec#")}
    for resource in resources:
        ((kind, [entry]),) = resource.items()
        ((name, properties),) = entry.items()
        if commands.keys() & properties.get("require", ()):
            commands[f"{kind}#{name}"] = "it is skipped if that command fails"
    return Scenario(
        "random", f"seed-{seed}", setup=_setup(pick), resources=resources, inherent=commands
    )


def _setup(pick: Pick) -> str:
    """Shell that makes some of what the site manages, in another state."""
    maybe = [(0.4, f"mkdir -p -m {pick.choice(MODES[2:])} {one}") for one in DIRECTORIES]
    maybe += [(0.3, f"mkdir -p $(dirname {one}); printf '{_text(pick)}' > {one}") for one in FILES]
    maybe += [(0.3, f"groupadd {one}") for one in GROUPS]
    maybe += [(0.3, f"useradd {_home(pick)} {one}") for one in USERS]
    maybe += [(0.4, f'unit {one} "/bin/sleep infinity"') for one in UNITS]
    maybe += [(0.3, f"systemctl enable -q --now {one}") for one in UNITS]
    maybe.append((0.3, "apt-get install -qqy pv-tool >/dev/null"))
    maybe.append((0.3, "printf '5 * * * * true\\n' | crontab -"))
    maybe.append((0.2, "ln -s /srv/a /srv/link"))
    lines = [f"{{ {line}; }} || true" for chance, line in maybe if pick.random() < chance]
    return "\n".join(lines) or "true"


def _home(pick: Pick) -> str:
    return pick.choice(("-m", "-M", "-r"))


def _text(pick: Pick) -> str:
    return "".join(f"{pick.choice(LINES)}\\n" for _ in range(pick.randrange(4)))


def _absent(pick: Pick, properties: dict[str, Any], rarely: float = 0.15) -> dict[str, Any]:
    return {"ensure": "absent"} if pick.random() < rarely else properties


def _some(pick: Pick, **choices: Any) -> dict[str, Any]:
    """Some of these properties, each with one of its values."""
    return {key: pick.choice(values) for key, values in choices.items() if pick.random() < 0.4}


def _owned(pick: Pick) -> dict[str, Any]:
    return {
        "owner": pick.choice(("root", "root", *USERS)),
        "group": pick.choice(("root", "root", *GROUPS)),
        "mode": pick.choice(MODES),
    }


def _file(pick: Pick) -> Drawn:
    text = _text(pick).replace("\\n", "\n")
    given = {"content": text, **_owned(pick), **_some(pick, backup=[True], replace=[False])}
    return "file", {pick.choice((*FILES, "/srv/link/f")): _absent(pick, given)}


def _directory(pick: Pick) -> Drawn:
    given = {"ensure": "directory", **_owned(pick)}
    if pick.random() < 0.2:
        given.update(recurse=True, file_mode="0640", dir_mode="0750")
    return "file", {pick.choice(DIRECTORIES): _absent(pick, given, 0.1)}


def _link(pick: Pick) -> Drawn:
    path = pick.choice(("/srv/current", "/srv/a/link", *FILES[:2]))
    target = pick.choice([one for one in (*FILES, *DIRECTORIES, "nowhere") if one != path])
    return "link", {path: _absent(pick, {"target": target, **_some(pick, force=[True])})}


def _edit(pick: Pick) -> Drawn:
    way = pick.choice(
        (
            {"line": pick.choice(LINES), **_some(pick, match=["^a", "port"])},
            {"block": "x\ny\n"},
            {"settings": {"a": 5}, "format": "key=value"},
            {"replace": "8080", "match": "80"},
        )
    )
    return "edit", {pick.choice(FILES): {**way, **_some(pick, create=[True])}}


def _user(pick: Pick) -> Drawn:
    given = _some(
        pick,
        uid=[4001, 4002, 0],
        group=GROUPS,
        groups=[["web"], ["staff2", "web"], []],
        append=[True],
        home=["/srv/home", "/home/other"],
        shell=["/bin/sh", "/usr/sbin/nologin", "/bin/none"],
        comment=["A user"],
        system=[True],
        locked=[True, False],
        expires=["2030-01-01"],
        create_home=[True, False],
        generate_ssh_key=[True],
    )
    if "groups" not in given:
        given.pop("append", None)
    if given.get("system"):
        given.pop("generate_ssh_key", None)
    gone = {"ensure": "absent", **_some(pick, remove_home=[True])}
    return "user", {pick.choice(USERS): gone if pick.random() < 0.15 else given}


def _group(pick: Pick) -> Drawn:
    return "group", {
        pick.choice(GROUPS): _absent(pick, _some(pick, gid=[4101, 4102], system=[True]))
    }


def _key(pick: Pick) -> Drawn:
    given = {"user": pick.choice(USERS), "key": pick.choice(KEYS)}
    given.update(_some(pick, exclusive=[True], options=[["no-pty"]]))
    if pick.random() < 0.2:
        given = {**given, "ensure": "absent"}
        given.pop("exclusive", None)
    return "authorized_key", {pick.choice(("k1", "k2")): given}


def _cron(pick: Pick) -> Drawn:
    given = {"schedule": pick.choice(("5 3 * * *", "@daily")), "command": "true"}
    given.update(_some(pick, user=["root", *USERS], environment=[["A=b"]]))
    return "cron", {pick.choice(("job", "other-job")): _absent(pick, given)}


def _timer(pick: Pick) -> Drawn:
    given = {"schedule": pick.choice(("daily", "*-*-* 04:00")), "command": "true"}
    given.update(_some(pick, user=USERS, persistent=[True], environment=[["A=b"]]))
    return "timer", {pick.choice(("job", "night")): _absent(pick, given)}


def _service(pick: Pick) -> Drawn:
    given = _some(pick, ensure=["running", "stopped"], enable=[True, False], masked=[False])
    if pick.random() < 0.5:
        user = pick.choice(("", "User=anna\n", "User=app\n"))
        given["unit"] = UNIT % user
    if pick.random() < 0.3:
        given["settings"] = {"Service": {"Nice": pick.choice((3, 5))}}
    return "service", {pick.choice((*UNITS, "pv-web")): given}


def _package(pick: Pick) -> Drawn:
    given = {"ensure": pick.choice(("present", "present", "latest", "absent"))}
    given.update(_some(pick, hold=[True]) if given["ensure"] != "absent" else {})
    return "package", {pick.choice(PACKAGES): given}


def _sysctl(pick: Pick) -> Drawn:
    key = pick.choice(
        ("net.ipv4.ip_forward", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_fin_timeout")
    )
    return "sysctl", {key: _absent(pick, {"value": 1, **_some(pick, live=[False])})}


def _mount(pick: Pick) -> Drawn:
    given = {"device": "tmpfs", "type": "tmpfs", **_some(pick, options=["size=4m", "ro,nosuid"])}
    if pick.random() < 0.3:
        given = {"device": "/srv/a", "type": "none", "options": "bind"}
    return "mount", {pick.choice(("/srv/a/b", "/opt/x", "/mnt/m")): _absent(pick, given)}


def _credential(pick: Pick) -> Drawn:
    return "credential", {pick.choice(("token", "password")): _absent(pick, {"value": "abcd-efgh"})}


def _exec(pick: Pick) -> Drawn:
    file, user = pick.choice(FILES), pick.choice(USERS)
    command = pick.choice(
        (f"touch {file}", f"chown {user} {file}", f"test -e {file}", f"id {user}", "true")
    )
    given: dict[str, Any] = {"command": command, "affects": [file] if command != "true" else []}
    guard = pick.choice(
        ({}, {"creates": file}, {"unless": f"test -e {file}"}, {"onlyif": f"id {user}"})
    )
    return "exec", {f"run {command}": {**given, **guard}}


MAKERS: tuple[Callable[[Pick], Drawn], ...] = (
    _file, _file, _directory, _directory, _link, _edit, _user, _user, _group, _key, _cron, _timer,
    _service, _service, _package, _sysctl, _mount, _credential, _exec, _exec,
)  # fmt: skip


def faults(result: Result, push_failed: bool) -> list[str]:
    """What must not be. Resources may fail, and may undo each other where the preview says so."""
    found = [f"{v.resource}: certain and wrong\n{v.told()}" for v in result.wrong()]
    found += [f"the preview changed {line}" for line in result.touched]
    found += [f"the preview says {line}" for line in told_in_vain(result.undone, result.again)]
    if not push_failed:
        expected = [f" {one}: " for pair in result.undone for one in pair]
        again = [line for line in result.unstable if "exec#" not in line]
        found += [
            f"the second push: {line}"
            for line in again
            if not any(words in line for words in expected)
        ]
    return found


def main() -> int:
    """Exit with 1 where a site had a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.preview.random_sites")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("-j", type=int, default=2, metavar="HOSTS", help="as many at once")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    bad = 0
    with Corpus(given.j) as corpus:
        for result in corpus.run([drawn(given.seed + n) for n in range(given.count)]):
            failed = any(v.push and v.push["failed"] for v in result.verdicts)
            wrong = faults(result, failed)
            if not result.verdicts:
                wrong += [line for line in result.broken if "refused" not in line]
            counts.update(v.kind for v in result.verdicts)
            bad += bool(wrong)
            print(f"{'FAILED' if wrong else 'ok':6} {result.scenario.name}", flush=True)
            if wrong:
                site = yaml.safe_dump(result.scenario.resources, sort_keys=False)
                lines = [*wrong, "setup:", result.scenario.setup, "resources:", site]
                print(textwrap.indent("\n".join(lines), "    "), flush=True)
    print(", ".join(f"{counts[kind]} {kind}" for kind in CLASSES))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
