"""A plan is kept of a preview, and a push does exactly that or nothing."""

import json
import shutil
import subprocess
from pathlib import Path

from orchestrator.plan_files.plan_file import PlanFile, id_of
from orchestrator.plan_files.storage import read_plan, write_plan
from tests.lab import Host, Lab
from tests.push.command import SECONDS, Ccm
from tests.push.plans import SITE, plan, push
from tests.push.target import NAME, Target
from tests.remote_runtime.archive.server import Web


def test_a_push_does_what_the_plan_says_once(target: Target) -> None:
    """The plan holds no secret, changes nothing itself, is carried out whole and then used up."""
    target.write("gone", "old")
    made = plan(target)
    assert made.code == 0, made.output
    assert target.names() == ["gone"]
    text = (target.ccm.scratch / "change.plan").read_text()
    assert "hunter2secret" not in text
    identity = json.loads(text)["id"]
    assert f"plan {identity}" in made.stdout
    shown = target.ccm.run("plan", "show", "change.plan")
    assert shown.code == 0, shown.output
    assert identity in shown.stdout
    assert "valid until" in shown.stdout
    assert "+one" in shown.stdout
    assert "\nTime " not in shown.stdout  # a plan keeps none
    document = json.loads(target.ccm.run("plan", "show", "--json", "change.plan").stdout)
    assert document["id"] == identity
    done = push(target.ccm)
    assert done.code == 0, done.output
    assert target.statuses(done) == {
        "file#a": "changed", "file#b": "changed", "file#gone": "changed", "exec#fired": "changed",
    }  # fmt: skip
    assert target.names() == ["a", "b", "fired"]
    assert target.read("b") == "hunter2secret\n"
    again = push(target.ccm)
    assert (again.code, again.events) == (1, []), again.output
    assert "refused" in again.stdout
    assert "the plan was already used on this host" in again.stdout


def test_equal_plans_have_one_id(target: Target) -> None:
    """Made twice, of the same host and site, it is the same plan; -q prints its id and no more."""
    first = plan(target, SITE, "-q")
    again = plan(target, SITE, "-q", name="again.plan")
    other = plan(target, SITE.replace("one", "two"), "-q")
    assert first.stdout == again.stdout != other.stdout
    kept = json.loads((target.ccm.scratch / "again.plan").read_text())
    assert again.stdout == kept["id"] + "\n"


def test_a_host_that_has_drifted_is_refused(target: Target) -> None:
    """What drifted is named and nothing is changed; back as it was, the same plan goes on."""
    target.write("gone", "old")
    assert plan(target).code == 0
    target.write("gone", "edited")
    refused = push(target.ccm)
    assert (refused.code, refused.events) == (1, []), refused.output
    assert "drifted since the plan was created" in " ".join(refused.stdout.split())
    assert f"file#{target.directory}/gone" in refused.stdout
    assert target.names() == ["gone"]
    target.write("gone", "old")
    assert push(target.ccm).code == 0
    assert target.names() == ["a", "b", "fired"]


def test_a_plan_may_ask_the_servers(local: Target) -> None:
    """With --probe-urls it fails where the server does not have an archive."""
    web = Web()
    url = web.url("/app.tar.gz")
    site = f"""\
ccm:
  resources:
    - archive: [{{DIR/app.tar.gz: {{url: "{url}", owner: OWNER, group: GROUP}}}}]
"""
    try:
        assert plan(local, site).code == 0
        assert web.requests == []
        probed = plan(local, site, "--probe-urls")
        assert len(web.requests) == 1
    finally:
        web.close()
    assert probed.code == 1, probed.output
    assert "404" in probed.stdout


def test_already_as_desired_is_no_drift(local: Target) -> None:
    """Somebody else did a part of it: the rest is done."""
    assert plan(local).code == 0
    local.write("a", "one\n")
    done = push(local.ccm)
    assert done.code == 0, done.output
    assert local.statuses(done)["file#a"] == "stable"


def test_the_same_checkout_is_needed(local: Target) -> None:
    """A manifest or an inventory that was edited is told before any host is contacted."""
    assert plan(local).code == 0
    site = local.ccm.scratch / "site.yaml"
    site.write_text(site.read_text().replace("one", "two"))
    local.inventory.write_text(local.inventory.read_text() + "# edited\n")
    refused = push(local.ccm)
    assert refused.code == 2
    assert "site.yaml has changed since the plan was created" in refused.stderr
    assert "local.yaml has changed since the plan was created" in refused.stderr
    assert local.names() == []


