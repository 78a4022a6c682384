"""Scaffolds as a push leaves them, over SSH and locally."""

import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm, Event, Run, runtimes
from tests.push.target import Target

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scaffold"
ONE = "ccm:\n  resources:\n    - scaffold:\n        - DIR/out: {source: tpl%s}\n"


def found(target: Target, done: Run, name: str = "out") -> Event:
    """The event of a scaffold, named relative to the directory."""
    return done.event(f"scaffold#{target.directory}/{name}")


def templates(target: Target, **files: str | bytes) -> None:
    """Write templates beside the site; __ stands for a slash."""
    for name, content in files.items():
        path = target.ccm.scratch / "tpl" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_the_example(target: Target) -> None:
    """What the preview counts is done and no more, once; who subscribes is fired."""
    shutil.copytree(EXAMPLE / "templates", target.ccm.scratch / "templates")
    site = (EXAMPLE / "site.yaml").read_text().replace("/etc/shop", "DIR/shop")
    target.write("shop/extra", "x")
    preview = target.push(site, "--noop")
    assert preview.code == 0, preview.output
    told = found(target, preview, "shop")
    assert told["noop_message"] == "Would have changed 5 scaffold files"
    assert target.names("shop") == ["extra"]

    first = target.push(site)
    assert first.code == 0, first.output
    assert first.event("exec#reload-shop")["refreshed"]
    assert target.names("shop") == ["backends", "bin", "main.conf"]
    assert target.names("shop/backends") == ["cart.conf", "search.conf"]
    assert target.read("shop/backends/cart.conf") == (
        "# Managed by ccm on web1, changes are overwritten.\nname = cart\nport = 9001\n"
    )
    look = target.look("shop/bin/check")
    assert look is not None
    assert look.mode == 0o755
    for options in (["--noop"], []):
        again = target.push(site, *options)
        assert set(target.statuses(again).values()) == {"stable"}, again.output

    absent = target.push(site.split("    - exec")[0].replace("purge: true", "ensure: absent"))
    assert absent.code == 0, absent.output
    assert target.look("shop") is None


def test_only_what_differs_travels(target: Target) -> None:
    """Large and binary files arrive byte by byte, and of many files one that differs is written."""
    large = bytes(range(256)) * 9000
    templates(target, large=large, **{f"f{n}": f"[[ Host.name ]] {n}\n" for n in range(50)})
    site = ONE % ", post: [{'f1*': 'sed -i s/web1/WEB/ {}'}]"
    assert target.push(site).code == 0
    assert target.path("out/large").read_bytes() == large
    assert target.read("out/f17") == "WEB 17\n"
    inode = target.path("out/large").stat().st_ino
    target.write("out/f3", "edited\n")
    done = target.push(site)
    changes = found(target, done)["changes"]
    assert [change["what"] for change in changes] == ["f3"]
    assert "-edited\n+web1 3\n" in changes[0]["diff"]
    assert target.path("out/large").stat().st_ino == inode


def test_a_template_that_fails_fails_its_resource(target: Target) -> None:
    """A mistake that shows on one host only is told with the template's place; the rest goes on."""
    templates(target, a="fine\n[[ data.nope ]]\n")
    site = ONE % "" + "    - exec:\n        - echo on: {}\n"
    for options in (["--noop"], []):
        done = target.push(site, *options)
        assert done.code == 1, done.output
        (error,) = found(target, done)["error"]
        assert "data.nope: no such path (tpl/a:2:" in error
        assert target.look("out") is None
        assert done.event("exec#echo on")["changed"]


def test_a_scaffold_that_is_left_out_is_not_rendered(target: Target) -> None:
    """With control false no template is run."""
    templates(target, a="[[ data.nope ]]")
    done = target.push(ONE % ", control: {if: 'false'}")
    assert done.code == 0, done.output
    assert found(target, done)["skipped"]


@pytest.mark.parametrize(
    ("properties", "fragments"),
    [
        (", engine: erb", ["site.yaml:4:", "erb", "jet"]),
        (", source2: x", ["site.yaml:4:", "source2"]),
        (", left_delimiter: '<<'", ["left_delimiter", "right_delimiter is also required"]),
        (", post: [{'*': \"it's\"}]", ["site.yaml:4:", "quote"]),
        (", post_timeout: soon", ["site.yaml:4:", "soon", "duration"]),
        (", data: [1]", ["site.yaml:4:", "data"]),
    ],
)
def test_wrong_properties(local: Target, properties: str, fragments: list[str]) -> None:
    """A property that cannot be is refused with its place."""
    templates(local, a="a")
    done = local.push(ONE % properties)
    assert done.code == 2, done.output
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr


