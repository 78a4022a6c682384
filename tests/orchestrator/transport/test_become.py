"""sudo in front of the bootstrap, played by a script on the PATH (over ``connection: local``)."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from orchestrator.transport import Connector, Credentials, Link, Settings, handshake
from orchestrator.transport.password import REFUSALS
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.fakes import Host, Phases, image, local
from tests.texts import expect_text

# Like sudo: with -n it must not ask, with -S it asks on stderr with the text of -p, three times.
SUDO = """#!/bin/sh
printf '%s\n' "$*" >> {log}
case "$1" in -n) {without};; esac
while [ "$1" != -- ]; do [ "$1" = -p ] && prompt=$2; shift; done
shift
{lecture}
for try in 1 2 3; do
  printf %s "$prompt" >&2
  read -r password || {{ echo "sudo: no password was provided" >&2; exit 1; }}
  [ "$password" = "{password}" ] && exec "$@"
  echo "Sorry, try again." >&2
done
echo "sudo: 3 incorrect password attempts" >&2
exit 1
"""


class Sudo:
    """A directory with a ``sudo`` in it; ``log`` holds the arguments of each call."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log = directory / "log"
        self.install()

    def install(
        self,
        without: str = "echo 'sudo: a password is required' >&2; exit 1",
        password: str = "s3cret",
        lecture: str = "",
    ) -> None:
        self.script(SUDO.format(log=self.log, without=without, password=password, lecture=lecture))

    def script(self, text: str) -> None:
        path = self.directory / "sudo"
        path.write_text(text)
        path.chmod(0o755)


@pytest.fixture
def sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sudo:
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    return Sudo(directory)


def credentials(password: str | None) -> Credentials:
    return Credentials(environ={"CCM_BECOME_PASSWORD": password} if password else {})


def opened(tmp_path: Path, password: str | None, host: Host | None = None) -> Link:
    (tmp_path / "home").mkdir(exist_ok=True)
    connector = Connector(Settings(), credentials(password), image(tmp_path / "home"))
    return connector.open(host or local(become="app"), Phases())


def refused(tmp_path: Path, password: str | None) -> UnreachableError:
    with pytest.raises(UnreachableError) as caught:
        opened(tmp_path, password)
    assert caught.value.kind == "transport.become"
    assert "s3cret" not in str(caught.value)
    return caught.value


# Like sudo-rs, which no distribution of the lab has: it puts the text of -p into brackets, writes
# what PAM asks behind it, and an asterisk for each letter.
SUDO_RS = """#!/bin/sh
while [ "$1" != -- ]; do [ "$1" = -p ] && prompt=$2; shift; done
shift
for try in 1 2 3; do
  printf '[sudo: %s] %s' "$prompt" '{asked}' >&2
  read -r password || {{ echo "sudo: no password was provided" >&2; exit 1; }}
  printf '%s\\n' '******' >&2
  [ "$password" = "{password}" ] && exec "$@"
  echo "sudo: Authentication failed, try again." >&2
done
echo "sudo: 3 incorrect authentication attempts" >&2
exit 1
"""


def test_the_prompt_of_sudo_rs(sudo: Sudo, tmp_path: Path) -> None:
    """Our prompt inside of its own is answered once; a second one means a wrong password."""
    sudo.script(SUDO_RS.format(asked="Password: ", password="s3cret"))
    opened(tmp_path, "s3cret").close()
    sudo.script(SUDO_RS.format(asked="Password: ", password="another"))
    expect_text(refused(tmp_path, "s3cret").message)


def test_what_else_sudo_rs_asks_is_quoted_at_once(sudo: Sudo, tmp_path: Path) -> None:
    """The password is the answer to no other question."""
    sudo.script(SUDO_RS.format(asked="Verification code: ", password="s3cret"))
    assert "prompts 'Verification code:'" in refused(tmp_path, "s3cret").message


