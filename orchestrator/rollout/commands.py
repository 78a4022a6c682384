"""Commands that a rollout runs on the controller."""


def parse_command(text: str) -> str:
    """Return a shell command line; ValueError if it is empty, because an empty line would always
    succeed.

    An empty command usually results from an unset variable.
    """
    if not text.strip():
        raise ValueError("the command is empty")
    return text