def test_a_secret_is_resolved_again(local: Target) -> None:
    """Values given on the command line are not kept: the same must be given, others refuse."""
    site = SITE.replace("password: hunter2secret", "password: ''")
    assert plan(local, site, "--data", "password=hunter2secret").code == 0
    missing = push(local.ccm)
    assert missing.code == 2
    assert "the plan was created with --data password=..." in missing.stderr
    other = push(local.ccm, "--data", "password=hunter3secret")
    assert other.code == 1
    assert f"file#{local.directory}/b has a different secret" in " ".join(other.stdout.split())
    assert "hunter3secret" not in other.output
    assert local.names() == []
    assert push(local.ccm, "--data", "password=hunter2secret").code == 0


def test_two_people_push_one_plan_at_once(local: Target) -> None:
    """One of them does it, the other waits for the host's lock and is refused: who used it."""
    slow = SITE + "        - slow: {command: sleep 2}\n"
    assert plan(local, slow).code == 0
    both = [local.ccm.start("push", "--lock-timeout", "60", "change.plan") for _ in range(2)]
    told = [(process.communicate(timeout=SECONDS)[0], process.returncode) for process in both]
    assert sorted(code for _, code in told) == [0, 1], told
    assert "the plan was already used on this host by run 2" in next(
        text for text, code in told if code
    )
    assert local.names() == ["a", "b", "fired"]


def test_what_a_plan_has_settled_is_no_option(local: Target) -> None:
    """A preview of a plan, other data files, other hosts, an expired plan: refused, with a hint."""
    assert plan(local, SITE, "--valid", "0").code == 0
    expired = push(local.ccm)
    assert expired.code == 2
    assert "has expired; it was valid until" in expired.stderr
    assert "EXPIRED" in local.ccm.run("plan", "show", "change.plan").stdout
    assert plan(local).code == 0
    for options, told in (
        (["--noop"], "--noop does not apply to a plan"),
        (["--hiera", "x.yaml"], "--hiera is fixed by the plan"),
    ):
        refused = push(local.ccm, *options)
        assert refused.code == 2
        assert told in refused.stderr
    more = local.ccm.scratch / "more.yaml"
    more.write_text("hosts: {other: {connection: local}}\n")
    refused = push(local.ccm, "-i", str(local.inventory), "-i", str(more), "-l", "other")
    assert refused.code == 2
    assert "the plan does not contain other" in refused.stderr
    assert local.names() == []


def test_failed_means_hosts_of_the_plan(local: Target) -> None:
    """A host that was not reached is left out of the plan, and -l failed does not bring it in."""
    more = local.ccm.scratch / "more.yaml"
    more.write_text("hosts: {away: {address: 127.0.0.1, port: 1}}\n")
    hosts = ("-i", str(local.inventory), "-i", str(more))
    path = local.ccm.site(local.filled(SITE))
    assert local.ccm.run("push", *hosts, "-l", "away", str(path)).code == 3
    assert local.ccm.run("plan", *hosts, "-o", "change.plan", str(path)).code == 3
    local.write("gone", "drifted")
    refused = push(local.ccm)
    assert (refused.code, local.names()) == (1, ["gone"]), refused.output
    Path(local.directory, "gone").unlink()
    done = push(local.ccm, "-l", "failed")
    assert done.code == 0, done.output
    assert local.names() == ["a", "b", "fired"]


def test_what_no_plan_of_this_day_and_tree_says(local: Target) -> None:
    """One of the future, of another runtime or of hosts that are gone is refused."""
    assert plan(local).code == 0
    path = str(local.ccm.scratch / "change.plan")
    record = read_plan(path).record
    hosts = {"elsewhere": record["hosts"][NAME]}
    for changes, told in (
        ({"created": record["created"] + 3600}, "was created in the future, at 20"),
        ({"runtime": "ab" * 32}, "the plan was created with the runtime of ccm "),
        ({"hosts": hosts}, "hosts of the plan are not in the inventory: elsewhere"),
    ):
        other = {**record, **changes}
        write_plan(PlanFile({**other, "id": id_of(other)}), path)
        refused = push(local.ccm)
        assert (refused.code, local.names()) == (2, []), refused.output
        assert told in refused.stderr


