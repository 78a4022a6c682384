"""A role for each entry of a list, on booted hosts."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab import Host, Lab
from tests.push.command import REPOSITORY, Ccm

EXAMPLE = REPOSITORY / "examples" / "virtual-hosts"
NAMES = (
    "blog", "careers", "docs", "events", "forum", "help", "media", "news", "partners", "press",
    "shop", "status",
)  # fmt: skip

ASK = """\
import sys, urllib.request
asked = urllib.request.Request("http://127.0.0.1:8080/", headers={"Host": sys.argv[1]})
print(urllib.request.urlopen(asked).read().decode())
"""


def page(host: Host, name: str) -> str:
    """What a virtual host answers on its host."""
    return host.run(f"python3 - {name}.example.net", input=ASK).stdout.strip()


def test_each_virtual_host_answers(lab: Lab, hosts: list[Host], tmp_path: Path) -> None:
    """Twelve virtual hosts of one role are there after one push; the one that data removes is not.
    A host that fails the assertion is refused before its first change. What is pushed again is
    unchanged, and one virtual host can be pushed alone."""
    site = tmp_path / "virtual-hosts"
    shutil.copytree(EXAMPLE, site)
    none = "".join(f"  {name}: '--'\n" for name in (*NAMES, "legacy"))
    (site / "data/place/paris.yaml").write_text(f"sites:\n{none}")
    places = {"web1": {"vars": {"place": "berlin"}}, "web2": {"vars": {"place": "paris"}}}
    lab.inventory(site / "hosts.yaml", hosts=places)
    ccm = Ccm(tmp_path)

    def push(*words: str) -> tuple[int, str]:
        done = ccm.run("push", *words, str(site / "site.yaml"))
        return done.code, done.output

    code, told = push("-l", "web1,web2")
    assert code == 1, told
    assert "web2 has no virtual hosts" in told
    assert not hosts[1].path("/srv/www").exists()
    web = hosts[0]
    assert sorted(path.name for path in web.path("/etc/nginx/sites-enabled").iterdir()) == [*NAMES]
    assert [page(web, name) for name in ("press", "manual", "buy")] == [
        "<h1>Für die Presse</h1>",
        "<h1>The manual</h1>",
        "<h1>The shop</h1>",
    ]
    assert "deny all;" in web.path("/etc/nginx/sites-enabled/partners").read_text()
    assert "deny all;" not in web.path("/etc/nginx/sites-enabled/news").read_text()
    assert web.path("/etc/nginx/conf.d/expires.conf").exists()

    code, told = push("-l", "web1", "--detailed-exitcode")
    assert code == 0, told
    web.run("rm -r /srv/www/shop /srv/www/blog")
    code, told = push("-l", "web1", "--only", "apply#vhost shop")
    assert code == 0, told
    assert page(web, "shop") == "<h1>The shop</h1>"
    assert not web.path("/srv/www/blog").exists()
