"""The main job on real hosts: preview, push, converge, over SSH with apt and systemd."""

from pathlib import Path

from tests.lab import Host, Lab
from tests.push.command import REPOSITORY, Ccm

SITE = REPOSITORY / "examples" / "nginx" / "site.yaml"


def test_nginx_from_nothing_to_converged(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """A preview changes and fails nothing, the push brings nginx up, the second push is stable."""
    inventory = lab.inventory()
    preview = ccm.push(inventory, SITE, "--noop")
    assert preview.code == 0, preview.output
    assert [e for e in preview.events if e["failed"]] == []
    assert all(e["noop"] for e in preview.events)
    for host in hosts:
        assert not host.exists("/etc/nginx")
        assert not host.exists("/srv/demo")
        wanted = preview.of(host.name)
        assert wanted["package#nginx-light"]["noop_message"] == "Would have installed"
        assert wanted["package#nginx-light"]["prediction"] == "certain"
        assert wanted["file#/etc/nginx/conf.d/demo.conf"]["prediction"] == "certain"
        assert wanted["file#/srv/demo/index.html"]["prediction"] == "certain"
        assert wanted["service#nginx"]["noop_message"] == "Would have restarted via subscribe"

    first = ccm.push(inventory, SITE)
    assert first.code == 0, first.output
    for host in hosts:
        assert first.event("service#nginx", host.name)["failed"] is False
        page = host.run(
            "python3 -c 'import urllib.request as u; "
            'print(u.urlopen("http://127.0.0.1:8080/").read().decode())\''
        ).stdout
        assert f"ccm demo on {host.name}" in page
        assert host.run("systemctl is-enabled nginx").stdout.strip() == "enabled"

    second = ccm.push(inventory, SITE, "--detailed-exitcode")
    assert second.code == 0, second.output
    assert [e for e in second.events if e["changed"]] == []


def test_a_changed_configuration_restarts_the_service(ccm: Ccm, lab: Lab, tmp_path: Path) -> None:
    """Changing the data restarts nginx through its subscription, and the preview says so before."""
    inventory = lab.inventory()
    assert ccm.push(inventory, SITE, "-l", "web1").code == 0
    preview = ccm.push(inventory, SITE, "-l", "web1", "--noop", "--data", "port=8090")
    service = preview.event("service#nginx")
    assert service["noop_message"] == "Would have restarted via subscribe"
    assert preview.event("exec#check-configuration")["refreshed"] is True
    done = ccm.push(inventory, SITE, "-l", "web1", "--data", "port=8090")
    assert done.code == 0, done.output
    assert done.event("service#nginx")["refreshed"] is True
    lab.hosts["web1"].run("ss -Htln 'sport = :8090' | grep -q 8090")
