"""``ccm verify`` with tests of the user's own, its options and its exit codes; on this machine."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest

from tests.push.command import Run
from tests.push.target import Target

SITE = """
data:
  greeting: hello
  token: s3cr3t-t0ken # @secret
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/motd: {content: "{{ Data.greeting }}\\n"}
        - DIR/token: {content: "{{ Data.token }}\\n", alias: token}
"""


@pytest.fixture
def pushed(local: Target) -> Target:
    """This machine as a push of the site leaves it."""
    local.write("motd", "hello\n")
    local.write("token", "s3cr3t-t0ken\n")
    here = {"connection": "local", "vars": {"role": "web"}}
    local.inventory.write_text(json.dumps({"hosts": {"web1": here, "web2": here}}))
    return local


def verify(target: Target, *words: str, site: str = SITE) -> Run:
    path = target.ccm.site(target.filled(site))
    return target.ccm.run("verify", "-i", str(target.inventory), "-l", "web1", str(path), *words)


def own_test(target: Target, text: str) -> str:
    """Write a test file of the user's; its path."""
    path = target.ccm.scratch / "tests" / "test_own.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.replace("DIR", target.directory), encoding="utf-8")
    return str(path)


OWN = """
import pytest

def test_motd(host, ccm_facts, ccm_data, ccm_resource):
    motd = ccm_resource("file#DIR/motd")
    assert host.file(motd.name).content_string == motd.properties["content"]
    assert ccm_data["greeting"] == "hello"
    assert ccm_facts["role"] == "web"
    assert ccm_resource("file#token").name == "DIR/token"

@pytest.mark.ccm_hosts("web1")
def test_live(host):
    before = host.run("cat DIR/counter").stdout
    host.run("echo x >> DIR/counter")
    assert host.run("cat DIR/counter").stdout == before + "x\\n"

@pytest.mark.ccm_hosts("web2")
def test_elsewhere(host):
    assert False

def test_without_a_host():
    assert True
"""


def test_own_tests_run_along(pushed: Target) -> None:
    """They get the host, its facts, its data and its resources, and run live, host by host."""
    done = verify(pushed, own_test(pushed, OWN), "-v")
    assert done.code == 0, done.output
    for line in ("passed   file#", "passed   tests/test_own.py::test_motd\n", "no host  1 passed"):
        assert line in done.stdout
    assert "1 host: 5 checks passed" in done.stdout


def test_a_manifest_of_another_directory(pushed: Target) -> None:
    """The path of the manifest may lead through a parent directory."""
    site = pushed.ccm.site(pushed.filled(SITE))
    elsewhere = pushed.ccm.scratch / "elsewhere"
    elsewhere.mkdir()
    path = f"{elsewhere}/../{site.name}"
    done = pushed.ccm.run("verify", "-i", str(pushed.inventory), "-l", "web1", path)
    assert done.code == 0, done.output
    assert "web1  2 passed" in done.stdout


def test_a_failed_test_reads_as_pytest_tells_it(pushed: Target) -> None:
    """pytest's own explanation stands below the test; a secret in it and control characters not."""
    text = """
def test_it(host):
    print("\\x1b[31mred\\x1b[0m")
    assert host.file("DIR/token").content_string == "other"
"""
    done = verify(pushed, own_test(pushed, text))
    assert done.code == 1, done.output
    assert "failed   tests/test_own.py::test_it" in done.stdout
    assert "AssertionError: assert '[masked]" in done.stdout
    assert "red" in done.stdout
    assert "\x1b" not in done.stdout
    assert "s3cr3t" not in done.output


OTHER_WAYS = """
import pytest

def test_skip(host, ccm_data):
    pytest.skip("because of " + ccm_data["token"])

@pytest.mark.xfail
def test_property(host, ccm_data, record_property):
    record_property("token", ccm_data["token"])
    pytest.xfail("as expected of " + ccm_data["token"])

def test_compares(host, ccm_data):
    assert ccm_data["token"] == "other"
"""


