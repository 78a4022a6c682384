"""Repositories of apt and dnf on a booted host, over SSH."""

from tests.lab import Host, Lab
from tests.push.command import Ccm
from tests.remote_runtime.repository.signed import FINGERPRINT, KEY, LISTS, OTHER_KEY

SITE = """\
ccm:
  resources:
    - repository:
        - signed: {url: file:/srv/signed, suites: [./], key: key.asc}
        - local: {url: file:/srv/other, suites: [./], gpgcheck: false}
        - rpms:
            provider: dnf
            url: file:///srv/ccm-rpms
            gpgcheck: false
            priority: 10
    - package:
        - ccm-hello: {ensure: 1.1-1}
        - ccm-one: {provider: dnf}
"""
COUNT = 'APT::Update::Pre-Invoke {"echo x >> /var/tmp/updates";};\n'


def updates(host: Host) -> int:
    """How often apt has refreshed its lists so far."""
    return len(host.run("cat /var/tmp/updates 2>/dev/null || true").stdout.split())


def test_repositories(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """Signed and other repositories are read by apt and dnf, and refreshed once for all."""
    host = hosts[0]
    for name, text in LISTS.items():
        host.write(f"/srv/signed/{name}", text)
    host.write("/srv/other/Packages", LISTS["Packages"].replace("ccm-signed", "ccm-other"))
    host.write("/etc/apt/apt.conf.d/99count", COUNT)
    site = ccm.site(SITE)
    (site.parent / "key.asc").write_text(KEY)

    def push(*options: str) -> list[str]:
        """The statuses of a push that goes well."""
        done = ccm.push(lab.inventory(), site, "-l", host.name, *options)
        assert done.code == 0, done.output
        return [event["status"] for event in done.events]

    assert push("--noop") == ["changed"] * 5
    assert updates(host) == 0
    assert host.run("ls /etc/apt/keyrings").stdout == ""
    assert push() == ["changed"] * 5
    assert updates(host) == 1
    assert "Candidate: 1.0-1" in host.run("apt-cache policy ccm-signed").stdout
    assert "rpms" in host.run("dnf -q repolist").stdout
    assert push() == ["stable"] * 5
    assert updates(host) == 1
    for again in ("", "deb [trusted=yes] file:/srv/other ./\n"):  # apt names one of two files
        host.write("/etc/apt/sources.list.d/again.list", again)
        verified = ccm.run("verify", "-i", str(lab.inventory()), "-l", host.name, str(site))
        assert "repository#" not in verified.stdout, verified.stdout
    host.run("rm /etc/apt/sources.list.d/again.list")

    (site.parent / "key.asc").write_text(OTHER_KEY)
    for _ in range(2):  # the second time the files are as desired, and the lists are not
        done = ccm.push(lab.inventory(), site, "-l", host.name)
        assert done.code == 1, done.output
        failed = [event["name"] for event in done.events if event["failed"]]
        assert failed == ["local"]
        assert "NO_PUBKEY" in done.output
    (site.parent / "key.asc").write_text(KEY)
    assert push()[:3] == ["changed", "changed", "stable"]

    text = "ccm: {resources: [{repository: [{signed: {ensure: absent}}]}]}\n"
    done = ccm.push(lab.inventory(), text, "-l", host.name)
    assert done.code == 0, done.output
    assert host.run("ls /etc/apt/keyrings").stdout == ""
    assert "Candidate" not in host.run("apt-cache policy ccm-signed").stdout
    assert FINGERPRINT not in done.output
