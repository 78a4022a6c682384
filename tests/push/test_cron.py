"""Jobs of cron as a push leaves them on a booted host, with a crontab program; over SSH."""

from tests.push.target import Target

CRONTAB = """\
#!/bin/sh
[ "$1" != -u ] || { user=$2; shift 2; }
file=/var/spool/cron/crontabs/${user:-$(id -un)}
case "$1" in
    -l) cat "$file" 2>/dev/null || { echo "no crontab for $user" >&2; exit 1; } ;;
    -) cat > "$file.new" && mv "$file.new" "$file" ;;
esac
"""

ALL = """\
ccm:
  resources:
    - user: [{anna: {}}]
    - cron:
        - of anna: {user: anna, minute: "*/5", command: "date +%F", environment: [MAILTO=ops]}
        - gone: {ensure: absent}
        - job: {crontab: true, schedule: "@weekly", command: new}
        - first: {crontab: true, user: anna, schedule: "@reboot", command: "echo 100%"}
"""

OLD = b'# caf\xe9\n\nA="b c"\n@daily echo "100\\%"\n# ccm: job\n@daily old\n* * * * * last\n'


def test_jobs(remote: Target) -> None:
    """Files and crontabs get their jobs, are previewed the same, and are stable then; lines of
    others stay byte for byte."""
    top = remote.state.parents[2]
    spool = top / "var/spool/cron/crontabs"
    for directory in (spool, top / "etc/cron.d"):
        directory.mkdir(parents=True, exist_ok=True)
    for path, text in ((top / "usr/bin/crontab", CRONTAB), (top / "usr/sbin/cron", "#!/bin/sh\n")):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    (top / "etc/cron.d/gone").write_text("@daily root true\n", encoding="utf-8")
    (spool / "root").write_bytes(OLD)
    preview = remote.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert (spool / "root").read_bytes() == OLD
    assert {event["prediction"] for event in preview.events} == {"certain"}
    done = remote.push(ALL)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    file = top / "etc/cron.d/of-anna"
    wanted = "# ccm: of anna\nMAILTO=ops\n*/5 * * * * anna date +\\%F\n"
    assert file.read_text(encoding="utf-8") == wanted
    assert file.stat().st_mode & 0o777 == 0o644
    assert not (top / "etc/cron.d/gone").exists()
    assert (spool / "root").read_bytes() == OLD.replace(b"@daily old", b"@weekly new")
    assert (spool / "anna").read_bytes() == b"# ccm: first\n@reboot echo 100\\%\n"
    again = remote.push(ALL, "--detailed-exitcode")
    assert again.code == 0, again.output
