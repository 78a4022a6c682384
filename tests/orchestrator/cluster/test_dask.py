"""Pushes by a real scheduler and real workers, whatever becomes of these."""

import contextlib
import getpass
import grp
import json
import os
import pwd
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cluster import certificates
from tests.orchestrator.cluster.dask_cluster import DaskCluster, listening, wait_for
from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm
from tests.texts import expect_text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and an sshd of Linux")

HOSTS = 4
SITE = """\
data:
  password: hunter2-hunter2 # @secret
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0600"}
        - "DIR/{{ Host.name }}":
            content: >
              {{ Data.password }} {{ file('files/' ~ Facts.part) }} {{ Environ.COLOUR }}
              {{ registrations('test', 'http', 'web', '*') | map(attribute='Port') | list }}
              {{ Groups.all | join('+') }} {{ Hosts.h3.vars.part }}
        - "DIR/{{ Host.name }}.copy": {source: files/copy}
"""
# Each host waits for a file, so that what is under way can be watched.
WAITS = """\
ccm:
  resources:
    - exec:
        - wait:
            command: >-
              touch DIR/begun-{{ Host.name }};
              n=0; while [ ! -e DIR/go ] && [ $n -lt 2400 ]; do sleep 0.05; n=$((n+1)); done
            provider: shell
            timeout: 3m
"""


class Scene:
    """Hosts that are one sshd under several names, a site, and a cluster of Dask."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.ccm = Ccm(scratch, {"COLOUR": "blue"})
        self.sshd = Sshd(scratch / "sshd")
        self.directory = scratch / "hosts"
        self.directory.mkdir()
        site = scratch / "site"
        (site / "files").mkdir(parents=True)
        (site / "files/a").write_text("text of a")
        (site / "files/copy").write_text("copied\n")
        self.inventory = scratch / "hosts.json"
        self.write_inventory({})

    def write_inventory(self, changes: dict[str, Any]) -> None:
        """``h0`` and so on; ``changes`` by name."""
        ssh = {
            "address": "127.0.0.1",
            "port": self.sshd.port,
            "user": getpass.getuser(),
            "key_file": str(self.sshd.user_key),
            "known_hosts": str(self.sshd.known_hosts),
            "vars": {"part": "a"},
        }
        hosts = {f"h{n}": {**ssh, **changes.get(f"h{n}", {})} for n in range(HOSTS)}
        self.inventory.write_text(json.dumps({"hosts": hosts}))

    def site(self, text: str) -> str:
        """A manifest in the directory of the site."""
        words = {
            "DIR": str(self.directory),
            "OWNER": pwd.getpwuid(os.geteuid()).pw_name,
            "GROUP": grp.getgrgid(os.getegid()).gr_name,
        }
        for word, value in words.items():
            text = text.replace(word, value)
        (self.scratch / "site/site.yaml").write_text(text)
        return "site/site.yaml"

    def words(self, cluster: DaskCluster, site: str, *more: str) -> list[str]:
        """A push by the workers of a cluster."""
        words = ["push", "-i", str(self.inventory), "--engine", cluster.engine, "--json"]
        return [*words, *more, self.site(site)]

    def preset(self, module: str, **constants: float) -> None:
        """Give constants of a module other values in the commands that start from now on."""
        directory = self.scratch / "preset"
        directory.mkdir()
        lines = [f"import {module}", *(f"{module}.{name} = {n}" for name, n in constants.items())]
        (directory / "sitecustomize.py").write_text("\n".join(lines) + "\n")
        path = self.ccm.environment["PYTHONPATH"]
        self.ccm.environment["PYTHONPATH"] = f"{directory}:{path}"

    def begun(self) -> int:
        """How many hosts are at work."""
        return len(list(self.directory.glob("begun-*")))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A scene, taken down."""
    made = Scene(tmp_path)
    yield made
    (made.directory / "go").touch()
    made.sshd.stop()


