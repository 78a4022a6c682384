"""Commands that a rollout runs on the controller, as people write them."""


def parse_command(text: str) -> str:
    """A line of shell that does something; ValueError for none, which would always end well.

    It mostly is that of a variable that is not set.
    """
    if not text.strip():
        raise ValueError("the command is empty")
    return text
