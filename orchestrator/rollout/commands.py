"""Commands that a rollout runs on the controller."""


def parse_command(text: str) -> str:
    """Return a shell command line; ValueError if it is empty, because an empty line would always
    succeed.

    It usually results from a variable that is not set.
    """
    if not text.strip():
        raise ValueError("the command is empty")
    return text