@contextlib.contextmanager
def cluster_of(scene: Scene, workers: int, tls: Path | None = None) -> Iterator[DaskCluster]:
    """A scheduler and so many workers, ended."""
    cluster = DaskCluster(scene.scratch / "dask", tls)
    try:
        for _ in range(workers):
            cluster.hire()
        yield cluster
    finally:
        (scene.directory / "go").touch()
        cluster.close()


def ends(document: dict[str, Any]) -> dict[str, str]:
    """What each host came to."""
    return {name: host["kind"] or host["outcome"] for name, host in document["hosts"].items()}


def descendants(pid: int) -> list[int]:
    """All processes of which each thread has been started below one."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


def test_a_preview_and_a_push_by_two_workers_over_tls(scene: Scene) -> None:
    """The site travels, host by host it is carried out, and nothing secret is left anywhere."""
    tls = scene.scratch / "tls"
    certificates.make_authority(tls)
    scene.ccm.environment[certificates.VARIABLE] = str(tls)
    web = ("--service", "web", "--address", "192.0.2.1", "--port", "80")
    words = ("registration", "create", "--cluster", "test", "--protocol", "http", *web)
    assert scene.ccm.run(*words).code == 0
    with cluster_of(scene, 2, tls) as cluster:
        preview = scene.ccm.run(*scene.words(cluster, SITE, "--noop"))
        told = json.loads(preview.stdout)
        assert (preview.code, set(ends(told).values())) == (0, {"ok"}), preview.stderr
        assert told["summary"]["changed"] == 2 * HOSTS
        assert list(scene.directory.iterdir()) == []
        pushed = scene.ccm.run(*scene.words(cluster, SITE))
        document = json.loads(pushed.stdout)
        assert (pushed.code, set(ends(document).values())) == (0, {"ok"}), pushed.stdout
        expect_text((scene.directory / "h1").read_text())
        assert (scene.directory / "h3.copy").read_text() == "copied\n"
        again = json.loads(scene.ccm.run(*scene.words(cluster, SITE)).stdout)
        assert again["summary"]["stable"] == 2 * HOSTS
        plain = scene.ccm.run(*scene.words(cluster, SITE, "--engine", "threads", "--noop"))
        assert json.loads(plain.stdout)["summary"]["stable"] == 2 * HOSTS
        sinks = [scene.scratch / "state", scene.scratch / "dask"]
        written = [path for sink in sinks for path in sink.rglob("*") if path.is_file()]
        assert [path for path in written if b"hunter2" in path.read_bytes()] == []
        texts = [path for sink in sinks for path in sink.rglob("*.jsonl")]
        assert texts
        assert "ccm-stand-" not in "".join(path.read_text() for path in texts)
        kept = list((scene.scratch / "dask/state/ccm/sites").iterdir())
        assert len(kept) == 1, "the same site is kept once"


READS = """\
ccm:
  resources:
    - file:
        - "DIR/{{ Host.name }}":
            content: "{{ Hosts.h3.facts.host.info.os }} {{ Hosts.h3.gathered[:2] }} {{ REST }}"
            owner: OWNER
            group: GROUP
            mode: "0600"
