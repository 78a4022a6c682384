"""A booted host that lies about what packages hold, and the previews of the hosts beside it.

Hosts read packages for one another. One host of three runs the real runtime, but reports other
files, modes, owners, links or scripts of a package than it has. Whoever is previewed first, alone
or together: no preview of the other hosts is certain and wrong, compared with the push that
follows. No script that was told of runs.
"""

import json
import random
import shutil
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hostile import lying_python
from tests.hostile.figures import Figures
from tests.lab import Host, Lab, Package
from tests.lab.packages import index
from tests.lab.recipe import REPOSITORY
from tests.preview.judging import RECORD, WRONG, judge
from tests.preview.scenario import Scenario
from tests.push.command import Ccm, Event, Run

TITLE = "Hosts that lie about packages"
_PYTHON = "/usr/local/bin/lying-python"


class Turn:
    """One package, one lie, and the hosts: the first of them lies."""

    def __init__(self, lab: Lab, scratch: Path, name: str, lie: str) -> None:
        self.liar, *self.honest = lab.hosts.values()
        self.conf, self.more = f"/etc/{name}.conf", f"/etc/{name}.more"
        self._ccm = Ccm(scratch)
        self._inventory = lab.inventory(
            scratch / "hosts.yaml", hosts={self.liar.name: {"python": _PYTHON}}
        )
        self._site = self._ccm.site(self._text(name))
        told = json.dumps({"lie": lie, "conf": self.conf, "more": self.more})
        self.liar.write("/etc/lie.json", told)
        source = Path(lying_python.__file__).read_text(encoding="utf-8")
        self.liar.write(_PYTHON, f"#!{lying_python.REAL}\n{source}", 0o755)
        _publish([self.liar, *self.honest], self._package(name))

    def _package(self, name: str) -> Package:
        script = f"mkdir -p /var/lib/{name}\necho made > /var/lib/{name}/made\n"
        return Package(
            name, "1.0", files={self.conf: "of the package\n", f"/usr/share/{name}/x": "x\n"},
            scripts={"postinst": script}, conffiles=(self.conf,),
        )  # fmt: skip

    def _text(self, name: str) -> str:
        return f"""\
ccm:
  defaults: {{file: {{owner: root, group: root, mode: "0644"}}}}
  resources:
    - package: [{name}: {{}}]
    - file:
        - {self.conf}: {{content: "of the package\\n"}}
        - {self.more}: {{ensure: absent}}
        - /usr/share/{name}/x: {{content: "of the site\\n"}}
        - /var/lib/{name}/made: {{content: "made\\n"}}
        - /var/lib/{name}/by-the-site: {{content: "x\\n"}}
    - user: [liar: {{ensure: absent}}]
    - exec:
        - guarded-{name}: {{command: "true", creates: {self.conf}}}
        - looks-{name}: {{command: "true", creates: {self.more}}}
"""

    def _push(self, hosts: list[Host], *options: str) -> Run:
        names = ",".join(host.name for host in hosts)
        return self._ccm.push(self._inventory, self._site, "-l", names, *options)

    def problems(self, previews: list[list[Host]]) -> tuple[int, list[str]]:
        """Preview in this order, then push to the honest hosts: how many resources were foretold
        for certain, and what does not hold."""
        foretold: dict[str, list[Event]] = {}
        found = []
        for hosts in previews:
            done = self._push(hosts, "--noop")
            if done.code != 0:
                found.append(f"a preview ended with {done.code}: {done.output[-600:]}")
            for host in hosts:
                foretold[host.name] = [e for e in done.events if e["host"] == host.name]
        found += [f"a script ran on {h.name}" for h in self.honest if h.exists(lying_python.RAN)]
        pushed = self._push(self.honest)
        if pushed.code != 0:
            found.append(f"the push ended with {pushed.code}: {pushed.output[-600:]}")
        preview = [event for host in self.honest for event in foretold[host.name]]
        verdicts = judge(Scenario("", "", resources=[]), preview, pushed.events)
        found += [v.told() for v in verdicts if v.kind in (RECORD, WRONG)]
        certain = sum(event.get("prediction", "certain") == "certain" for event in preview)
        return certain, found


def _publish(hosts: list[Host], package: Package) -> None:
    """Give hosts the same file: built once, since the time is in it."""
    with TemporaryDirectory() as directory:
        built = package.build(Path(directory))
        for host in hosts:
            repository = host.path(REPOSITORY)
            shutil.copy(built, repository)
            index(repository)
            host.run("apt-get update -q")


def one_turn(lab: Lab, number: int, lie: str, chance: random.Random) -> tuple[int, list[str]]:
    """One turn in a lab of three hosts that is up."""
    name = f"ccm-told{number}"
    with TemporaryDirectory(prefix="lies-") as top:
        turn = Turn(lab, Path(top), name, lie)
        hosts = [turn.liar, *turn.honest]
        orders = [
            [[turn.liar], *([host] for host in turn.honest)],
            [[turn.honest[0]], [turn.liar], turn.honest],
            [[turn.liar], turn.honest],
            [hosts],
        ]
        return turn.problems(chance.choice(orders))


def run(seconds: float, seed: int) -> Figures:
    """Take turns with lies drawn at random until the time is over; each lie at least once."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    with Lab(count=3) as lab:
        while time.monotonic() < deadline or tried["rounds"] < len(lying_python.LIES):
            lie = lying_python.LIES[tried["rounds"] % len(lying_python.LIES)]
            certain, found = one_turn(lab, tried["rounds"], lie, chance)
            broken += [f"{lie}: {text}" for text in found]
            tried["rounds"] += 1
            tried["certain predictions"] += certain
    return Figures(dict(tried), broken)
