from orchestrator.fleet.store.missing_reports import MissingReports


def test_a_name_is_due_as_often_as_it_is_planned() -> None:
    """What was told of before counts, and a second time is told again."""
    due = MissingReports.of(["file#/a", "file#/b", "file#/a"], [0, 1, 0])
    assert dict(due.missing) == {"file#/a": 2}
    assert not due.take("file#/a")
    assert due.take("file#/a")
    assert not due.missing
    assert due.reported == {"file#/a", "file#/b"}