def test_the_other_hosts_are_done(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """One host drifted: it is refused, counts as failed, and is done later by the same plan."""
    site = ccm.site(
        'ccm: {resources: [{file: [{/srv/x: {content: "x\\n", owner: root, group: root, '
        'mode: "0644"}}]}]}'
    )
    drifted, *others = hosts
    inventory = str(lab.inventory())
    assert ccm.run("plan", "-i", inventory, "-o", "change.plan", str(site)).code == 0
    drifted.path("/srv/x").write_text("somebody's")
    done = push(ccm)
    assert done.code == 1, done.output
    assert {e["host"] for e in done.events} == {host.name for host in others}
    drifted.path("/srv/x").unlink()
    later = push(ccm, "-l", "failed")
    assert later.code == 0, later.output
    assert [e["host"] for e in later.events] == [drifted.name]


def test_a_plan_with_packages(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """What the preview within its push learns of packages is no surprise to it, nor is what comes
    along.
    """
    site = ccm.site(
        "ccm: {resources: [{package: [{ccm-daemon: {ensure: present}}, {nginx-light: {}}]},"
        " {service: [{ccm-daemon: {ensure: running, enable: true}}]}]}"
    )
    inventory = str(lab.inventory())
    assert ccm.run("plan", "-i", inventory, "-o", "change.plan", str(site)).code == 0
    shutil.rmtree(ccm.scratch / "state" / "ccm" / "packages")  # that of another workstation
    done = push(ccm)
    assert done.code == 0, done.output
    assert f"as predicted: {3 * len(hosts)} of {3 * len(hosts)}" in done.stdout, done.output
    for host in hosts:
        changes = [
            change["what"] for change in done.event("package#nginx-light", host.name)["changes"]
        ]
        assert changes[0] == "ensure"
        assert changes.count("package nginx-common") == 1


def test_what_packages_entail_is_denied(remote: Target) -> None:
    """A plan tells of the units that a package's scripts restart or stop, and that a service
    restarts by a subscription; a check counts them."""

    def checked(resources: str) -> tuple[dict[str, int], str]:
        path = remote.ccm.site(f"ccm: {{resources: [{resources}]}}")
        where = ("-i", str(remote.inventory), "-l", NAME)
        made = remote.ccm.run("plan", *where, "-o", "a.plan", str(path))
        assert made.code == 0, made.output
        shown = remote.ccm.run("plan", "show", "a.plan").stdout
        deny = ("--deny", "package_removes>0,stops>0,restarts>0")
        document = json.loads(remote.ccm.run("plan", "check", "a.plan", *deny, "--json").stdout)
        assert document["denied"] is True
        return {k: v for k, v in document["counters"].items() if v}, shown

    daemon = "{{package: [{{ccm-daemon: {{ensure: {}}}}}]}}"
    other = "{package: [{ccm-pkg01: {}}]}, {service: [{ccm-pkg01: {ensure: running%s}}]}"
    site = f"ccm: {{resources: [{daemon.format('1.0-1')}, {other % ''}]}}"
    assert remote.push(site).code == 0
    counted, shown = checked(
        f"{daemon.format('1.1-1')}, {other % ', subscribe: [package#ccm-daemon]'}"
    )
    assert counted == {"restarts": 2, "changes": 2, "hosts": 1}
    assert "restart         ccm-daemon.service, due to package#ccm-daemon  on web1" in shown
    assert "restart         service#ccm-pkg01  on web1" in shown
    counted, shown = checked(daemon.format("absent"))
    assert counted == {"removes": 1, "package_removes": 1, "stops": 1, "changes": 1, "hosts": 1}
    assert "remove package  package#ccm-daemon  on web1" in shown
    assert "stop            ccm-daemon.service, due to package#ccm-daemon  on web1" in shown


def test_a_plan_for_no_host_is_not_written(ccm: Ccm, tmp_path: Path) -> None:
    """Where no host could be previewed there is nothing to keep."""
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts: {gone: {address: 127.0.0.1, port: 1}}\n")
    site = ccm.site("ccm: {resources: [{exec: [{x: {command: 'true'}}]}]}")
    made = ccm.run("plan", "-i", str(inventory), "-o", "change.plan", str(site))
    assert made.code == 3
    nowhere = ccm.run("plan", "-i", str(inventory), "-o", "none/change.plan", str(site))
    assert nowhere.code == 2, "no host is asked for a plan that could not be written"
    assert "no plan was created" in made.stdout
    assert not (ccm.scratch / "change.plan").exists()


def test_what_came_out_otherwise_is_told(local: Target) -> None:
    """After the push: as predicted n of m, and each that was not, in summary, document, metrics."""
    assert plan(local).code == 0
    local.write("a", "one\n")
    done = push(local.ccm, "--metrics", "ccm.prom")
    assert done.code == 0, done.output
    assert "as predicted: 2 of 4" in done.stdout
    assert "the plan predicted: changed, ensure absent → present" in " ".join(done.stdout.split())
    fired = done.event("exec#fired")
    assert (fired["status"], fired["planned"][:7]) == ("stable", "changed")
    assert "planned" not in done.event(local.id("file#b"))
    assert "the plan predicted" in local.ccm.run("report").stdout
    summary = json.loads(local.ccm.run("report", "--json").stdout)["summary"]
    assert (summary["compared"], summary["as_predicted"]) == (4, 2)
    metrics = (local.ccm.scratch / "ccm.prom").read_text()
    assert "choria_ccm_plan_as_predicted_count" in metrics


def test_a_push_that_expects_a_plan(local: Target) -> None:
    """Without a file: the plan is made anew, and only that of this id is pushed."""
    identity = plan(local, SITE, "-q").stdout.strip()
    (local.ccm.scratch / "change.plan").unlink()
    words = ["-i", str(local.inventory), "-l", NAME, "--expect"]
    refused = push(local.ccm, *words, "0" * 64, name="site.yaml")
    assert (refused.code, local.names()) == (1, []), refused.output
    assert f"the plan has the ID {identity}" in refused.stderr
    done = push(local.ccm, *words, identity, name="site.yaml")
    assert done.code == 0, done.output
    assert local.names() == ["a", "b", "fired"]
    assert "as predicted: 4 of 4" in done.stdout


def test_a_plan_is_shown_in_every_form(local: Target) -> None:
    """Markdown for a merge request, a page, and what differs between two plans."""
    assert plan(local).code == 0
    local.write("a", "one\n")
    assert plan(local, name="later.plan").code == 0
    ccm = local.ccm
    shown = ccm.run("plan", "show", "change.plan", "--markdown", "-", "--html", "plan.html")
    assert shown.code == 0, shown.output
    assert shown.stdout.startswith("## Preview of `site.yaml`")
    identity = json.loads((ccm.scratch / "change.plan").read_text())["id"]
    assert "1 unchanged. Valid until 20" in shown.stdout
    assert f"Plan `{identity}`, " in shown.stdout
    assert "```diff" in shown.stdout
    page = (ccm.scratch / "plan.html").read_text()
    assert "site.yaml" in page
    assert f"Plan {identity}, 20" in page
    assert "hunter2secret" not in shown.stdout + page
    differ = ccm.run("plan", "diff", "change.plan", "later.plan")
    assert differ.code == 0, differ.output
    assert f"file#{local.directory}/a  would change → unchanged" in differ.stdout
    same = ccm.run("plan", "diff", "change.plan", "change.plan", "--json")
    assert json.loads(same.stdout)["hosts"] == {NAME: []}


def test_an_approved_plan_is_pushed(local: Target, tmp_path: Path) -> None:
    """Only with the signatures that are wanted, of those who may sign."""
    ccm, signers = local.ccm, tmp_path.parent / f"{tmp_path.name}-signers"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True)
    public = (tmp_path / "key.pub").read_text().split()
    signers.write_text(f"alice@example.com {public[0]} {public[1]}\n")
    signers.chmod(0o644)
    assert plan(local).code == 0
    assert "--approvals requires --signers" in push(ccm, "--approvals", "2").stderr
    unkept = push(ccm, "-i", str(local.inventory), "--signers", str(signers), name="site.yaml")
    assert (unkept.code, local.names()) == (2, [])
    assert "only plans can be approved, and site.yaml is not a plan" in unkept.stderr
    refused = push(ccm, "--signers", str(signers))
    assert refused.code == 2
    assert "change.plan has 0 of 1 approvals" in refused.stderr
    signed = ccm.run("plan", "sign", "--key", str(tmp_path / "key"), "change.plan")
    assert signed.code == 0, signed.output
    ccm.environment["CCM_SIGNERS"] = str(signers)
    done = push(ccm)
    assert done.code == 0, done.output
    assert "approved by alice@example.com" in done.stderr
