"""Where passwords come from, and that they stay secret."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from orchestrator.transport import Credentials
from orchestrator.transport.password import Password, PasswordAttempt
from remote_runtime.errors import UnreachableError, UsageError
from tests.texts import expect_text


class Person:
    """Answers prompts, one after another."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        return self.answers.pop(0)


def become_password(credentials: Credentials) -> Password:
    assert credentials.become_password is not None
    return credentials.become_password


def test_nothing_said_is_no_password() -> None:
    """Without option and variable there is no password at all."""
    credentials = Credentials(environ={})
    assert credentials.ssh_password is None
    assert credentials.become_password is None


def test_the_environment_gives_passwords() -> None:
    """Each password has its own variable."""
    credentials = Credentials(environ={"CCM_SSH_PASSWORD": "a", "CCM_BECOME_PASSWORD": "b"})
    assert credentials.ssh_password is not None
    assert credentials.ssh_password.read() == "a"
    assert become_password(credentials).read() == "b"


def test_a_command_gives_its_first_line_once(tmp_path: Path) -> None:
    """The command runs once for the run, however often the password is needed."""
    log = tmp_path / "log"
    command = f"echo x >> {log}; printf 'p w\\nsecond'"
    credentials = Credentials(environ={"CCM_BECOME_PASSWORD_COMMAND": command})
    assert [become_password(credentials).read() for _ in range(3)] == ["p w"] * 3
    assert log.read_text() == "x\n"


@pytest.mark.parametrize(
    ("command", "why"), [("exit 3", "exit status 3"), ("true", "it printed nothing")]
)
def test_a_command_that_fails_is_a_usage_error(command: str, why: str) -> None:
    """The variable is named, and what the command printed is not shown."""
    credentials = Credentials(environ={"CCM_BECOME_PASSWORD_COMMAND": command})
    with pytest.raises(UsageError, match="CCM_BECOME_PASSWORD_COMMAND") as caught:
        credentials.prepare()
    assert why in str(caught.value)


def test_a_prompt_asks_once_and_beats_the_environment() -> None:
    """An option given on the command line is what the user wants now."""
    person = Person("typed")
    credentials = Credentials(
        ask_become_pass=True, prompt=person, environ={"CCM_BECOME_PASSWORD": "old"}
    )
    credentials.prepare()
    assert become_password(credentials).read() == "typed"
    assert person.asked == ["sudo password: "]


def test_an_empty_answer_is_no_password() -> None:
    """Ctrl-D or an empty line at the prompt ends the run; nothing empty is sent to a host."""
    credentials = Credentials(ask_become_pass=True, prompt=Person(""), environ={})
    with pytest.raises(UsageError) as refused:
        credentials.prepare()
    expect_text(refused.value)


def test_a_command_that_fails_says_why() -> None:
    """The last line of its errors is told, nothing of its output."""
    environ = {"CCM_SSH_PASSWORD_COMMAND": "echo s3cret; echo vault is sealed >&2; exit 2"}
    with pytest.raises(UsageError) as caught:
        Credentials(environ=environ).prepare()
    expect_text(caught.value)
    assert "s3cret" not in str(caught.value)


def test_without_a_terminal_a_prompt_is_a_usage_error() -> None:
    """The error names the variables that serve instead."""
    with pytest.raises(UsageError, match="CCM_SSH_PASSWORD_COMMAND"):
        Credentials(ask_pass=True, environ={}).prepare()


def test_a_passphrase_is_asked_once_per_key() -> None:
    """A wrong one is asked for again; the right one is not asked for twice."""
    person = Person("wrong", "right")
    credentials = Credentials(prompt=person, environ={})
    key = Path("/k")
    assert credentials.passphrase(key, lambda text: text == "right") == "right"
    assert credentials.passphrase(key, lambda text: text == "right") == "right"
    assert len(person.asked) == 2


