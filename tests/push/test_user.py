"""Users as a push leaves them on a booted host, asked of its own programs; over SSH."""

from pathlib import Path

from tests.push.target import NAME, Target

HASH = "$6$salt$0123456789abcdef"

ALL = """\
ccm:
  resources:
    - group:
        - team: {gid: 4100}
    - user:
        - anna:
            uid: 4101
            groups: [team]
            shell: /bin/bash
            comment: Anna
            password: "HASH"
            expires: "2030-12-31"
            generate_ssh_key: true
        - runner: {system: true}
        - moved: {home: /home/there, move_home: true, groups: [team], append: true}
        - locked: {locked: true}
        - gone: {ensure: absent, remove_home: true}
        - never: {ensure: absent}
    - file:
        - DIR/hers: {content: "x\\n", owner: anna, group: team, mode: "0640"}
    - exec:
        - touch /home/anna/by-her: {user: anna, creates: /home/anna/by-her}
""".replace("HASH", HASH)

REFUSED = """\
ccm:
  resources:
    - user:
        - root: {shell: /usr/sbin/nologin}
        - busy: {ensure: absent, remove_home: true}
        - taken: {uid: 0}
        - nobody-there: {groups: [no-such-group]}
        - homeless: {home: /srv/no/such/place}
"""


def top(target: Target) -> Path:
    """The root directory of the host."""
    return target.state.parents[2]


def entry(target: Target, table: str, name: str) -> list[str]:
    """The line of an account in a file of the host, its parts."""
    lines = (top(target) / "etc" / table).read_text(encoding="utf-8").splitlines()
    return next((line.split(":") for line in lines if line.startswith(f"{name}:")), [])


def tables(target: Target) -> list[bytes]:
    """What the files of accounts hold."""
    return [(top(target) / "etc" / n).read_bytes() for n in ("passwd", "shadow", "group")]


SETUP = """\
ccm:
  resources:
    - exec:
        - for u in moved gone locked busy; do useradd -m $u; done: {provider: shell}
        - groupadd old && usermod -aG old moved: {provider: shell}
        - echo x > /home/moved/kept; usermod -p x locked: {provider: shell}
        - touch /etc/skel/.from-skel; chmod 600 /etc/skel/.from-skel: {provider: shell}
"""


def test_users(remote: Target) -> None:
    """Every way to ask for a user gives just that, is previewed the same, and is stable then."""
    assert remote.push(SETUP).code == 0
    before = tables(remote)
    preview = remote.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert tables(remote) == before
    done = remote.push(ALL)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    assert HASH not in preview.output + done.output + str(done.events) + str(preview.events)

    anna = entry(remote, "passwd", "anna")
    assert anna[2:] == ["4101", "4101", "Anna", "/home/anna", "/bin/bash"]
    shadow = entry(remote, "shadow", "anna")
    assert (shadow[1], shadow[7]) == (HASH, "22279")
    assert entry(remote, "group", "team")[3].split(",") == ["anna", "moved"]
    home = top(remote) / "home"
    key, skel = home / "anna/.ssh/id_ed25519", home / "anna/.from-skel"
    assert (key.stat().st_mode & 0o777, key.stat().st_uid) == (0o600, 4101)
    assert key.with_suffix(".pub").read_text().split()[2] == "anna"
    assert (skel.stat().st_mode & 0o777, skel.stat().st_uid) == (0o600, 4101)
    assert (home / "anna/by-her").stat().st_uid == 4101
    assert int(entry(remote, "passwd", "runner")[2]) < 1000
    assert not (home / "runner").exists()
    assert entry(remote, "passwd", "moved")[5] == "/home/there"
    assert (home / "there/kept").read_text() == "x\n"
    assert entry(remote, "group", "old")[3] == "moved"
    assert entry(remote, "shadow", "locked")[1] == "!x"
    assert entry(remote, "passwd", "gone") == entry(remote, "group", "gone") == []
    assert not (home / "gone").exists()

    again = remote.push(ALL, "--detailed-exitcode")
    assert again.code == 0, again.output
    assert set(remote.statuses(again).values()) == {"stable"}
    site = str(remote.ccm.site(remote.filled(ALL)))
    verify = remote.ccm.run("verify", "-i", str(remote.inventory), "-l", NAME, site)
    assert verify.code == 0, verify.output


def test_refusals(remote: Target) -> None:
    """What locks out, disturbs or cannot be is refused in preview and push, and nothing changes."""
    assert remote.push(SETUP).code == 0
    start = "systemd-run --quiet --uid=busy --unit=of-busy sleep 1000"
    running = f'ccm: {{resources: [{{exec: [{{"{start}": {{}}}}]}}]}}\n'
    assert remote.push(running).code == 0
    before = tables(remote)
    for options in (("--noop",), ()):
        done = remote.push(REFUSED, *options)
        assert done.code == 1, done.output
        assert set(remote.statuses(done).values()) == {"failed"}
        assert tables(remote) == before
    assert (top(remote) / "home/busy").is_dir()
    for said in (
        "the shell /usr/sbin/nologin could lock out root",
        "the user busy is in use",
        "uid 0 belongs to the user root",
        "group 'no-such-group' does not exist",
        "the parent directory /srv/no/such does not exist",
    ):
        assert said in done.output
    kill = REFUSED.replace("remove_home: true", "remove_home: true, kill_processes: true")
    assert remote.statuses(remote.push(kill))["user#busy"] == "changed"
    assert not (top(remote) / "home/busy").exists()
