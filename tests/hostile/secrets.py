"""Secrets by every way into a run, looked for in everything that comes out of it.

Each round makes secrets of odd characters, hands each in by a way of its own, goes through the
commands, and searches what they print and leave behind: as it stands, in base64 wherever it begins,
in hex, quoted for JSON, URLs, HTML and shells, and line by line.
"""

import base64
import html
import json
import os
import random
import shlex
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import pyrage

from orchestrator.secrets import age, ansible_vault
from tests.hostile.figures import Figures
from tests.push.command import Ccm, Run

TITLE = "Secrets"

_WORDS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_ODD = ("", "/", "+", "&<", "'", '"', "é", "%", " ", "=")
_SITE = """\
data:
  # @secret
  marked: {marked}
  # @secret
  lines: {lines}
  # @secret
  of_other: "{{{{ Hosts.other.vars.licence }}}}"
  vaulted: "{{{{ secret('v.yml#db.password') }}}}"
  inline: {inline}
ccm:
  ask: {{kept: {{file: {top}/kept, sensitive: true}}, shown: {{stat: {top}/kept}}}}
  resources:
    - file:
        - defaults: {{owner: "{uid}", group: "{gid}", mode: "0644"}}
        - {top}/data: {{content: "a {{{{ Data.marked }}}}\\nb\\n"}}
        - {top}/lines: {{content: "{{{{ Data.lines }}}}"}}
        - {top}/looked: {{content: "{{{{ Asked.kept.content }}}}{{{{ Asked.shown.size }}}}"}}
        - {top}/vaulted: {{content: "{{{{ Data.vaulted }}}} {{{{ Data.inline }}}}"}}
        - {top}/stored: {{content: "{{{{ secret('cmd:store/word') }}}}"}}
        - {top}/aged: {{content: "{{{{ secret('s.age#lines') }}}}{{{{ template('more.j2') }}}}"}}
        - {top}/other: {{content: "{{{{ Data.of_other }}}}"}}
        - {top}/others: {{content: "{{{{ template('others.j2') }}}}"}}
        - {top}/quiet: {{content: {quiet}, sensitive: true}}
        - {top}/environ: {{content: "{{{{ lookup('environ.APP_PASSWORD') }}}}"}}
        - {top}/listed: {{content: "{{{{ Environ.OF_MINE }}}}"}}
        - {top}/turn: {{content: "{{{{ file('{top}/data') }}}}{{{{ Environ.APP_PASSWORD }}}}"}}
        - "{top}/name-{{{{ Data.marked | replace('/', '_') }}}}": {{ensure: absent}}
    - scaffold:
        - {top}/tree: {{source: tree, engine: jet}}
    - apply:
        - child.yaml: {{data: {{handed: "{{{{ Data.marked }}}}"}}}}
    - exec:
        - defaults: {{provider: shell, logoutput: true, environment: ["S={{{{ Data.marked }}}}",
            "L={{{{ Data.lines }}}}",
            "O={{{{ Data.of_other }}}}", "E={{{{ lookup('environ.APP_PASSWORD') }}}}",
            "V={{{{ Data.vaulted }}}}", "I={{{{ Data.inline }}}}",
            "C={{{{ secret('cmd:store/word') }}}}", "G={{{{ secret('s.age#lines') }}}}"]}}
        - sources: {{command: 'for n in "$V" "$I" "$C" "$G"; do printf "%s\n" "$n";
            printf "%s" "x$n" | base64 -w0; printf "%s" "$n" | od -An -v -tx1 | tr -d " \n"; done;
            exit 1'}}
        - looked: {{command: 'printf "%s\n" "$A"; printf "%s" "$A" | base64 -w0; exit 1',
            environment: ["A={{{{ Asked.kept.content.strip() }}}}"]}}
        - plain: {{command: 'printf "%s\\n" "$S" "$L" "$E" "$O"; printf "%s\\n" "$S" "$O" >&2'}}
        - encoded: {{command: 'for n in "" x xy; do printf "%s" "$n$S" | base64 -w0; echo; done'}}
        - hexadecimal: {{command: 'printf "%s" "$E" | od -An -v -tx1 | tr -d " \\n"'}}
        - reversed: {{command: 'printf "%s\\n" "$L" | tac'}}
        - chunks: {{command: 'printf "%.5s" "$S"; sleep 0.2; printf "%s" "${{S#?????}}"; exit 1'}}
        - flood: {{command: 'i=0; while [ $i -lt 900 ]; do echo "$S $E"; i=$((i+1)); done; exit 1'}}
        - checked:
            command: "true"
            environment: []
            # What a command is given as words all may read, so the one that has them never starts.
            health_checks: [{{name: said, command: "sh -c 'cat {top}/listed; exit 2'"}},
                {{name: gone, command: "{top}/none {{{{ Environ.OF_MINE }}}}"}}]
        - missing: {{command: "true", environment: [], cwd: "/no/{{{{ Environ.OF_MINE }}}}"}}
    - archive:
        - {top}/a.tar.gz:
            url: "http://me:{login}@127.0.0.1:1/a.tar.gz?access_token={token}"
            headers: {{Authorization: "Bearer {bearer}", X-Key: "{header}"}}
            owner: "{uid}"
            group: "{gid}"
"""
_OTHERS = """\
{% for host in Hosts.values() if host.vars.licence is defined %}
{{ host.name }} {{ host.vars.licence | b64encode }} {{ Data.of_other }}
{% endfor %}
"""
_MORE = """\
{{ secret('v.yml#db.password') | b64encode }} {{ secret('cmd:store/word') | urlencode }}
{{ secret('s.age#lines') | to_json }} {{ secret('v.yml#db.password') | hash('sha256') }}
"""
_EDITOR = """\
#!/bin/sh
cp "$1" "$TMPDIR/copy"
sed "s/keep: 1/keep: 2/" "$TMPDIR/copy" > "$1"
"""
_KEYS = """\
secrets:
  vault: {{password_file: top/password}}
  age: {{identity: top/identity, recipients: top/recipients}}
  cmd: {{store: 'cat "top/$1"'}}
"""
_CHILD = """\
ccm:
  resources:
    - exec:
        - child: {provider: shell, command: 'echo "$S"', environment: ["S={{ Data.handed }}"]}
"""


