"""The main job on throw-away hosts: preview, push, push again.

python -m examples.demo            three booted Debian hosts (root on Linux), else loopback
python -m examples.demo loopback   three SSH servers on loopback in any case
"""

import contextlib
import getpass
import grp
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

EXAMPLES = Path(__file__).resolve().parents[1]
NAMES = ["web1", "web2", "web3"]

NOT_SHOWN = """\
No lab host can be booted here: {reason}.
So this demo pushes to three SSH servers on loopback, each with a key and a scratch folder of its
own. What it does not show: packages, services, sudo, and several real machines.
"""


@contextlib.contextmanager
def booted() -> Iterator[tuple[Path, Path]]:
    """Boot three Debian hosts with systemd, apt and sshd; yield inventory and site."""
    from tests.lab import Lab

    say("Booting three throwaway Debian hosts (the first run also builds their base system) ...")
    with Lab(names=NAMES) as lab:
        yield lab.inventory(), EXAMPLES / "nginx" / "site.yaml"


@contextlib.contextmanager
def loopback() -> Iterator[tuple[Path, Path]]:
    """Start three SSH servers on loopback; yield inventory and site."""
    import paramiko

    from examples.demo.loopback import LoopbackServer

    with (
        tempfile.TemporaryDirectory(prefix="ccm-demo-") as directory,
        contextlib.ExitStack() as stack,
    ):
        scratch = Path(directory)
        key_file, known_hosts = scratch / "id_ecdsa", scratch / "known_hosts"
        user_key = paramiko.ECDSAKey.generate()
        user_key.write_private_key_file(str(key_file))
        group = grp.getgrgid(os.getgid()).gr_name
        hosts, lines = {}, []
        for name in NAMES:
            home = scratch / name
            home.mkdir()
            host_key = paramiko.ECDSAKey.generate()
            server = LoopbackServer(home, host_key, user_key)
            stack.callback(server.stop)
            lines.append(f"[127.0.0.1]:{server.port} {host_key.get_name()} {host_key.get_base64()}")
            variables = {"root": str(home), "owner": getpass.getuser(), "group": group}
            hosts[name] = {"address": "127.0.0.1", "port": server.port, "vars": variables}
        known_hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
        inventory = scratch / "hosts.yaml"
        defaults = {
            "user": getpass.getuser(),
            "key_file": str(key_file),
            "known_hosts": str(known_hosts),
        }
        inventory.write_text(yaml.safe_dump({"defaults": defaults, "hosts": hosts}))
        yield inventory, EXAMPLES / "loopback" / "site.yaml"


def say(text: str) -> None:
    """Print one line of the demo's own, at once."""
    print(text, flush=True)


def ccm(*arguments: str) -> int:
    """Run the command line as a user would and show what was run."""
    say(f"\n$ ccm {' '.join(arguments)}")
    return subprocess.run([sys.executable, "-m", "orchestrator.cli.app", *arguments]).returncode


@contextlib.contextmanager
def own_directories() -> Iterator[None]:
    """Keep the runs and caches of the demo in a scratch directory, so that it leaves no trace."""
    with tempfile.TemporaryDirectory(prefix="ccm-demo-state-") as directory:
        os.environ["XDG_STATE_HOME"] = f"{directory}/state"
        os.environ["XDG_CACHE_HOME"] = f"{directory}/cache"
        yield


def main(arguments: list[str]) -> int:
    """Run the three pushes; 0 when all of them ended well and the last one changed nothing."""
    from tests.lab import available

    reason = "loopback was asked for" if arguments == ["loopback"] else available()
    if reason:
        say(NOT_SHOWN.format(reason=reason))
    hosts = loopback() if reason else booted()
    with own_directories(), hosts as (inventory, site):
        shown = os.path.relpath(site)
        codes = [
            ccm("push", "-i", str(inventory), "--noop", shown),
            ccm("push", "-i", str(inventory), shown),
            ccm("push", "-i", str(inventory), "--detailed-exitcode", shown),
        ]
    say("\nThe hosts are gone again; nothing is left running.")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
