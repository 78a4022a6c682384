"""Makes the pictures of the pages about reports: python -m docs.pictures (root on Linux, chromium).

Eight booted hosts, of which one is down and one has a file where a directory belongs: a preview, a
push, and a second push with another title.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
HOSTS = [*(f"web{number}" for number in range(1, 8)), "db1"]
COLUMNS = 100
_FONT = re.compile(r"@font-face \{.*?\}\s*", flags=re.DOTALL)
"""What would have a reader fetch a font from another server."""


def main() -> int:
    """Make every picture."""
    from tests.lab import Lab

    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ccm-pictures-") as directory, Lab(names=HOSTS) as lab:
        os.environ["XDG_STATE_HOME"] = directory
        lab.hosts["db1"].stop()
        lab.hosts["web3"].run("mkdir -p /srv/demo/index.html")
        inventory = str(lab.inventory())
        site = ("-q", "-i", inventory, "examples/nginx/site.yaml")
        ccm("push", "--noop", *site)
        ccm("push", "--connect-timeout", "2", *site)
        _draw(Path(directory))
        ccm("push", "--connect-timeout", "2", "--data", "title=hello", *site)
        runs = [line.split()[0] for line in ccm("runs").splitlines()[1:]]
        _terminal("diff", f"ccm diff {runs[1]} {runs[0]}", ccm("diff", runs[1], runs[0]))
    return 0


def ccm(*words: str) -> str:
    """What the command line says."""
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator.cli.app", *words],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    return _short(done.stdout)


def _short(text: str) -> str:
    """Without the directory of this checkout, which is nobody else's."""
    return text.replace(f"{ROOT}/", "")


def _draw(directory: Path) -> None:
    """The pictures of the last run."""
    ccm("report", "--html", f"{directory}/run.html", "--metrics", f"{directory}/run.prom")
    _page("report-light", f"file://{directory}/run.html", 1)
    _page("report-dark", f"file://{directory}/run.html#host=web3", 0)
    markdown = ccm("report", "--markdown", "-")
    _terminal("markdown", "ccm report --markdown -", markdown)
    junit = ccm("report", "--junit", "-").splitlines()
    start = next(at for at, line in enumerate(junit) if 'testsuite name="web3"' in line)
    shown = "\n".join(["…", *junit[start : start + 14], "…"])
    _terminal("junit", "ccm report --junit -", shown)
    metrics = _short((directory / "run.prom").read_text(encoding="utf-8")).splitlines()
    told = [line for line in metrics if 'name="nginx"' in line or "manifest_apply" in line]
    command = """ccm report --metrics ccm.prom; grep -e 'name="nginx"' -e manifest_apply ccm.prom"""
    _terminal("metrics", command, "\n".join(told))


def _page(name: str, address: str, scheme: int) -> None:
    """A picture of a page as the browser shows it; the scheme is 0 for dark and 1 for light."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    subprocess.run(
        [
            "chromium", *flags, "--window-size=1200,1500",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--screenshot={IMAGES / name}.png", address,
        ],
        stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip


def _terminal(name: str, command: str, text: str) -> None:
    """A picture of a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f"$ {command}", style="bold"), Text(text.rstrip()), sep="\n")
    picture = console.export_svg(title="ccm", unique_id=f"ccm-{name}")
    (IMAGES / f"{name}.svg").write_text(_FONT.sub("", picture), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