def test_a_secret_is_masked_whatever_way_a_test_tells_it(pushed: Target) -> None:
    """Reasons, properties and comparisons, in ccm's report, in pytest's, and in plain pytest."""
    own, report = own_test(pushed, OTHER_WAYS), pushed.ccm.scratch / "report.xml"
    for words in (("-v",), ("-vv",)):
        done = verify(pushed, own, f"--junitxml={report}", *words)
        assert done.code == 1, done.output
        assert "s3cr3t" not in done.output
        assert "because of [masked]" in report.read_text()
        assert "s3cr3t" not in report.read_text()
    site = pushed.ccm.site(pushed.filled(SITE))
    hosts = f"--hosts=ccm://web1?inventory={pushed.inventory}&manifest={site}"
    own_way = ["-m", "pytest", "-rA", "-p", "no:cacheprovider", hosts, f"--junitxml={report}", own]
    plain = subprocess.run(
        [sys.executable, *own_way], capture_output=True, text=True, env=pushed.ccm.environment
    )
    assert plain.returncode == 1, plain.stdout
    assert "because of [masked]" in plain.stdout
    assert "s3cr3t" not in plain.stdout + report.read_text()


def test_an_unknown_resource_is_told_with_the_nearest(pushed: Target) -> None:
    """A misspelt resource is a sentence, no traceback."""
    text = "def test_it(ccm_resource):\n    ccm_resource('file#DIR/modt')\n"
    done = verify(pushed, own_test(pushed, text))
    assert done.code == 1, done.output
    assert f"has no resource 'file#{pushed.directory}/modt'" in done.stdout
    assert f"did you mean file#{pushed.directory}/motd" in done.stdout
    assert "Traceback" not in done.stdout


def test_pytest_options_pass_through(pushed: Target) -> None:
    """-k, -x, -q and --junitxml mean what they mean to pytest, and others do behind --."""
    own = own_test(
        pushed, OWN + "\ndef test_bad(host):\n    assert 0\n\ndef test_z(host):\n    assert 0\n"
    )
    report = pushed.ccm.scratch / "report.xml"
    done = verify(pushed, own, "-k", "motd", "-q", "--junitxml", str(report))
    assert done.code == 0, done.output
    assert done.stdout.startswith("1 host: 2 checks passed in ")
    cases = {
        (c.get("classname"), c.get("name")) for c in ElementTree.parse(report).iter("testcase")
    }
    assert ("web1", f"file#{pushed.directory}/motd") in cases
    stopped = verify(pushed, "-x", own)
    assert stopped.code == 1
    assert "1 failed" in stopped.stdout
    assert "test_z" not in stopped.stdout
    listed = verify(pushed, own, "--", "--collect-only", "-q")
    assert f"web1 file#{pushed.directory}/motd" in listed.stdout.splitlines()
    chosen = verify(pushed, own, "-k", "nosuchthing")
    assert chosen.code == 2
    assert "no checks selected: none matches -k nosuchthing" in chosen.stdout


def test_junit_groups_all_by_host(pushed: Target) -> None:
    """A host's checks and tests are of one class, and a failure's message is its own sentence."""
    inventory = json.loads(pushed.inventory.read_text())
    inventory["hosts"]["db.example.com"] = inventory["hosts"].pop("web1")
    pushed.inventory.write_text(json.dumps(inventory))
    text = """
def test_bad(host, ccm_data):
    assert ccm_data["token"] == "other", "not " + ccm_data["token"]

def test_alone():
    pass
"""
    own, report = own_test(pushed, text), pushed.ccm.scratch / "report.xml"
    site = pushed.ccm.site(pushed.filled(SITE))
    words = ("-i", str(pushed.inventory), "-l", "db*", str(site), own, f"--junitxml={report}")
    assert pushed.ccm.run("verify", *words).code == 1
    cases = {c.get("name"): c for c in ElementTree.parse(report).iter("testcase")}
    assert {name: case.get("classname") for name, case in cases.items()} == {
        "tests/test_own.py::test_bad": "db_example_com",
        f"file#{pushed.directory}/motd": "db_example_com",
        f"file#{pushed.directory}/token": "db_example_com",
        "test_alone": "tests.test_own",
    }
    (failure,) = cases["tests/test_own.py::test_bad"]
    message = str(failure.get("message"))
    assert message.startswith("AssertionError: not [masked]\n")
    assert "def test_bad" not in message
    assert "def test_bad" in str(failure.text)


