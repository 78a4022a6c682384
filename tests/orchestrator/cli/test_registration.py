import json
import signal
from pathlib import Path

import pytest
import yaml

from orchestrator.cli.app import main
from orchestrator.registration.entry import Registration
from orchestrator.registration.store import open_store
from tests.orchestrator.registration.test_nats_stream import server, url
from tests.push.command import Ccm
from tests.texts import expect_text

__all__ = ["server", "url"]

ENTRIES = [
    Registration.of(
        {
            "cluster": "prod", "service": service, "protocol": "http", "address": address,
            "port": 80, "ttl": "10h", "annotations": {"zone": "a"},
        }
    )
    for service, address in (("web", "10.0.0.1"), ("web", "::1"), ("api", "10.0.0.2"))
]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with three entries, which the environment names."""
    path = str(tmp_path / "r.json")
    monkeypatch.setenv("CCM_REGISTRATION", path)
    open_store(path, new=True).publish(ENTRIES)
    return path


def test_query(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Entries are shown a line each, those only that are asked for, or as JSON."""
    assert main(["registration", "query", "prod", "http", "web"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[:2] for line in lines] == [
        ["prod http web", "10.0.0.1:80"],
        ["prod http web", "[::1]:80"],
    ]
    assert lines[0].endswith("ttl 10h  zone=a")
    assert main(["registration", "query", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1] == ENTRIES[2].payload()
    assert main(["registration", "query", "other"]) == 0
    assert "no matching service is registered in " + place in capsys.readouterr().err


def test_remove(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is removed is gone, the rest stays; at least the cluster must be named."""
    assert main(["registration", "rm"]) == 2
    assert main(["registration", "rm", "prod", "*", "web"]) == 0
    assert "removed 2 registrations" in capsys.readouterr().out
    assert main(["registration", "rm", "prod", "*", "web"]) == 0
    assert "removed 0 registrations" in capsys.readouterr().out
    main(["registration", "query"])
    assert "10.0.0.2:80" in capsys.readouterr().out


def test_parts_by_name(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each part may be a flag, too, as long as it is given once."""
    assert main(["registration", "query", "--cluster", "prod", "--service", "api"]) == 0
    assert capsys.readouterr().out.startswith("prod http api")
    assert main(["registration", "rm", "prod", "--cluster", "prod"]) == 2
    expect_text(capsys.readouterr().err)
    assert main(["registration", "rm", "--cluster", "prod", "--protocol", "http",
                 "--service", "web", "--address", "::1"]) == 0  # fmt: skip
    assert capsys.readouterr().out == "removed 1 registration\n"


ENDPOINT = ("--cluster", "prod", "--protocol", "http", "--service", "web", "--address", "::1")


def test_create(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A service is registered by hand, in the place of one of the same endpoint."""
    for zone in ("a", "b"):
        words = ("--port", "8080", "--ttl", "1h", "-A", f"zone={zone}", "-A", "note=x y")
        assert main(["registration", "create", *ENDPOINT, *words]) == 0
        out = capsys.readouterr().out
        first = f"registered in {place}: prod http web  [::1]:8080  priority 1  since "
        assert out.startswith(first)
        assert out.endswith(f"  note=x y  zone={zone}\n")
    assert main(["registration", "query", *ENDPOINT, "--port", "8080", "--yaml"]) == 0
    (entry,) = yaml.safe_load(capsys.readouterr().out)
    assert (entry["ttl"], entry["priority"]) == ("1h", 1)
    assert entry["annotations"] == {"zone": "b", "note": "x y"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "registration create: --port "),
        (["--ttl", "soon"], "--ttl"),
        (["--priority", "300"], "registration create: --priority must be at most 255"),
        (["-A", "zone"], "-A 'zone' is not an annotation"),
        (["--service", "*"], "--service"),
    ],
)
def test_what_cannot_be_registered(
    place: str, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """What a manifest could not announce is refused of the flag, and nothing is written."""
    before = Path(place).read_bytes()
    assert main(["registration", "create", *ENDPOINT, *words]) == 2
    assert said in capsys.readouterr().err
    assert Path(place).read_bytes() == before


def test_a_port(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``rm --port`` leaves the other ports of a service alone; ``--force`` and ``delete`` pass."""
    assert main(["registration", "create", *ENDPOINT, "--port", "8080"]) == 0
    capsys.readouterr()
    assert main(["registration", "delete", *ENDPOINT, "--port", "8080", "--force"]) == 0
    assert capsys.readouterr().out == "removed 1 registration\n"
    main(["registration", "query", *ENDPOINT])
    assert "[::1]:80 " in capsys.readouterr().out


def test_watch(tmp_path: Path) -> None:
    """What is there is told at once, and later what comes, until it is interrupted."""
    ccm = Ccm(tmp_path)
    ccm.environment["CCM_REGISTRATION"] = place = str(tmp_path / "r.json")
    open_store(place, new=True).publish(ENTRIES[:1])
    watching = ccm.start("registration", "watch", "prod", "--json")
    try:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        open_store(place).remove(ENTRIES[:1])
        second = json.loads(watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=60)
    finally:
        watching.kill()
    assert watching.returncode == 130
    assert [first["action"], second["action"]] == ["registered", "removed"]
    assert second["entry"] == ENTRIES[0].payload()


def test_init(place: str, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A stream is made ready, again without harm; what is for streams is refused for a file."""
    assert main(["registration", "init", "--max-age", "1h"]) == 2
    assert "apply only to a stream" in capsys.readouterr().err
    for _ in range(2):
        arguments = ["--registration", url, "--max-age", "1h"]
        assert main(["registration", "init", *arguments]) == 0
        out = capsys.readouterr().out
        assert "REGISTRATION is ready" in out
        assert "s3cret" not in out
    open_store(url).publish(ENTRIES)
    assert main(["registration", "query", "--registration", url]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_registry_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is no file is refused with a hint at streams; init makes the file, once."""
    monkeypatch.chdir(tmp_path)
    assert main(["registration", "query", "--registration", "PROD"]) == 2
    assert "nats://host:4222/STREAM" in capsys.readouterr().err
    for _ in range(2):
        assert main(["registration", "init", "--registration", "PROD"]) == 0
    assert json.loads((tmp_path / "PROD").read_text())["registrations"] == []
    assert main(["registration", "query", "--registration", "PROD"]) == 0


def test_a_server_that_is_down(capsys: pytest.CaptureFixture[str]) -> None:
    """A store that cannot be used is an error with a hint."""
    pytest.importorskip("nats", reason="the extra ccm-push[nats] is not installed")
    assert main(["registration", "query", "--registration", "nats://127.0.0.1:1"]) == 1
    assert "is the server up" in capsys.readouterr().err
