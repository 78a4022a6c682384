from tests.hostile import claims


def test_claims_of_a_summary() -> None:
    """Folded names are told one by one, each with what is said of it."""
    text = "h  unreachable\n    unknown: exec#x[1-2,4], file#/a\n    changed  exec#x0  command\n"
    told = dict(claims.claims("text", text, "h"))
    assert told == {
        **dict.fromkeys(("exec#x1", "exec#x2", "exec#x4", "file#/a"), claims.NOT_KNOWN),
        "exec#x0": claims.CHANGED,
    }


def test_contradictions() -> None:
    """What the host did not do may not be said to have changed, and what it did not to not have
    run; what is not known contradicts nothing."""
    said = [("a", "changed"), ("b", "changed"), ("c", "not run"), ("d", "not known"), ("a", "x")]
    assert claims.contradictions(said, {"a", "c", "d"}) == [
        "b is said to have changed",
        "c is said to have not run",
        "a is told twice",
    ]
