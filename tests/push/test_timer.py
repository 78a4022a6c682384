"""Timers as a push leaves them on a booted host, asked of its own systemd; over SSH."""

from tests.lab import Host
from tests.push.target import Target

ALL = """\
ccm:
  resources:
    - user: [{anna: {}}]
    - timer:
        - late:
            user: anna
            schedule: ["*-*-* 03:30", "Mon..Fri 12:00 Europe/Berlin"]
            command: |
              printf '%s|' "$HOME" "$A" 'a\\b' "100%" > "$HOME/x"
              echo "\\$\\$" >> "$HOME/x"
            environment: ['A=b "c" 5% $HOME \\']
            persistent: true
            settings: {Timer: {AccuracySec: 1s}}
        - first: {on_boot: 0, on_unit_active: 1h, command: touch DIR/first}
        - gone: {ensure: absent}
"""
SETUP = """
cd /etc/systemd/system
printf '[Timer]\\nOnCalendar=daily\\n[Install]\\nWantedBy=timers.target\\n' > gone.timer
printf '[Service]\\nExecStart=/bin/true\\n' > gone.service
systemctl enable -q --now gone.timer
"""


def test_timers(remote: Target, host: Host) -> None:
    """They run, are previewed the same and are stable then; jobs get each character. A schedule
    whose time has just passed does not run the job."""
    host.run(SETUP)
    preview = remote.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert not host.exists("/etc/systemd/system/late.timer")
    done = remote.push(ALL)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    again = remote.push(ALL, "--detailed-exitcode")
    assert again.code == 0, again.output
    host.run("systemctl start late first")
    wanted = '/home/anna|b "c" 5% $HOME \\|a\\b|100%|$$\n'
    assert host.read("/home/anna/x") == wanted
    assert remote.path("first").exists()
    listed = host.run("systemctl list-timers --all --no-pager").stdout
    assert "late.timer" in listed
    assert "gone.timer" not in listed
    host.run("rm /home/anna/x; rm -f /var/lib/systemd/timers/stamp-late.timer")
    passed = host.run("date -d '2 seconds ago' +%T").stdout.strip()
    moved = remote.push(ALL.replace("03:30", passed).replace("persistent: true", ""))
    assert moved.code == 0, moved.output
    assert f"*-*-* {passed}" in host.run("systemctl show -p TimersCalendar late.timer").stdout
    assert not host.exists("/home/anna/x")
    broken = remote.push(ALL.replace("Europe/Berlin", "Nowhere/Town"))
    assert "cannot parse the schedule 'Mon..Fri 12:00 Nowhere/Town'" in broken.output
    assert host.run("systemctl is-active late.timer").stdout == "active\n"