def test_a_failed_check_is_no_assertion(pushed: Target) -> None:
    """Only one line, expected beside found, nothing of how it was compared."""
    pushed.write("motd", "changed\n", 0o600)
    done = verify(pushed)
    assert done.code == 1, done.output
    block = done.stdout.partition(f"failed   file#{pushed.directory}/motd\n")[2].splitlines()
    assert block[0].strip().startswith("content: expected SHA-256 ")
    assert block[1].strip() == "mode: expected 0644, found 0600"
    assert "assert" not in done.stdout
    assert "Error" not in done.stdout


def test_a_test_that_is_no_python_is_refused(pushed: Target) -> None:
    """File, line and column are told, and no host is asked."""
    done = verify(pushed, own_test(pushed, "def test_it(host:\n    pass\n"))
    assert done.code == 2, done.output
    assert "test_own.py:1:" in done.stderr
    assert "not valid Python" in done.stderr
    assert done.stdout == ""


def test_a_test_that_cannot_be_imported_is_refused(pushed: Target) -> None:
    """What pytest says is shown, and no host is asked."""
    done = verify(pushed, own_test(pushed, "import no_such_module\n"))
    assert done.code == 2, done.output
    assert "No module named 'no_such_module'" in done.stdout
    assert "1 host: 0 checks" in done.stdout


def test_a_test_that_is_not_there_is_refused(pushed: Target) -> None:
    """A path that does not exist is told before anything else."""
    done = verify(pushed, "tests/no_such.py")
    assert done.code == 2
    assert "there is no test file or directory tests/no_such.py" in done.stderr


@pytest.mark.parametrize(
    ("site", "code", "words"),
    [
        ("ccm: {resources: [{file: [{/a: {content: x}}]}]}\n", 2, "owner"),
        (SITE.replace("Data.greeting", "lookup('data.gone')"), 1, "no such path"),
        (SITE.replace("ccm:", "ccmm:"), 2, "ccmm"),
    ],
)
def test_a_manifest_that_no_longer_resolves(
    pushed: Target, site: str, code: int, words: str
) -> None:
    """2 where that shows without a host, 1 where only this host's plan cannot be made."""
    done = verify(pushed, site=site)
    assert done.code == code, done.output
    assert words in done.output


def test_a_manifest_or_a_host_that_is_not_there(pushed: Target) -> None:
    """A missing manifest and a pattern without hosts are refused."""
    gone = pushed.ccm.run("verify", "-i", str(pushed.inventory), "no.yaml")
    assert gone.code == 2
    assert verify(pushed, "-l", "!web1").code == 2
    assert verify(pushed, "--", "--no-such-option").code == 2


def test_a_settings_file_beside_the_manifest_is_not_meant(pushed: Target) -> None:
    """Without tests of the user's own neither pytest.ini nor conftest.py there is read."""
    directory = pushed.ccm.scratch
    (directory / "pytest.ini").write_text(
        "[pytest]\naddopts = --no-such-option\n", encoding="utf-8"
    )
    (directory / "conftest.py").write_text("raise RuntimeError\n", encoding="utf-8")
    assert verify(pushed).code == 0


def test_ctrl_c_ends_it(pushed: Target) -> None:
    """The test in hand is ended, the command on the host with it, and the exit code is 130."""
    text = "def test_it(host):\n    host.run('touch DIR/begun; exec sleep 61.25')\n"
    own = own_test(pushed, text)
    site = pushed.ccm.site(pushed.filled(SITE))
    process = pushed.ccm.start("verify", "-i", str(pushed.inventory), str(site), own)
    end = time.monotonic() + 30
    while not pushed.path("begun").exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130, process.communicate()
    end = time.monotonic() + 10
    while running("sleep 61.25") and time.monotonic() < end:
        time.sleep(0.05)
    assert not running("sleep 61.25")


def running(command: str) -> bool:
    return subprocess.run(["pgrep", "-fx", command], capture_output=True).returncode == 0


def plain_pytest(target: Target, hosts: str, test: str) -> subprocess.CompletedProcess[str]:
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--hosts={hosts}",
        test,
    ]
    return subprocess.run(
        words, capture_output=True, text=True, env=target.ccm.environment,
        cwd=target.ccm.scratch, timeout=120,
    )  # fmt: skip


