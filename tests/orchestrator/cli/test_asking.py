import subprocess
import sys


def test_the_end_of_the_input() -> None:
    """Ctrl-D is an empty answer, and what is said next begins on a line of its own."""
    program = "from orchestrator.cli.asking import ask_secret as ask; print(repr(ask('word: ')))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        text=True,
        check=True,
    )
    assert done.stdout == "''\n"
    assert done.stderr.endswith("word: \n")