"""
MISSING = "Hosts.h2.facts.host.info.os"


@pytest.mark.long
def test_workers_gather_the_facts_of_other_hosts(scene: Scene) -> None:
    """Facts of hosts that are not selected come by the workers of their sites, before the first
    change, and are kept; a host that no worker can ask refuses the hosts that read its facts."""
    scene.write_inventory({"h2": {"site": "rome"}, "h3": {"site": "paris"}})
    scene.preset("orchestrator.cluster.dask_engine", JOIN_TIMEOUT=3.0)
    with cluster_of(scene, 1) as cluster:
        cluster.hire("--site", "paris")
        words = ("-l", "h0,h1")
        refused = scene.ccm.run(*scene.words(cluster, READS.replace("REST", MISSING), *words))
        assert refused.code == 1, refused.output
        assert "gathering the facts of 2 hosts for templates" in refused.stderr
        assert "the facts of h2 are not known: h2 could not be queried: no worker" in refused.output
        assert list(scene.directory.iterdir()) == []
        site = READS.replace("REST", f"{MISSING} | default('none')")
        done = scene.ccm.run(*scene.words(cluster, site, *words))
        assert done.code == 0, done.output
        assert "gathering the facts of 1 host for templates" in done.stderr
        for name in ("h0", "h1"):
            assert (scene.directory / name).read_text() == "linux 20 none"
        (kept,) = (scene.scratch / "state/ccm/facts").glob("*.json")
        assert kept.name.startswith("h3-")


@pytest.mark.long
def test_a_worker_opens_no_more_files_than_its_hosts_need(scene: Scene) -> None:
    """A hard limit that is narrow is wide enough for a few; who gives too many is told of it."""
    with cluster_of(scene, 1) as cluster:
        resource.prlimit(cluster.workers[0].pid, resource.RLIMIT_NOFILE, (1024, 1024))
        done = scene.ccm.run(*scene.words(cluster, SITE, "--forks", "1000"))
        assert (done.code, set(ends(json.loads(done.stdout)).values())) == (0, {"ok"}), done.stdout
        resource.prlimit(cluster.workers[0].pid, resource.RLIMIT_NOFILE, (80, 80))
        done = scene.ccm.run(*scene.words(cluster, SITE))
        assert set(ends(json.loads(done.stdout)).values()) == {"worker.lost"}
        assert "allows 80; use --forks 3 or less" in done.stdout


@pytest.mark.long
def test_a_mistake_in_the_site_names_its_place_here(scene: Scene) -> None:
    """What fails on a worker is told with the paths of the controller."""
    text = SITE.replace("Environ.COLOUR", "lookup('data.missing')")
    with cluster_of(scene, 1) as cluster:
        done = scene.ccm.run(*scene.words(cluster, text))
        document = json.loads(done.stdout)
        assert set(ends(document).values()) == {"failed"}
        failed = [e for e in document["events"] if e.get("failed") and e["name"].endswith("h0")]
        assert "(site/site.yaml:9:" in str(failed[0]["error"])


def test_a_worker_that_is_killed_gives_its_hosts_to_another(scene: Scene) -> None:
    """They are begun anew there, which is told; none is missing."""
    with cluster_of(scene, 2) as cluster:
        command = scene.ccm.start(*scene.words(cluster, WAITS, "--lock-timeout", "0s"))
        wait_for(lambda: scene.begun() >= 1 or command.poll() is not None)
        cluster.workers[0].kill()
        time.sleep(1)
        (scene.directory / "go").touch()
        out, err = command.communicate(timeout=200)
        document = json.loads(out)
        assert set(ends(document)) == {f"h{n}" for n in range(HOSTS)}, err
        assert "another worker takes over its hosts" in " ".join(
            scene.ccm.run("report").stdout.split()
        )
        assert "worker.lost" not in ends(document).values()


def test_without_the_scheduler_hosts_are_lost_and_nothing_begins(scene: Scene) -> None:
    """The exit code is that of hosts that cannot be reached; the workers end."""
    with cluster_of(scene, 1) as cluster:
        command = scene.ccm.start(*scene.words(cluster, WAITS, "--forks", "1"))
        wait_for(lambda: scene.begun() == 1 or command.poll() is not None)
        cluster.scheduler.kill()
        out, err = command.communicate(timeout=200)
        assert command.returncode == 3, err
        document = json.loads(out)
        assert set(ends(document).values()) == {"worker.lost"}
        assert scene.begun() == 1
        assert cluster.workers[0].wait(120) == 3
        assert "lost the scheduler" in cluster.said("worker0")


@pytest.mark.long
def test_a_scheduler_that_begins_anew_has_nothing_of_the_run(scene: Scene) -> None:
    """Its hosts are lost, in plain words, and its workers end; those that come then work."""
    with cluster_of(scene, 2) as cluster:
        command = scene.ccm.start(*scene.words(cluster, WAITS, "--forks", "2"))
        wait_for(lambda: scene.begun() >= 1 or command.poll() is not None)
        cluster.begin_anew()
        out, err = command.communicate(timeout=200)
        assert (command.returncode, set(ends(json.loads(out)).values())) == (3, {"worker.lost"})
        assert f"lost the Dask scheduler tcp://{cluster.address}" in err
        assert "Traceback" not in err
        assert [worker.wait(120) for worker in cluster.workers] == [3, 3]
        none = scene.ccm.run(*scene.words(cluster, SITE))
        assert (none.code, "has no ccm workers" in none.stderr) == (2, True), none.stderr
        (scene.directory / "go").touch()
        cluster.hire()
        done = scene.ccm.run(*scene.words(cluster, SITE))
        assert set(ends(json.loads(done.stdout)).values()) == {"ok"}, done.stdout


@pytest.mark.long
def test_a_worker_that_hangs_is_given_up(scene: Scene) -> None:
    """After half a minute of silence its hosts are another one's; once awake it does nothing."""
    with cluster_of(scene, 1) as cluster:
        command = scene.ccm.start(*scene.words(cluster, WAITS, "--forks", "1"))
        wait_for(lambda: scene.begun() == 1 or command.poll() is not None)
        hung = cluster.workers[0].pid
        stands = descendants(hung)
        assert len(stands) == 1
        for pid in (*stands, hung):
            os.kill(pid, signal.SIGSTOP)
        cluster.hire()
        (scene.directory / "go").touch()
        out, err = command.communicate(timeout=250)
        assert set(ends(json.loads(out)).values()) == {"ok"}, err
        assert "no response for 30 s" in " ".join(scene.ccm.run("report").stdout.split())
        for pid in (hung, *stands):
            os.kill(pid, signal.SIGCONT)
        wait_for(lambda: not descendants(hung))