def test_plain_pytest_reaches_hosts_of_the_inventory(pushed: Target) -> None:
    """ccm:// takes a pattern and an inventory, and with a manifest the fixtures, too."""
    own = own_test(pushed, OWN)
    site = pushed.ccm.site(pushed.filled(SITE))
    where = f"inventory={pushed.inventory}&manifest={site}"
    done = plain_pytest(pushed, f"ccm://web*:!web2?{where}", own)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed, 1 deselected" in done.stdout


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("ccm://web1", "requires an inventory"),
        ("ccm://web1?inventory=no.yaml", "no.yaml"),
        ("ccm://wbe1?inventory=INVENTORY", "did you mean"),
        ("ccm://web1?inventry=x", "has no parameter 'inventry'"),
    ],
)
def test_a_wrong_specification_is_told_in_a_sentence(
    pushed: Target, hosts: str, words: str
) -> None:
    """No traceback through ccm for a mistake in --hosts."""
    own = own_test(pushed, "def test_it(host):\n    pass\n")
    done = plain_pytest(pushed, hosts.replace("INVENTORY", str(pushed.inventory)), own)
    assert done.returncode != 0
    assert words in done.stdout
    assert "Traceback" not in done.stdout
    assert "orchestrator" not in done.stdout


def test_a_push_verifies_what_it_did(local: Target) -> None:
    """push --verify is one report and one exit code, in JSON one document."""
    done = local.push(SITE, "--verify")
    assert done.code == 0, done.output
    assert "2 changed" in done.stdout
    assert "verify: site.yaml on 1 host" in done.stdout
    assert "1 host: 2 checks passed" in done.stdout
    assert local.push(SITE, "--verify", "-q").stdout == ""
    site = SITE + "    - exec:\n        - make: {command: 'true', creates: DIR/never}\n"
    failed = local.push(site, "--verify", "--json")
    assert failed.code == 1, failed.output
    report = local.ccm.run("report").stdout
    assert "1 changed" in report
    assert "verify: site.yaml on 1 host" in report
    assert "  failed   exec#make" in report
    where = ("inventory", "-i", str(local.inventory), "-l", "failed")
    assert local.ccm.run(*where).stdout.startswith("web1 ")
    document = json.loads(failed.stdout)
    assert document["exit_code"] == 1
    assert document["verify"]["failures"] == [
        {
            "host": "web1",
            "check": "exec#make",
            "text": f"creates: expected {local.directory}/never, found nothing",
        }
    ]


def test_a_preview_has_nothing_to_verify(local: Target) -> None:
    """--verify is refused beside --noop and --monitor-only."""
    for option in ("--noop", "--monitor-only"):
        done = local.push(SITE, "--verify", option)
        assert done.code == 2
        assert f"--verify and {option} are mutually exclusive" in done.stderr


def test_ctrl_c_while_hosts_are_asked(pushed: Target) -> None:
    """A host that never answers does not keep anybody from leaving."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = {"address": "127.0.0.1", "port": silent.getsockname()[1], "connect_timeout": 60}
        inventory = pushed.ccm.scratch / "silent.yaml"
        inventory.write_text(json.dumps({"hosts": {"web1": address}}), encoding="utf-8")
        site = pushed.ccm.site(pushed.filled(SITE))
        process = pushed.ccm.start("verify", "-i", str(inventory), str(site))
        silent.settimeout(30)
        connection, _ = silent.accept()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130, process.communicate()
        connection.close()


def test_a_mark_that_names_no_host_is_refused(pushed: Target) -> None:
    """The nearest name is told, with the test."""
    text = "import pytest\n@pytest.mark.ccm_hosts('wbe1')\ndef test_it(host):\n    pass\n"
    done = verify(pushed, own_test(pushed, text))
    assert done.code == 2, done.output
    assert "test_it[web1]: ccm_hosts:" in done.stderr
    assert "did you mean" in done.stderr


def test_hosts_are_asked_by_verify_alone(pushed: Target) -> None:
    """pytest-xdist cannot share a connection, so its option is refused where it is installed."""
    pytest.importorskip("xdist")
    done = verify(pushed, "--", "-n", "2")
    assert done.code == 2, done.output
    assert "ccm verify checks hosts in parallel by itself" in done.stderr
