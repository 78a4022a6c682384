"""Mounts as a push leaves them on a booted host, asked of its own programs; over SSH."""

from tests.lab import Host
from tests.push.target import Target

ALL = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - DIR/from: {ensure: directory, mode: "0755"}
        - DIR/from/a: {content: "a\\n"}
    - mount:
        - DIR/cache: {device: tmpfs, type: tmpfs, options: "size=1m,mode=0750,nodev", nofail: true}
        - DIR/deep/bound: {device: DIR/from, options: "bind,ro"}
        - DIR/later: {ensure: present, device: "LABEL=none such", type: ext4, options: noauto}
        - DIR/gone: {ensure: absent}
        - DIR/away: {ensure: unmounted}
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - DIR/cache/b: {content: "b\\n"}
"""
OTHER = """\
ccm:
  resources:
    - mount:
        - DIR/cache: {device: tmpfs, type: tmpfs, options: "size=2m,mode=0750,noexec"}
        - DIR/deep/bound: {device: DIR/other, options: bind}
        - DIR/later: {ensure: absent}
"""
SETUP = """
mkdir -p /srv/t/gone /srv/t/away /srv/t/other; touch /srv/t/other/x
for m in gone away; do
    echo "tmpfs /srv/t/$m tmpfs noauto 0 0" >> /etc/fstab; mount -t tmpfs tmpfs /srv/t/$m
done
systemctl daemon-reload
"""
LOOK = "cat /etc/fstab; findmnt -n --raw -o TARGET,OPTIONS | grep -v run/user; find /srv/t"


def test_mounts(remote: Target, host: Host) -> None:
    """Every way to ask for a mount gives just that, is previewed the same, and is stable then."""
    host.run(SETUP)
    before = host.run(LOOK).stdout
    preview = remote.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert host.run(LOOK).stdout == before
    done = remote.push(ALL)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    assert host.run("stat -f -c %T /srv/t/cache; stat -c %a /srv/t/cache").stdout == "tmpfs\n750\n"
    assert host.run("cat /srv/t/cache/b /srv/t/deep/bound/a").stdout == "b\na\n"
    assert host.run("touch /srv/t/deep/bound/x", check=False).returncode != 0
    assert host.run("findmnt /srv/t/gone /srv/t/away", check=False).stdout == ""
    table = host.read("/etc/fstab")
    assert "/srv/t/gone" not in table
    assert "tmpfs /srv/t/away tmpfs noauto 0 0\n" in table
    assert "LABEL=none\\040such\t/srv/t/later\text4\tnoauto\t0\t0\n" in table
    assert "0 parse errors" in host.run("findmnt --verify 2>&1").stdout
    units = host.run("systemctl show -p NeedDaemonReload srv-t-cache.mount").stdout
    assert units == "NeedDaemonReload=no\n"

    again = remote.push(ALL, "--detailed-exitcode", "--verify")
    assert again.code == 0, again.output
    assert set(remote.statuses(again).values()) == {"stable"}

    other = remote.push(OTHER)
    assert other.code == 0, other.output
    assert host.run("cat /srv/t/cache/b; ls /srv/t/deep/bound").stdout == "b\nx\n"
    options = host.run("findmnt -n -o OPTIONS /srv/t/cache").stdout
    assert "noexec" in options
    assert "nodev" not in options
    assert "size=2048k" in options
    again = remote.push(OTHER, "--detailed-exitcode", "--verify")
    assert again.code == 0, again.output


def test_a_busy_mount(remote: Target, host: Host) -> None:
    """Who uses it is named, and nothing is changed."""
    host.run(SETUP)
    host.run("systemd-run --quiet -p WorkingDirectory=/srv/t/gone sleep 1000")
    site = "ccm:\n  resources:\n    - mount: [{DIR/gone: {ensure: absent}}]\n"
    before = host.run(LOOK).stdout
    for options in (("--noop",), ()):
        run = remote.push(site, *options)
        assert run.code == 1, run.output
        assert (
            "is busy: it is used by sleep (" in remote.event(run, "mount#/srv/t/gone")["error"][0]
        )
        assert host.run(LOOK).stdout == before