def test_hosts_of_a_site_go_to_its_workers_only(scene: Scene) -> None:
    """A host of a site without a worker is unreachable, and the others are not."""
    scene.write_inventory({"h0": {"site": "paris"}, "h1": {"site": "rome"}})
    with cluster_of(scene, 0) as cluster:
        cluster.hire("--site", "paris")
        scene.preset("orchestrator.cluster.dask_engine", JOIN_TIMEOUT=3.0)
        done = scene.ccm.run(*scene.words(cluster, SITE))
        document = json.loads(done.stdout)
        found = ends(document)
        assert (found.pop("h1"), set(found.values())) == ("worker.none", {"ok"}), done.stdout
        assert "no worker of site rome within 3 s" in done.stdout
        assert done.code == 3


def test_ctrl_c_ends_what_is_under_way(scene: Scene) -> None:
    """As with any engine."""
    with cluster_of(scene, 1) as cluster:
        command = scene.ccm.start(*scene.words(cluster, WAITS, "--forks", "1"))
        wait_for(lambda: scene.begun() == 1 or command.poll() is not None)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=200)
        assert command.returncode == 130, err
        assert set(ends(json.loads(out)).values()) == {"run.interrupted"}
        assert scene.begun() == 1
        wait_for(lambda: not descendants(cluster.workers[0].pid))


def test_a_controller_that_dies_takes_its_hosts_along(scene: Scene) -> None:
    """The worker ends what it has of it, and is there for the next run."""
    with cluster_of(scene, 1) as cluster:
        command = scene.ccm.start(*scene.words(cluster, WAITS, "--forks", "1"))
        wait_for(lambda: scene.begun() == 1 or command.poll() is not None)
        command.kill()
        command.communicate()
        wait_for(lambda: not descendants(cluster.workers[0].pid))
        assert scene.begun() == 1
        (scene.directory / "go").touch()
        done = scene.ccm.run(*scene.words(cluster, SITE))
        assert set(ends(json.loads(done.stdout)).values()) == {"ok"}