def spellings(secret: str) -> Iterator[bytes]:
    """Every form in which a secret may not stand anywhere."""
    for text in {secret, *filter(lambda line: len(line) > 3, secret.splitlines())}:
        data = text.encode()
        yield data
        yield from (data.hex().encode(), data.hex().upper().encode())
        for before in range(3):
            letters = base64.b64encode(b"\0" * before + data)
            core = letters[(8 * before + 5) // 6 : 8 * (before + len(data)) // 6]
            yield from (core, core.translate(bytes.maketrans(b"+/", b"-_")))
        for form in (
            *(json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]),
            *(quote(text), quote(text, safe=""), quote_plus(text), html.escape(text)),
            shlex.quote(text),
            *(json.dumps(text)[1:-1].replace("/", "\\/"), html.escape(text).replace("#x27", "#39")),
        ):
            yield form.encode()


def leaks(secrets: Mapping[str, str], sinks: Mapping[str, bytes]) -> list[str]:
    """Which secret, by the name of its way in, stands in which sink."""
    return [
        f"{name} in {sink}"
        for name, secret in secrets.items()
        for form in set(spellings(secret))
        for sink, content in sinks.items()
        if form in content
    ]


class Watch(threading.Thread):
    """Reads what others may read of all processes, for as long as it is in use."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: set[bytes] = set()
        self._end = threading.Event()

    def __enter__(self) -> "Watch":
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._end.set()
        self.join()

    def run(self) -> None:
        while not self._end.wait(0.005):
            for process in os.listdir("/proc"):
                if process.isdigit() and int(process) != os.getpid():
                    try:
                        self.seen.add(Path("/proc", process, "cmdline").read_bytes())
                    except OSError:
                        continue


class Round:
    """One set of secrets, and the commands that they go through."""

    def __init__(self, scratch: Path, chance: random.Random) -> None:
        self.scratch = scratch
        self.top = scratch / "top"
        self.top.mkdir()

        def made(odd: str = "") -> str:
            words = ["".join(chance.choices(_WORDS, k=7)) for _ in range(2)]
            return (odd or chance.choice(_ODD[:1])).join(words)

        odd = chance.choice(_ODD)
        self.secrets = {
            "@secret": made(odd), "@secret of lines": "\n".join(made(odd) for _ in range(3)),
            "sensitive": made(odd), "environment": made(odd), "environment, listed": made(),
            "login of a URL": made(), "token of a URL": made(), "bearer": made(), "header": made(),
            "become password": made(odd), "login password": made(odd), "lookup": made(odd),
            "var of another host": made(odd), "vault file": made(odd), "inline vault": made(odd),
            "command": made(odd), "age file": "\n".join(made(odd) for _ in range(2)),
        }  # fmt: skip
        one = self.secrets
        self.ccm = Ccm(
            scratch,
            {
                "APP_PASSWORD": one["environment"], "OF_MINE": one["environment, listed"],
                "CCM_SECRET_ENV": "OF_*", "CCM_BECOME_PASSWORD": one["become password"],
                "CCM_SSH_PASSWORD": one["login password"], "TMPDIR": str(scratch / "tmp"),
                "EDITOR": str(scratch / "editor"), "XDG_RUNTIME_DIR": str(scratch / "tmp"),
            },
        )  # fmt: skip
        (scratch / "tmp").mkdir()
        (scratch / "tree").mkdir()
        (scratch / "tree/conf").write_text("[[ data.marked ]] [[ environ.APP_PASSWORD ]]\n")
        (scratch / "child.yaml").write_text(_CHILD)
        (self.top / "kept").write_text(one["lookup"] + "\n")
        (scratch / "others.j2").write_text(_OTHERS)
        (scratch / "more.j2").write_text(_MORE)
        inline = self._encrypt()
        self.inventory = scratch / "hosts.yaml"
        other = {"connection": "local", "vars": {"licence": one["var of another host"]}}
        hosts = {"h": {"connection": "local"}, "other": other}
        self.inventory.write_text(json.dumps({"hosts": hosts}))
        self.site = scratch / "site.yaml"
        self.site.write_text(
            _SITE.format(
                top=self.top, uid=os.getuid(), gid=os.getgid(), marked=json.dumps(one["@secret"]),
                lines=json.dumps(one["@secret of lines"]), quiet=json.dumps(one["sensitive"]),
                login=one["login of a URL"], token=one["token of a URL"], bearer=one["bearer"],
                header=one["header"], inline=json.dumps(inline).join(("!vault ", "")),
            )
        )  # fmt: skip
        self._own = {
            path: path.read_bytes() for path in (self.site, self.inventory, scratch / "child.yaml")
        }

    def _encrypt(self) -> str:
        """Write the encrypted files and their keys; the inline value."""
        one, word = self.secrets, b"of the vault"
        identity = pyrage.x25519.Identity.generate()
        (self.top / "password").write_bytes(word)
        (self.top / "identity").write_text(str(identity))
        (self.top / "recipients").write_text(str(identity.to_public()))
        (self.top / "word").write_text(one["command"] + "\n")
        (self.scratch / "ccm.yaml").write_text(_KEYS.format())
        document = {"db": {"password": one["vault file"]}, "keep": 1}
        (self.scratch / "v.yml").write_text(
            ansible_vault.encrypt(json.dumps(document).encode(), word)
        )
        plain = json.dumps({"lines": one["age file"]}).encode()
        sealed = age.encrypt(plain, [str(identity.to_public())], armored=True)
        (self.scratch / "s.age").write_bytes(sealed)
        editor = self.scratch / "editor"
        editor.write_text(_EDITOR)
        editor.chmod(0o700)
        return ansible_vault.encrypt(one["inline vault"].encode(), word)

    def commands(self) -> Iterator[tuple[str, ...]]:
        """What is run, in order."""
        where = ("-i", str(self.inventory), "-l", "h")
        site, report = str(self.site), str(self.scratch / "made")
        events = ("--events", str(self.scratch / "made.events"))
        os.makedirs(report, exist_ok=True)
        yield ("validate", site)
        yield ("push", *where, "--noop", "-v", *events, site)
        yield ("push", *where, "-v", "--diff-private", "--metrics", f"{report}/m.prom", site)
        yield ("push", *where, "--json", "-v", *events, site)
        yield ("apply", *where, "-v", site)
        yield ("render", *where, site)
        yield ("hiera", "parse", "--offline", site)
        yield ("verify", *where, "-v", site)
        yield ("drift", *where, site)
        yield ("status", "file", str(self.top / "data"))
        plan = f"{report}/change.plan"
        yield ("plan", *where, "-v", "-o", plan, site)
        yield ("plan", "show", plan, "--html", f"{report}/plan.html", "--markdown", "-")
        yield ("secrets", "edit", "v.yml")
        yield ("secrets", "rekey", "v.yml", "s.age", str(self.site))
        yield ("secrets", "recipients", "v.yml", "s.age")
        yield ("secrets", "check", "v.yml", "s.age", "more.j2")
        yield ("secrets", "used", "v.yml#db.password", *where, site)
        yield ("runs",)
        yield ("report", "-v")
        for form in ("html", "markdown", "junit"):
            yield ("report", f"--{form}", f"{report}/report.{form}")
        yield ("report", "--json")
        yield ("ensure", "exec", 'printf "%s\\n" "$S"', "--provider", "shell", "--logoutput",
               "--environment", f"S={self.secrets['@secret']}", "--sensitive")  # fmt: skip

    def sinks(self, done: Run) -> dict[str, bytes]:
        """What a command printed, and everything that now lies there which is not the user's."""
        found = {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
        for path in self.scratch.rglob("*"):
            mine = path.is_relative_to(self.top) or path.is_relative_to(self.scratch / "tree")
            if path.is_file() and not mine and path not in self._own:
                found[str(path.relative_to(self.scratch))] = path.read_bytes()
        return found

    def open_to_others(self) -> list[str]:
        """Files of ccm's own that somebody else may read, by the modes above them too."""
        return [
            str(path)
            for directory in ("state", "cache", "tmp")
            for path in (self.scratch / directory).rglob("*")
            if path.is_file()
            and stat.S_IMODE(path.stat().st_mode) & 0o044
            and all(
                stat.S_IMODE(above.stat().st_mode) & 0o011
                for above in path.parents
                if above.is_relative_to(self.scratch) and above != self.scratch
            )
        ]


def run(seconds: float, seed: int) -> Figures:
    """Rounds for so long, at least one."""
    chance = random.Random(seed)
    tried = {"rounds": 0, "commands": 0, "secrets": 0, "sinks searched": 0}
    broken: list[str] = []
    end = time.monotonic() + seconds
    while not tried["rounds"] or time.monotonic() < end:
        with tempfile.TemporaryDirectory() as directory:
            one = Round(Path(directory), chance)
            tried["rounds"] += 1
            tried["secrets"] += len(one.secrets)
            for arguments in one.commands():
                with Watch() as watch:
                    done = one.ccm.run(*arguments)
                sinks = one.sinks(done)
                if arguments[0] != "ensure":  # whose arguments are the user's own
                    sinks["processes"] = b"\n".join(watch.seen)
                tried["commands"] += 1
                tried["sinks searched"] += len(sinks)
                if done.code not in (0, 1, 4):
                    broken.append(f"{arguments[0]}: exit code {done.code}: {done.stderr[:300]}")
                broken += [f"{arguments[0]}: {leak}" for leak in leaks(one.secrets, sinks)]
            broken += [f"others may read {path}" for path in one.open_to_others()]
    return Figures(tried, broken)
