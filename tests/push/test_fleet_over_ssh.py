"""Files of one host that are made of others: the site of docs/howto/other-hosts.md, over SSH."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.docs.pages import DOCS, named_files
from tests.lab import Host, Lab
from tests.push.command import Ccm

# In place of programs that the lab does not have, and what control and data have to say of it.
MORE = """\
data:
  top: /srv/fleet
  peers: "{{ Data.top }}/peers"
  first: "{{ Groups.queue[0] }}"
"""
CONTROLLED = """\
- exec:
    - defaults: {provider: shell, cwd: "{{ Data.top }}"}
    - there: {command: "echo there >> told", control: {exists: "{{ Data.peers }}"}}
    - not-there: {command: "echo absent >> told", control: {absent: "{{ Data.peers }}"}}
    - asked: {command: "echo asked >> told", control: {command: "grep web2 {{ Data.peers }}"}}
    - first: {command: "echo {{ Data.first }} >> told", control: {if: Data.first == Host.name}}
"""


def test_files_that_are_made_of_other_hosts(lab: Lab, hosts: list[Host], tmp_path: Path) -> None:
    """The pages' templates for /etc/hosts, known hosts, upstreams, a database's access and a
    cluster's peers come out on a host, with the facts of one that is not selected."""
    files = named_files(DOCS / "howto" / "other-hosts.md")
    interface = hosts[1].run("ip -o -4 route show default").stdout.split(" dev ")[1].split()[0]
    for name, text in files.items():
        (tmp_path / name).write_text(text.replace("eth1", interface))
    site = yaml.safe_load(files["site.yaml"])
    resources = site["ccm"]["resources"]
    for entry in resources[0]["file"][1:]:
        for path in [
            path for path in entry if path.split("/")[2] in ("nginx", "postgresql", "queue")
        ]:
            entry[f"/srv/fleet/{path.rpartition('/')[2]}"] = entry.pop(path)
    resources[0]["file"].insert(1, {"/srv/fleet": {"ensure": "directory", "mode": "0755"}})
    resources += yaml.safe_load(CONTROLLED)
    (tmp_path / "site.yaml").write_text(MORE + yaml.safe_dump(site))
    about = {
        host.name: {"vars": {"host_key": host.public_host_key, "port": 8080 + number}}
        for number, host in enumerate(hosts[:2])
    }
    groups = {"web": ["web1", "web2"], "queue": ["web1", "web2"]}
    inventory = lab.inventory(tmp_path / "hosts.yaml", groups=groups, hosts=about)
    words = ("push", "-i", str(inventory), "-l", "web1", str(tmp_path / "site.yaml"))
    done = Ccm(tmp_path).run(*words)
    assert done.code == 0, done.output
    assert "gathering the facts of 2 hosts for templates" in done.output
    web1, web2 = hosts[0], hosts[1]
    assert f"{web2.address} web2\n" in web1.path("/etc/hosts").read_text()
    made = {path.name: path.read_text() for path in web1.path("/srv/fleet").iterdir()}
    assert made["peers"] == f"web2 {web2.address}\n"
    assert f"server {web2.address}:8081;" in made["upstreams.conf"]
    assert f"host app app {web1.address}/32 scram-sha-256\n" in made["pg_hba.conf"]
    assert made["told"] == "there\nasked\nweb1\n"
    # The key of web2 is known there, by its name; the user is not.
    tried = web1.run("ssh -o BatchMode=yes -o StrictHostKeyChecking=yes web2 true", check=False)
    assert "Permission denied (publickey" in tried.stderr
