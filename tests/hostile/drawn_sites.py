"""Sites of chance for hosts of chance: now and then these differ in what is read and secret."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

from tests.orchestrator.planning.planned import FakeHost

SECRETS = (
    "s3cr3t-of-site", "deadbeef", "root", "present", "/etc", "two\nlines", 'it\'s "q"', "123", "",
    *(hashlib.sha256(text).hexdigest()[5:9] for text in (b"on web0", b"on web1")),
    "0644", "true", "$blob", "content", "\u00e9\u00e9\u00e9\u00e9", "Bearer abcdefgh12",
)  # fmt: skip
TEXTS: tuple[Any, ...] = (
    "", "a", "b", "present", "absent", "0644", "0600", "y" * 5000, "\u00e9\u263a", "\x07\x1b[31m",
    "\ud800", "{{ 1 }}", '"$tree"', '{"$blob":"x","size":1}', "https://me:p4ssw0rd@h/x", "a?b=c",
    "Authorization: Bearer abcdefgh", "h/?token=abcdefgh1234", "line\r\nline", "\u2028\u202e", 1,
    "s3cr3t-of-site", "with deadbeef in", 1.0, True, False, None, 10**20, [], {}, ["a"], {"k": 1},
)  # fmt: skip
FILES = {
    "f.txt": "a file\n",
    "g.txt": "another\n",
    "t.txt": "{{ Facts.mode }} of {{ Host.name }}: {{ Data.a }}\n",
    "t.jet": "[[ Facts.mode ]] of [[ Data.b ]]",
    "tree/a": "[[ Facts.mode ]] [[ Host.name ]]",
    "tree/below/b": "plain",
}
_READ = (
    *("Facts.w", "Facts.x", "Facts.y", "Facts.mode", "Data.a", "Data.b", "Data.token", "Data.in.k"),
    *("Host.name", "Host.name", "Host.vars['own']", "Host.groups | join(',')", "Environ.PLAIN"),
    *("lookup('facts.x', 'none')", "lookup('data.a')", "file('f.txt')", "template(file('t.txt'))"),
    *("jet('t.jet')", "'x' * 900", "Host.name * 900", "Facts.y | tojson"),
    *("(Facts.x if Facts.yes else Host.name)", "Facts.w ~ Data.b", "Environ.MY_TOKEN"),
)
_LATE = ("{{ file('/etc/hostname') }}", "{{ file('/etc/' ~ Host.name) }} {{ Environ.MY_TOKEN }}")
_AROUND = ("{{ %s }}", "on {{ %s }}", "{{ %s }} end\n", "${ %s } end", "https://u:{{ %s }}@h")


class DrawnSite:
    """A manifest with children, and the ``hosts`` that it is for, each with its facts."""

    def __init__(self, seed: int) -> None:
        self._draw = draw = random.Random(seed)
        plain = draw.random() < 0.5
        self._values: list[Any] = ["a", "b", "0644"] if plain else draw.sample(TEXTS, 3)
        self._own = draw.random() < 0.5  # what hosts have of their own is most of it
        self._secret = draw.random() < (0.3 if self._own else 0.7)
        self.environ = {"MY_TOKEN": draw.choice(SECRETS) if self._secret else "", "PLAIN": "plain"}
        self.tight = draw.random() < 0.4
        self.hosts = [self._host(f"web{number}") for number in range(draw.randint(2, 6))]

    def write(self, directory: Path) -> None:
        """Put the manifest, its children and the files beside them into a directory."""
        for name, text in FILES.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text, encoding="utf-8")
        children = [f"{name}.yaml" for name in ("one", "two")]
        for name in children:
            (directory / name).write_text(self._manifest([], 2), encoding="utf-8")
        text = self._manifest(children, self._draw.randint(1, 7))
        (directory / "site.yaml").write_text(text, encoding="utf-8")

    def _host(self, name: str) -> tuple[FakeHost, dict[str, Any]]:
        draw = self._draw
        facts = {key: draw.choice(self._values) for key in "wxy"}
        facts["yes"] = draw.random() < 0.7
        facts["mode"] = draw.choice(["0644", "0600"])
        facts["state"] = draw.choice(["present", "absent", "present", "directory"])
        facts["list"] = draw.choice([["p", "q"], ["q"], [], {"k": "p"}])
        groups = draw.choice([("web",), ("web", "db")])
        return FakeHost(name, f"{name}.example", groups, {"own": draw.choice(self._values)}), facts

    def _manifest(self, children: list[str], count: int) -> str:
        draw = self._draw
        data = {
            "a": self._text(),
            "b": draw.choice(["b", "{{ Facts.w }}", "{{ Host.name }}"]),
            "token": draw.choice([draw.choice(SECRETS), "{{ Facts.x }}"]),
        }
        lines = [f"  {key}: {json.dumps(value)}" for key, value in data.items()]
        if self._secret:
            lines[-1] += "  # @secret"
        resources = [json.dumps(self._resource(number, children)) for number in range(count)]
        listed = [f"    - {text}" for text in resources]
        inner = "  in: {k: '{{ Facts.y }}'}"
        return "\n".join(["data:", *lines, inner, "ccm:", "  resources:", *listed])

    def _text(self) -> str:
        draw = self._draw
        if self._own and draw.random() < 0.7:
            return draw.choice(["on {{ Host.name }}", "{{ Host.name }} {{ Facts.x }}"])
        if draw.random() < 0.2:
            return draw.choice(["literal", "", *[t for t in TEXTS[6:12] if isinstance(t, str)]])
        return draw.choice(_AROUND) % draw.choice(_READ)

    def _late(self) -> str:
        draw = self._draw
        return draw.choice(_LATE) if draw.random() < 0.1 else self._text()

    def _resource(self, number: int, children: list[str]) -> dict[str, Any]:
        kind = self._draw.random()
        if kind < (0.85 if self._own else 0.65):
            return self._file(number)
        if kind < 0.8:
            values = {"command": self._late(), "environment": [f"A={self._text()}"]}
            return {"exec": [{f"run {number}": self._common(values)}]}
        if kind < 0.85:
            return {"scaffold": [{f"/srv/{number}": {"source": "tree", "ensure": "present"}}]}
        if kind < 0.9:
            values = {"url": "https://h/{{ Facts.mode }}", "username": "me", "owner": "root"}
            more = {"password": self._text(), "group": "root"}
            return {"archive": [{f"/srv/{number}.tgz": self._common({**values, **more})}]}
        if children:
            data = self._draw.choice([{"a": self._text()}, {"a": "given"}, {"$tree": "x"}, {}])
            return {"apply": [{children.pop(): self._common({"data": data})}]}
        return {"service": [{f"s{number}": self._common({"enable": "{{ Facts.yes }}"})}]}

    def _file(self, number: int) -> dict[str, Any]:
        draw = self._draw
        name = (
            draw.choice(["/etc/%d", "/etc/%d", "/etc/%d?a=b", "/etc/%d-{{ Host.name }}"]) % number
        )
        values = {
            "owner": "root",
            "group": "root",
            "mode": draw.choice(["0644", "{{ Facts.mode }}"]),
        }
        state = draw.choice(["", "", "{{ Facts.state }}"])
        if state:
            values["ensure"] = state
        if draw.random() < 0.9:
            values[draw.choice(["content", "content", "contents"])] = self._late()
        else:
            values["source"] = draw.choice(["f.txt", "{{ 'f' if Facts.yes else 'g' }}.txt"])
        given = self._common({key: values[key] for key in draw.sample(list(values), len(values))})
        if draw.random() < 0.1:
            return {"file": [{name + "-{{ item }}": {**given, "foreach": "Facts.list"}}]}
        return {"file": [{name: given}]}

    def _common(self, values: dict[str, Any]) -> dict[str, Any]:
        draw = self._draw
        more = {
            "alias": draw.choice(["al-{{ Facts.mode }}", "al {{ Host.name }}", "al\u00e9"]),
            "control": draw.choice([{"if": "Facts.yes"}, {"unless": "Host.name == 'web1'"}]),
            "sensitive": True,
            "health_checks": [{"command": self._text()}],
            "register_when_stable": [
                {"cluster": "c", "service": "s", "protocol": "tcp", "address": "{{ Host.address }}",
                 "annotations": {"k": self._text()}}
            ],
        }  # fmt: skip
        return {**values, **{key: more[key] for key in more if draw.random() < 0.1}}
