"""Facts, vars and groups of other hosts that are made to be taken for more than text.

Each round has a host whose facts and vars are texts of chance: templates of every language,
commands, paths, escapes of terminals. Another host reads them in every way that templates have.
What comes out is the text itself: nothing of it is evaluated, run, opened on the controller outside
the directory of the manifest, or sent to a terminal.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import tempfile
import time
from collections import Counter
from pathlib import Path

from orchestrator.support.plain_text import plain, plain_value
from tests.hostile.figures import Figures
from tests.push.command import Ccm, Run

TITLE = "Values of other hosts"
CANARY = "canary-of-the-controller"
_PIECES = (
    "{{ 7 * 191 }}", "${ 7 * 191 }", "[[ 7 * 191 ]]", "{% for x in range(9) %}7{% endfor %}",
    "{% include '../canary.txt' %}", "{{ file('../canary.txt') }}", "{{ Environ.CANARY }}",
    "{{ lookup('environ.CANARY') }}", "{{ ''.__class__.__mro__ }}", "{{ template('/etc/shadow') }}",
    "{{", "}}", "{%", "%}", "{#", "#}", "[[", "$(touch TOP/ran)", "`touch TOP/ran`", '"', "'", "\\",
    "; touch TOP/ran;", "' ; touch TOP/ran ; '", "\n- exec: [{touch TOP/ran: {}}]\n", "\r\n", "\t",
    "../canary.txt", "TOP/../canary.txt", "!!python/object/apply:os.system", "*a &a", "$blob",
    "\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\u202e", "\u2028", "\ufeff", "\U0001f600", "facts.x",
    "[masked]", "%s%n", "data.words", "-rf", "a" * 3000, "",
)  # fmt: skip
_SITE = """\
data:
  word: "{{ Hosts.other.facts.words.a }}"
  nested: {below: "{{ Hosts.other.vars.b }}"}
hierarchy:
  order: ["word:{{ Hosts.other.facts.words.a }}", "DATA/{{ Hosts.other.vars.b }}", default]
ccm:
  assert:
    - {that: "Hosts.other.name == 'other'", message: "{{ Hosts.other.facts.words.a }}"}
  defaults: {file: {owner: "UID", group: "GID", mode: "0644"}}
  resources:
    - file:
        - TOP/fact: {content: "{{ Hosts.other.facts.words.a }}"}
        - TOP/var: {content: "{{ Hosts.other.vars.b }}"}
        - TOP/data: {content: "{{ Data.word }}{{ Data.nested.below }}"}
        - TOP/template: {content: "{{ template('all.j2', more=Hosts.other.vars.b) }}"}
        - TOP/jet: {content: "{{ jet('all.jet', more=Hosts.other.vars.b) }}"}
        - TOP/json: {content: "{{ Hosts.other.facts.words | to_json }}"}
        - "TOP/each-{{ index }}": {foreach: Hosts.other.facts.words.list, content: "{{ item }}"}
    - scaffold:
        - TOP/tree: {source: tree, engine: jinja}
    - apply:
        - child.yaml: {data: {word: "{{ Hosts.other.facts.words.a }}"}}
    - exec:
        - quoted:
            provider: shell
            command: "printf %s {{ Hosts.other.facts.words.a | quote }} > TOP/quoted"
        - environment:
            provider: shell
            environment: ["W={{ Hosts.other.vars.b | b64encode }}"]
            command: 'printf %s "$W" | base64 -d > TOP/environment'
"""
_CHILD = """\
data: {word: none}
ccm: {resources: [{file: [TOP/child: {content: "{{ Data.word }}"}]}]}
"""
_BY_PATH = """\
ccm:
  defaults: {file: {owner: "UID", group: "GID", mode: "0644"}}
  resources:
    - file: [TOP/path: {WAY}]
