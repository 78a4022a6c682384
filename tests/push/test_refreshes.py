"""A refresh that is due is not lost, whatever the run before came to."""

from tests.push.target import Target

SITE = """\
ccm:
  fail_on_error: STOP
  resources:
    - file:
        - DIR/conf: {content: "port = VALUE\\n", owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - defaults: {provider: shell, cwd: DIR}
        - test: {command: "grep -q '[0-9]' conf"}
        - restart: {command: "echo >> restarted", refresh_only: true,
                    subscribe: ["file#DIR/conf"], require: [exec#test]}
"""


def test_a_mistake_and_its_correction(target: Target) -> None:
    """What a failed test of a configuration kept from being restarted is restarted once."""

    def push(value: str, *options: str, stop: str = "false") -> dict:
        run = target.push(SITE.replace("VALUE", value).replace("STOP", stop), *options)
        events = {event["name"]: event for event in run.events}
        return {**events, "code": run.code, "output": run.output}

    assert push("80")["restart"]["refreshed"] is True
    broken = push("eighty")
    assert broken["code"] == 1
    since = broken["restart"]["run_id"]
    assert broken["restart"]["due_since"] == since
    assert "exec#restart is due for a refresh since this run" in broken["output"]

    # The file was changed by hand to what the manifest says: nothing changes in the next run.
    target.write("conf", "port = 8080\n")
    preview = push("8080", "--noop")
    assert preview["restart"]["noop_message"] == "Would have executed via subscribe"
    assert preview["restart"]["due_since"] == since
    assert f"due since run {since}" in preview["output"]
    mended = push("8080")
    assert (mended["code"], mended["restart"]["due_since"]) == (0, since)
    assert mended["restart"]["changed"]
    assert f"due since run {since}" in mended["output"]
    assert target.read("restarted") == "\n\n"
    assert push("8080")["restart"]["status"] == "stable"


def test_what_had_no_turn(target: Target) -> None:
    """With fail_on_error the subscriber has no turn and no event; the summary names it."""
    site = SITE.replace("STOP", "true")
    broken = target.push(site.replace("VALUE", "eighty"))
    assert "restart" not in [event["name"] for event in broken.events]
    assert "exec#restart is due for a refresh since this run" in broken.output
    target.write("conf", "port = 1\n")
    done = target.push(site.replace("VALUE", "1"))
    assert done.event("exec#restart")["due_since"] == broken.events[0]["run_id"]