def test_who_is_not_of_the_same_authority_is_not_let_in(scene: Scene) -> None:
    """With another CA's certificate, or in plain text: neither worker nor controller."""
    ours, others = scene.scratch / "tls", scene.scratch / "others"
    certificates.make_authority(ours)
    certificates.make_authority(others)
    with cluster_of(scene, 0, ours) as cluster:
        stranger = cluster.hire("--tls", str(others), fails=True)
        assert stranger.wait(120) == 2
        assert f"its certificate is not signed by the CA {others / 'ca.pem'}" in cluster.said(
            "worker0"
        )
        scene.ccm.environment[certificates.VARIABLE] = str(others)
        done = scene.ccm.run(*scene.words(cluster, SITE))
        assert done.code == 2
        assert "no Dask scheduler responds" in done.stderr
        del scene.ccm.environment[certificates.VARIABLE]
        plain = scene.ccm.run(*scene.words(cluster, SITE))
        assert plain.code == 2
        assert "it uses TLS" in plain.stderr


def test_nobody_else_is_let_near_a_worker_without_tls(scene: Scene) -> None:
    """It listens on this machine alone, or the network could have it run anything."""
    with cluster_of(scene, 1) as cluster:
        assert set(listening(cluster.workers[0].pid)) == {"127.0.0.1"}
        assert set(listening(cluster.scheduler.pid)) == {"127.0.0.1"}


def test_who_speaks_tls_to_one_that_does_not_is_told_so(scene: Scene) -> None:
    """Worker and controller alike; that is no defect of ccm's."""
    tls = scene.scratch / "tls"
    certificates.make_authority(tls)
    with cluster_of(scene, 0) as cluster:
        assert cluster.hire("--tls", str(tls), fails=True).wait(120) == 2
        scene.ccm.environment[certificates.VARIABLE] = str(tls)
        done = scene.ccm.run(*scene.words(cluster, SITE))
        for option, said in (("--scheduler", cluster.said("worker0")), ("--engine", done.stderr)):
            assert f"{option}: no Dask scheduler responds at tls://{cluster.address}" in said
            assert "it does not use TLS" in said
            assert "dask scheduler --protocol tls" in said


def test_what_workers_cannot_do_is_refused_before_anything(scene: Scene) -> None:
    """No worker, a login's password, another version, a directory that is no site."""
    with cluster_of(scene, 0) as cluster:
        words = scene.words(cluster, SITE)
        done = scene.ccm.run(*words)
        assert (done.code, "has no ccm workers" in done.stderr) == (2, True), done.stderr
        assert f"ccm worker --scheduler {cluster.address}\n" in done.stderr
        given = scene.ccm.run(*words, "--ask-pass")  # which nobody can answer
        assert (given.code, "--ask-pass: login passwords" in given.stderr) == (2, True), (
            given.stderr
        )
        for name in ("CCM_SSH_PASSWORD", "CCM_SSH_PASSWORD_COMMAND"):
            scene.ccm.environment[name] = "echo hunter2"
            done = scene.ccm.run(*words)
            assert (done.code, f"{name}: login passwords" in done.stderr) == (2, True), done.stderr
            del scene.ccm.environment[name]
        older = scene.scratch / "older"
        older.mkdir()
        (older / "sitecustomize.py").write_text(
            "import remote_runtime.version\nremote_runtime.version.VERSION = '0.0.1'\n"
        )
        cluster.environment["PYTHONPATH"] = f"{older}:{scene.ccm.environment['PYTHONPATH']}"
        cluster.hire()
        done = scene.ccm.run(*words)
        assert (done.code, "no worker runs the same ccm" in done.stderr) == (2, True), done.stderr
        assert "0.0.1" in done.stderr