def test_the_path_of_the_login_comes_last_under_sudo(sudo: Sudo, tmp_path: Path) -> None:
    """A python3 of the login's own PATH, as ~/.ssh/environment may set it, does not run as root."""
    program, ran = sudo.directory / "python3", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\necho ran > {ran}\nexit 127\n")
    program.chmod(0o755)
    opened(tmp_path, "s3cret", local(become="app", python="python3")).close()
    assert not ran.exists()


@pytest.mark.parametrize(
    "script",
    [
        "printf 'Verification code: ' >&2; read -r code",
        "printf 'LDAP Password:' >&2; read -r code",
        "printf %s \"$prompt\" >&2; read -r one; printf 'Verification code: ' >&2; read -r two",
        "printf %s \"$prompt\" >&2; read -r one; printf '\\nToken (y/n)? ' >&2; read -r two",
    ],
)
def test_a_question_that_is_not_ours_is_quoted(
    sudo: Sudo, tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the password or behind it, after a moment of silence."""
    monkeypatch.setattr(handshake, "PROMPT_TIMEOUT", 0.3)
    log = tmp_path / "answers"
    sudo.script(
        f'#!/bin/sh\nwhile [ "$1" != -- ]; do [ "$1" = -p ] && prompt=$2; shift; done\n{script}\n'
        f'echo "$code$two" > {log}\n'
    )
    error = refused(tmp_path, "s3cret")
    question = re.findall("[A-Z][A-Za-z /()]+[:?]", script)[-1]
    assert f"prompts {question!r} and waits" in error.message
    assert "sudoers" in error.hint
    assert not log.exists() or "s3cret" not in log.read_text()


def test_a_second_prompt_without_a_refusal(sudo: Sudo, tmp_path: Path) -> None:
    """sudo shows our prompt for a PAM module's question, too: that refuses no password."""
    sudo.script(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do [ "$1" = -p ] && prompt=$2; shift; done\n'
        'printf %s "$prompt" >&2; read -r one; printf "\\n%s" "$prompt" >&2; read -r two\n'
    )
    expect_text(refused(tmp_path, "s3cret").message)


def test_noise_is_no_question(sudo: Sudo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that end, and a slow start behind them, are waited for; sudo is asked once."""
    monkeypatch.setattr(handshake, "PROMPT_TIMEOUT", 0.1)
    sudo.install(lecture="echo 'Why not:' >&2; printf 'loading ... ' >&2; sleep 0.5")
    opened(tmp_path, "s3cret").close()
    assert len(sudo.log.read_text().splitlines()) == 1


def test_without_a_password_sudo_must_not_ask(sudo: Sudo, tmp_path: Path) -> None:
    """-n is given, and where that is allowed nothing is written before the runtime is ready."""
    sudo.install(without='while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    link = opened(tmp_path, None)
    link.send(b"x")
    link.close()
    assert sudo.log.read_text().startswith("-n -u app -- /bin/sh -c")


def test_the_password_is_written_when_the_prompt_comes(sudo: Sudo, tmp_path: Path) -> None:
    """A lecture before the prompt does no harm, and the password is in no argument."""
    sudo.install(lecture="echo 'We trust you have received the usual lecture' >&2; sleep 0.2")
    opened(tmp_path, "s3cret").close()
    told = sudo.log.read_text()
    assert told.startswith("-k -S -p ccm-")
    assert "s3cret" not in told


def test_a_sudo_that_does_not_ask_gets_no_password(sudo: Sudo, tmp_path: Path) -> None:
    """With NOPASSWD the runtime is the first to read, and it reads nothing."""
    sudo.script('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    link = opened(tmp_path, "s3cret")
    received = b""
    while received.count(b"\n") < 1:
        received += link.receive(10)
    link.send(b"end")
    while not received.endswith(b"end"):
        received += link.receive(10)
    assert b"s3cret" not in received
    link.close()


def test_a_wrong_password_is_told_at_the_second_prompt(sudo: Sudo, tmp_path: Path) -> None:
    """It is written once, never a second time."""
    error = refused(tmp_path, "wrong")
    expect_text(str(error))


@pytest.mark.parametrize(
    ("said", "sentence", "hint"),
    [
        ("sudo: a password is required", "sudo requires a password", "--ask-become-pass"),
        ("sudo: sorry, you must have a tty to run sudo", "sudo requires a terminal", "requiretty"),
        ("alice is not in the sudoers file.\nsudo: x", "the user may not use sudo", "sudoers"),
        (
            "sudo: I'm sorry al. I'm afraid I can't do that",
            "the user may not use sudo",
            "sudoers",
        ),
        ("sudo: interactive authentication is required", "sudo requires", "--ask-become-pass"),
        ("sudo: user 'app' not found", "the user 'app' does not exist", "check --become"),
        ("sudo: sudo must be owned by uid 0 and have the setuid bit set", "no setuid", "nosuid"),
        ("sudo: invalid configuration: x", "sudo cannot read its configuration", "visudo"),
        (
            "sudo: Account validation failure, is your account locked?",
            "the account is locked",
            "unlock",
        ),
        ("sudo: unknown user: app", "the user 'app' does not exist", "check --become"),
        (
            "sudo: PAM account management error: account validation failure",
            "the account is locked",
            "unlock",
        ),
    ],
)
def test_each_refusal_of_sudo_is_one_sentence(
    sudo: Sudo, tmp_path: Path, said: str, sentence: str, hint: str
) -> None:
    """What sudo says becomes a sentence with the fix."""
    sudo.script(f"#!/bin/sh\ncat >&2 <<'E'\n{said}\nE\nexit 1\n")
    error = refused(tmp_path, None)
    assert sentence in error.message
    assert hint in error.hint


@pytest.mark.parametrize("password", [None, "s3cret"])
def test_a_user_that_sudo_allows_somebody_else_is_told(
    sudo: Sudo, tmp_path: Path, password: str | None
) -> None:
    """sudo repeats the whole command then, of which nothing reaches the message."""
    sudo.script(
        "#!/bin/sh\n"
        'while [ "$1" != -- ]; do shift; done; shift\n'
        """echo "Sorry, user bob is not allowed to execute '$*' as app on web1." >&2\nexit 1\n"""
    )
    error = refused(tmp_path, password)
    expect_text(error.message)
    expect_text(error.hint)


def test_sudo_is_found_where_path_is_broken(sudo: Sudo, tmp_path: Path) -> None:
    """Nothing but /bin/sh is looked up with the PATH of the login."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(sudo.directory))  # neither env nor sh is there
        opened(tmp_path, "s3cret").close()
    assert sudo.log.read_text()


def test_a_password_is_proved_on_one_host_before_others_try(sudo: Sudo, tmp_path: Path) -> None:
    """A wrong password is tried on a few hosts, one at a time, and then on none."""
    (tmp_path / "home").mkdir()
    connector = Connector(Settings(), credentials("wrong"), image(tmp_path / "home"))
    errors: list[str] = []

    def one(number: int) -> None:
        try:
            connector.open(local(name=f"h{number}", become="app"), Phases())
        except UnreachableError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=one, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len([e for e in errors if "sudo rejected the password" in e]) == REFUSALS
    assert len([e for e in errors if "is not tried here" in e]) == 6 - REFUSALS


def test_a_proved_password_is_tried_everywhere_at_once(sudo: Sudo, tmp_path: Path) -> None:
    """Once one host accepted it, a host that refuses it speaks for itself only."""
    (tmp_path / "home").mkdir()
    connector = Connector(Settings(), credentials("s3cret"), image(tmp_path / "home"))
    connector.open(local(become="app"), Phases()).close()
    sudo.install(password="another")
    for number in range(REFUSALS + 1):
        with pytest.raises(UnreachableError, match=f"rejected the password on h{number}"):
            connector.open(local(name=f"h{number}", become="app"), Phases())
    sudo.install()
    connector.open(local(become="app"), Phases()).close()


def test_a_password_with_odd_characters_arrives_as_it_is(sudo: Sudo, tmp_path: Path) -> None:
    """Quotes, blanks and letters beyond ASCII are passed on byte for byte."""
    sudo.install(password="pä ss'x")
    link = opened(tmp_path, "pä ss'x")
    assert link.nonce
    link.close()