def test_wrong_sites(local: Target) -> None:
    """What the manifest itself shows to be wrong is refused, all of it at once."""
    head = "ccm:\n  resources:\n    - scaffold:\n"
    names = "DIR/url: {source: 'https://x/y'}", "relative: {source: t}", "DIR/../x: {source: t}"
    done = local.push(head + "".join(f"        - {name}\n" for name in (*names, "DIR/none: {}")))
    assert done.code == 2
    for fragment in (
        "not a URL",
        "site.yaml:5:11",
        "the path must not have",
        "required property 'source' is missing",
    ):
        assert fragment in done.stderr, done.stderr


def test_wrong_directories_and_templates(local: Target) -> None:
    """Every mistake of the templates is told at once, by file, line and column of the template."""
    templates(local, a="[[ if ]]", sub__b="\n  [[ nofunction() ]]", c="\n\n{% bad %}{{ x }}")
    head = "ccm:\n  resources:\n    - scaffold:\n"
    directories = "tpl", "tpl, engine: jinja", "nowhere", "tpl/a"
    lines = [
        f"        - DIR/{n}: {{source: {directory}}}\n" for n, directory in enumerate(directories)
    ]
    done = local.push(head + "".join(lines))
    assert done.code == 2
    for fragment in (
        "tpl/a:1:", "tpl/sub/b:2:6", "nofunction", "tpl/c:3:4", "site.yaml:6:", "does not exist",
        "site.yaml:7:", "is not a directory", "5 errors",
    ):  # fmt: skip
        assert fragment in done.stderr, done.stderr
    validated = local.ccm.run("validate", str(local.ccm.scratch / "site.yaml"))
    assert (validated.code, "tpl/sub/b:2:6" in validated.output) == (2, True)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_command_dies_with_the_run(ccm: Ccm, lab: Lab, host: Host, end: signal.Signals) -> None:
    """However a push ends, the command that works on a copy ends with it, and the copy is gone."""
    (ccm.scratch / "tpl").mkdir()
    (ccm.scratch / "tpl" / "a").write_text("secret")
    site = ccm.site((ONE % ", post: [{'*': \"sh -c 'sleep 4321'\"}]").replace("DIR", "/srv"))
    push = ccm.start("push", "-i", str(lab.inventory()), "-l", "web1", str(site))
    deadline = time.monotonic() + 60
    while not host.run("pgrep -f '[s]leep 4321' || true").stdout:
        assert time.monotonic() < deadline, "the command is not started"
        assert push.poll() is None, push.communicate()
        time.sleep(0.1)
    assert host.run("ls -d /tmp/ccm-*").stdout
    push.send_signal(end)
    push.communicate(timeout=60)
    while runtimes(host) or host.run("pgrep -f '[s]leep 4321' || true").stdout:
        assert time.monotonic() < deadline, "the command goes on"
        time.sleep(0.2)
    assert host.run("ls -d /tmp/ccm-* 2>/dev/null || true").stdout == ""
    assert not host.exists("/srv/out")


def test_secrets_stay_secret(target: Target) -> None:
    """A value of secret data is in the file that is written and in no output."""
    templates(target, a="password = [[ data.password ]]\n")
    site = "data:\n  # @secret\n  password: hunter2-hunter2\n" + ONE % ""
    for options in (["--noop"], []):
        done = target.push(site, *options)
        assert "hunter2" not in done.output + str(done.events)
        assert "[masked]" in str(found(target, done)["changes"])
    assert target.read("out/a") == "password = hunter2-hunter2\n"


def test_relative_to_the_manifest(local: Target, tmp_path: Path) -> None:
    """The directory stands beside the manifest, wherever ccm is run; vars may choose it."""
    (tmp_path / "deep" / "tpl-web").mkdir(parents=True)
    (tmp_path / "deep" / "tpl-web" / "a").write_text("[[ facts.role ]]")
    site = local.ccm.site(
        local.filled(
            (ONE % "").replace("source: tpl", "source: \"tpl-{{ lookup('facts.role') }}\"")
        ),
        "deep/site.yaml",
    )
    done = local.ccm.push(local.inventory, site)
    assert done.code == 0, done.output
    assert local.read("out/a") == "web"
    escaping = local.filled((ONE % "").replace("source: tpl", "source: \"{{ '../tpl' }}\""))
    done = local.ccm.push(local.inventory, local.ccm.site(escaping, "deep/site.yaml"))
    assert "is outside the manifest's directory" in str(found(local, done)["error"])


def test_hundreds_of_files_for_every_host(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """Hundreds of rendered files reach every host in one go, and are stable at once."""
    directory = ccm.scratch / "tpl"
    directory.mkdir()
    for number in range(400):
        (directory / f"f{number}").write_text(f"[[ Host.name ]] {number}\n")
    site = ccm.site((ONE % "").replace("DIR", "/srv"))
    first = ccm.push(lab.inventory(), site)
    assert first.code == 0, first.output
    for host in hosts:
        assert len(list(host.path("/srv/out").iterdir())) == 400
        assert host.path("/srv/out/f399").read_text() == f"{host.name} 399\n"
    second = ccm.push(lab.inventory(), site)
    assert {event["status"] for event in second.events} == {"stable"}