def test_an_empty_answer_gives_up_on_a_key() -> None:
    """The user may decline; the key is not asked for again."""
    person = Person("")
    credentials = Credentials(prompt=person, environ={})
    assert credentials.passphrase(Path("/k"), lambda text: True) is None
    assert credentials.passphrase(Path("/k"), lambda text: True) is None
    assert len(person.asked) == 1


def test_no_repr_shows_a_password() -> None:
    """Neither the password nor a trial of it can leak into a log."""
    password = become_password(Credentials(environ={"CCM_BECOME_PASSWORD": "s3cret"}))
    trial = password.attempt("web1")
    assert "s3cret" not in f"{password!r} {trial!r} {password} {trial}"
    trial.end()


def test_a_trial_without_an_outcome_counts_for_nothing() -> None:
    """A host that breaks down in the middle neither proves nor refuses."""
    password = become_password(Credentials(environ={"CCM_BECOME_PASSWORD": "x"}))
    for number in range(5):
        password.attempt(f"h{number}").end()
    assert password.attempt("h5").text() == "x"


def test_an_outcome_is_taken_once() -> None:
    """The cleanup after an accepted trial does not take it back, nor free the lock twice."""
    password = become_password(Credentials(environ={"CCM_BECOME_PASSWORD": "x"}))
    trial = password.attempt("a")
    trial.end(accepted=True)
    trial.end(accepted=False)
    password.attempt("b").end(accepted=False)
    password.attempt("c").end(accepted=False)
    assert password.attempt("d").text() == "x"


def test_refusals_are_told_with_the_hosts() -> None:
    """Once a second host agrees, the next hears where it was refused, and does not try it."""
    password = become_password(Credentials(environ={"CCM_BECOME_PASSWORD": "x"}))
    for host in ("a", "a", "b"):  # one host counts once
        password.attempt(host).end(accepted=False)
    with pytest.raises(UnreachableError) as refused:
        password.attempt("c")
    expect_text(refused.value)


def test_a_refusal_of_one_host_keeps_the_password_from_nobody() -> None:
    """What one host says is its own affair until a second one agrees."""
    password = become_password(Credentials(environ={"CCM_BECOME_PASSWORD": "x"}))
    password.attempt("liar").end(accepted=False)
    password.attempt("a").end(accepted=True)
    password.attempt("another liar").end(accepted=False)
    password.attempt("third liar").end(accepted=False)
    assert password.attempt("b").text() == "x"


def test_hosts_that_stall_keep_the_password_from_nobody() -> None:
    """After a little patience the next host tries it, however many never answer."""
    password = Password("the sudo password", "transport.become", lambda: "x", patience=0.05)
    stalled = [password.attempt(f"stalled{number}") for number in range(4)]
    password.attempt("a").end(accepted=True)
    for trial in stalled:
        trial.end()
    assert password.attempt("b").text() == "x"


def test_a_stall_that_ends_as_a_refusal_counts_then() -> None:
    """A wrong password on slow hosts is given up as soon as two of them have said so."""
    password = Password("the sudo password", "transport.become", lambda: "x", patience=0.05)
    slow = [password.attempt(f"slow{number}") for number in range(2)]
    for trial in slow:
        trial.end(accepted=False)
    with pytest.raises(UnreachableError) as refused:
        password.attempt("a")
    expect_text(refused.value)


def test_nobody_tries_it_while_one_host_proves_it() -> None:
    """Hosts that wait go on at once when the first has accepted it, and not before."""
    password = Password("the sudo password", "transport.become", lambda: "x", patience=60)
    first = password.attempt("first")
    trials: list[PasswordAttempt] = []
    threads = [
        threading.Thread(target=lambda name=f"h{n}": trials.append(password.attempt(name)))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    threads[0].join(0.2)
    assert trials == []
    first.end(accepted=True)
    for thread in threads:
        thread.join(30)
    assert len(trials) == 3