"""
_WAYS = (
    'content: "{{ file(Hosts.other.facts.words.a) }}"',
    'content: "{{ template(Hosts.other.facts.words.a) }}"',
    'content: "{{ jet(Hosts.other.vars.b) }}"',
    'content: "{{ lookup(Hosts.other.facts.words.a) }}"',
    'source: "{{ Hosts.other.facts.words.a }}"',
)
_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]")


def drawn(chance: random.Random, top: Path) -> str:
    """A text of such pieces; no NUL, and not nothing."""
    pieces = chance.choices(_PIECES, k=chance.randint(1, 4))
    return "".join(pieces).replace("TOP", str(top)) or "plain"


class Round:
    """Values of chance in facts and vars of a host, and the sites that read them."""

    def __init__(self, scratch: Path, chance: random.Random) -> None:
        self.scratch, self.top = scratch, scratch / "top"
        for directory in ("top", "site/tree", "home/.config/choria/ccm"):
            (scratch / directory).mkdir(parents=True)
        self.fact, self.var, *self.rest = (drawn(chance, self.top) for _ in range(5))
        self.way = chance.choice(_WAYS)
        if chance.random() < 0.4:  # all of a value is a path that there is
            self.fact = self.var = chance.choice(("../canary.txt", f"{scratch}/canary.txt"))
        (scratch / "canary.txt").write_text(CANARY)
        self.words = {"a": self.fact, "list": self.rest}
        facts = scratch / "home/.config/choria/ccm/facts.json"
        facts.write_text(json.dumps({"words": self.words}))
        site = scratch / "site"
        inner = (
            "{{ Hosts.other.facts.words.a }}|{{ more }}|{% for w in Hosts.other.facts.words.list %}"
        )
        files = {
            "site.yaml": _SITE,
            "child.yaml": _CHILD,
            "path.yaml": _BY_PATH.replace("WAY", self.way),
            "all.j2": "{% macro m(x) %}{{ x }}{% endmacro %}" + inner + "{{ m(w) }},{% endfor %}",
            "all.jet": "[[ Hosts.other.facts.words.a ]]|[[ more ]]",
            "tree/conf": "{{ Hosts.other.facts.words.a }}",
        }
        for name, text in files.items():
            for word, value in (("TOP", self.top), ("UID", os.getuid()), ("GID", os.getgid())):
                text = text.replace(word, str(value))
            (site / name).write_text(text)
        local = {"connection": "local"}
        self.group = re.sub(r"\s", "", drawn(chance, self.top))[:40] or "web"
        hosts = {"reader": local, "other": {**local, "vars": {"b": self.var}}}
        (site / "hosts.yaml").write_text(json.dumps({"hosts": hosts}))
        named = {"hosts": hosts, "groups": {self.group: {"hosts": ["other"]}}}
        (site / "named.yaml").write_text(json.dumps(named))
        self.ccm = Ccm(site, {"CANARY": CANARY, "HOME": str(scratch / "home"), "LC_ALL": "C.UTF-8"})

    def expected(self) -> dict[str, str]:
        """What each file is to hold, where nothing is more than text."""
        var, (fact, *rest) = self.var, plain_value([self.fact, *self.rest])
        files = {
            "fact": fact, "var": var, "data": fact + var, "jet": f"{fact}|{var}", "child": fact,
            "template": f"{fact}|{var}|{''.join(f'{word},' for word in rest)}", "tree/conf": fact,
            "quoted": fact, "environment": var,
            **{f"each-{number}": word for number, word in enumerate(rest)},
        }  # fmt: skip
        return files

    def problems(self) -> list[str]:
        """Push, and see what came of it."""
        where = ("-i", "hosts.yaml", "-l", "reader")
        found = []
        for words in (("render",), ("validate",), ("push", "--noop", "-v"), ("push", "-v")):
            done = self.ccm.run(words[0], *where, *words[1:], "site.yaml")
            found += self._told(" ".join(words), done, (0,))
        for name, text in self.expected().items():
            path = self.top / name
            there = path.read_bytes().decode("utf-8", "replace") if path.exists() else "<none>"
            if there != text:
                found.append(f"{name}: {there[:200]!r} in place of {text[:200]!r}")
        done = self.ccm.run("push", *where, "path.yaml")
        found += self._told(f"path {self.way}", done, (0, 1, 2))
        made = self.top / "path"
        if made.exists() and CANARY in made.read_text():
            found.append(f"{self.way} opened a file of the controller, {self.fact!r}")
        done = self.ccm.run("validate", "-i", "named.yaml", "site.yaml")
        found += self._told(f"group {self.group!r}", done, (0, 2))
        if (self.top / "ran").exists():
            found.append("a command of another host ran")
        return found

    def _told(self, what: str, done: Run, codes: tuple[int, ...]) -> list[str]:
        found = []
        if done.code not in codes:
            found.append(f"{what}: exit code {done.code}: {done.output[-600:]}")
        if _TERMINAL.search(done.output):
            found.append(f"{what}: controls of a terminal: {done.output[-600:]!r}")
        if CANARY in done.output or "1337" in done.output:
            found.append(f"{what}: a value was evaluated: {done.output[-600:]}")
        return found


def run(seconds: float, seed: int) -> Figures:
    """Rounds for so long, at least one."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter(rounds=0, commands=0, values=0)
    broken: list[str] = []
    end = time.monotonic() + seconds
    while not tried["rounds"] or time.monotonic() < end:
        with tempfile.TemporaryDirectory() as directory:
            one = Round(Path(directory), chance)
            tried.update(rounds=1, commands=6, values=2 + len(one.rest))
            told = {plain(text) for text in one.problems()}
            broken += [f"{text} [{shlex.quote(one.fact)[:200]}]" for text in sorted(told)]
    return Figures(dict(tried), broken)
