from types import SimpleNamespace

from orchestrator.language import hash_record


def test_hashes_are_noted_while_asked_for() -> None:
    """Who asks gets what is made meanwhile, and nothing of before or after."""
    hash_record.note("before", "1")
    with hash_record.noting_hashes() as made:
        hash_record.note("amid", "2")
    hash_record.note("after", "3")
    assert made == [("amid", "2")]


def test_secrets_are_heard_of_one_host() -> None:
    """The secrets of the host at hand are found, and none where no host is."""
    assert hash_record.secret_texts() is None
    with hash_record.collecting_secrets(SimpleNamespace(secrets_read={"secret": None})):
        assert hash_record.secret_texts() == {"secret": None}
    assert hash_record.secret_texts() is None
