"""Makes the pictures of the page about the studio: python -m docs.studio_pictures (chromium).

The history is that of ``benchmarks.histories``: 17 runs of 24 hosts, of which the last one broke
some.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from benchmarks.histories import write_history
from orchestrator.studio.web.server import listen, serve
from orchestrator.studio.web.start import StudioOptions, assemble

IMAGES = Path(__file__).resolve().parent / "images"
WIDTH = 1200
DESIGN = "/design/edit?file=site.yaml"
PICTURES = (
    ("studio-fleet", "/", "light", 1000),
    ("studio-run", "/runs/{last}", "dark", 1000),
    ("studio-design", f"{DESIGN}&resource=1", "light", 900),
    ("studio-hierarchy", f"{DESIGN}&section=hierarchy", "dark", 820),
)
SITE = """\
# The web servers
data:
  port: 80  # of nginx
  admins: [ann, bert]
hierarchy:
  order: ["role:{{ lookup('facts.role', 'none') }}", default]
  merge: deep
  keys: {admins: unique}
overrides:
  role:web:
    port: 8080
ccm:
  defaults:
    file: {owner: root, group: root}
  resources:
    - package:
        - nginx:
            ensure: latest
    - file:
        - /etc/nginx/conf.d/site.conf:
            content: "{{ template('site.j2') }}"
            mode: "644x"
            require: ["package#nginx"]
    - service:
        - nginx:
            ensure: running
            enable: true
            subscribe: ["file#/etc/nginx/conf.d/site.conf"]
    - user:
        - "{{ item }}":
            foreach: Data.admins
            groups: [adm]
"""
"""The manifest of the designer's pictures, with a problem at a field."""


def main() -> int:
    """Make every picture."""
    with tempfile.TemporaryDirectory(prefix="ccm-pictures-") as directory:
        state = Path(directory) / "ccm"
        write_history(state, runs=17, hosts=24)
        project = _project(Path(directory) / "site")
        said: list[str] = []
        over = threading.Event()
        with listen("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            options = StudioOptions(state, "127.0.0.1", port, user="alice", project=project)
            parts = assemble(options, port, said.append)
            parts.keeper.refresh()
            parts.access.announce()
            settings = {"tls": None, "is_over": over.is_set}
            thread = threading.Thread(target=serve, args=(parts.app, listener), kwargs=settings)
            thread.start()
            try:
                _draw(said[0], max(path.name for path in (state / "runs").iterdir()))
            finally:
                over.set()
                thread.join()
                parts.keeper.stop()
    return 0


def _project(directory: Path) -> Path:
    """A project with the manifest of the designer's pictures."""
    directory.mkdir()
    (directory / "ccm.yaml").write_text("facts_max_age: 1h\n")
    (directory / "site.yaml").write_text(SITE)
    (directory / "site.j2").write_text("listen {{ Data.port }};\n")
    return directory


def _draw(link: str, last: str) -> None:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    browser = Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    try:
        browser.get(link)
        browser.find_element("css selector", ".login button").click()
        for name, path, scheme, height in PICTURES:
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.get(link.partition("/login")[0] + path.format(last=last))
            browser.save_screenshot(str(IMAGES / f"{name}.png"))
    finally:
        browser.quit()


if __name__ == "__main__":
    sys.exit(main())
