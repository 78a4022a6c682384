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
PICTURES = (("studio-fleet", "/", "light", 900), ("studio-run", "/runs/{last}", "dark", 1000))


def main() -> int:
    """Make every picture."""
    with tempfile.TemporaryDirectory(prefix="ccm-pictures-") as directory:
        state = Path(directory) / "ccm"
        write_history(state, runs=17, hosts=24)
        said: list[str] = []
        over = threading.Event()
        with listen("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            options = StudioOptions(state, "127.0.0.1", port, user="alice")
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
