"""What is special about checkouts: what is refused, what is kept, who runs git."""

import os
import shutil
import unittest
import unittest.mock
from typing import Any, Dict, List

from remote_runtime.resources.git.resource import Resource
from remote_runtime.system.process.commands import Commands
from tests.remote_runtime.fakes import ROOT, DirectoryTest, item, one, run_items
from tests.remote_runtime.git.repositories import commit, git, repository
from tests.texts import expect_text

KEY = "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n"
OTHER = 4711


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class CheckoutTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.url = self.path("source")
        self.commits = repository(self.url, "one", "two")
        self.app = self.path("app")

    def run_one(self, noop: bool = False, **properties: Any) -> Dict[str, Any]:
        properties.setdefault("url", self.url)
        return one(run_items([item("git", self.app, properties=properties)], noop=noop))

    def both(self, **properties: Any) -> Dict[str, Any]:
        """The push, which does what the preview said and is stable then."""
        preview = self.run_one(noop=True, **properties)
        event = self.run_one(**properties)
        self.assertEqual(event["error"], [])
        self.assertEqual(preview["changes"], event["changes"])
        self.assertEqual(preview["prediction"], "certain")
        self.assertEqual(self.run_one(**properties)["status"], "stable")
        return event

    def refused(self, **properties: Any) -> str:
        """Why the preview and the push refuse."""
        found = [self.run_one(noop=noop, **properties)["error"] for noop in (True, False)]
        self.assertEqual(found[0], found[1])
        return str(found[1][0])

    def head(self) -> str:
        return git("-C", self.app, "rev-parse", "HEAD")

    def test_refs(self) -> None:
        """The default branch, another one, tags of both kinds, and commits."""
        git("-C", self.url, "tag", "light", self.commits[0])
        git("-C", self.url, "tag", "-a", "-m", "x", "heavy", self.commits[0])
        git("-C", self.url, "branch", "light", self.commits[1])
        self.both()
        self.assertEqual(git("-C", self.app, "symbolic-ref", "HEAD"), "refs/heads/main")
        for ref, wanted in (
            ("heavy", 0),
            ("main", 1),
            ("refs/tags/light", 0),
            ("light", 1),
            (self.commits[0], 0),
        ):
            self.both(ref=ref)
            self.assertEqual(self.head(), self.commits[wanted], ref)

    def test_a_branch_is_followed(self) -> None:
        """Unless it must not be; then another ref is checked out all the same."""
        self.both(ref="main")
        new = commit(self.url, "three")
        event = self.run_one(ref="main", update=False)
        self.assertEqual(event["status"], "stable")
        self.both(ref=self.commits[0], update=False)
        self.both(ref="main", update=False)
        self.assertEqual(self.head(), new)

    def test_a_moved_tag_is_followed(self) -> None:
        """Also one that the checkout knows already."""
        git("-C", self.url, "tag", "v1", self.commits[0])
        self.both(ref="v1")
        git("-C", self.url, "tag", "-f", "v1", self.commits[1])
        self.both(ref="v1")
        self.assertEqual(self.head(), self.commits[1])

    def test_depth(self) -> None:
        """A shallow checkout follows its branch, and takes a commit that is no tip."""
        self.both(depth=1)
        self.assertEqual(git("-C", self.app, "rev-list", "--count", "HEAD"), "1")
        commit(self.url, "three")
        self.both(depth=1)
        self.both(depth=1, ref=self.commits[0])
        self.both(ref="main")
        self.assertEqual(git("-C", self.app, "rev-list", "--count", "HEAD"), "3")

    def test_local_changes_are_kept(self) -> None:
        """They matter only where the tree has to move; untracked files stay with force, too."""
        self.both()
        for name in ("app", "own"):
            with open(os.path.join(self.app, name), "w") as file:
                file.write("mine")
        self.assertEqual(self.run_one()["status"], "stable")
        commit(self.url, "three")
        self.assertIn("local changes: app (", self.refused() + " (")
        self.both(force=True)
        with open(os.path.join(self.app, "app")) as file:
            self.assertEqual(file.read(), "three")
        self.assertTrue(os.path.exists(os.path.join(self.app, "own")))

    def test_local_commits_are_kept(self) -> None:
        """A commit that no remote has is not left behind, one that is published is."""
        self.both()
        commit(self.app, "mine")
        self.assertEqual(self.run_one(noop=True)["prediction"], "unknown")
        self.assertIn("local commits", self.run_one()["error"][0])
        git("-C", self.app, "push", "-q", "origin", "HEAD:refs/heads/topic")
        self.both()
        git("-C", self.app, "checkout", "-q", "--detach", self.commits[0])
        commit(self.app, "again")
        self.both(force=True)

    def test_a_rewritten_branch_is_followed(self) -> None:
        """What ccm checked out is no local commit, though the remote no longer has it."""
        self.both()
        git("-C", self.url, "reset", "-q", "--hard", self.commits[0])
        new = commit(self.url, "other")
        self.both()
        self.assertEqual(self.head(), new)

    def test_another_url(self) -> None:
        """The remote of a checkout changes with its content."""
        self.both()
        other = self.path("other")
        new = repository(other, "else")[-1]
        self.both(url=other)
        self.assertEqual(self.head(), new)
        self.assertEqual(git("-C", self.app, "config", "remote.origin.url"), other)

    def test_what_is_not_a_checkout(self) -> None:
        """It is refused, and an empty directory keeps its mode."""
        os.mkdir(self.app, 0o750)
        os.chmod(self.app, 0o750)
        self.both()
        self.assertEqual(os.stat(self.app).st_mode & 0o7777, 0o750)
        shutil.rmtree(os.path.join(self.app, ".git"))
        expect_text(self.refused(), self)
        shutil.rmtree(self.app)
        git("init", "-q", "--bare", self.app)
        self.assertIn("bare repository", self.refused())
        shutil.rmtree(self.app)
        os.symlink("source", self.app)
        expect_text(self.refused(), self)
        expect_text(self.refused(ensure="absent"), self)
        os.unlink(self.app)
        git("-C", self.url, "worktree", "add", "-q", "--detach", self.app)
        self.assertIn("linked worktree", self.refused())

    def test_nothing_to_clone(self) -> None:
        """A repository that cannot be asked is unknown in a preview; a ref that it lacks is not."""
        expect_text(self.refused(ref="nope"), self)
        self.assertIn("needs its full hash of 40 digits", self.refused(ref=self.commits[0][:10]))
        url = self.path("nowhere")
        preview = self.run_one(noop=True, url=url)
        self.assertEqual(preview["prediction"], "unknown")
        self.assertIn("does not appear to be a git repository", preview["prediction_reason"])
        expect_text(self.run_one(url=url)["error"][0], self)
        self.assertEqual([name for name in os.listdir(self.root) if name != "source"], [])

    def test_absent(self) -> None:
        """A checkout goes only if everything in it is elsewhere, too."""
        self.both()
        own = os.path.join(self.app, "own")
        with open(own, "w") as file:
            file.write("mine")
        self.assertIn("local changes: own", self.refused(ensure="absent"))
        os.remove(own)
        commit(self.app, "mine")
        self.assertIn("local commits", self.refused(ensure="absent"))
        self.both(ensure="absent", force=True)
        self.assertFalse(os.path.exists(self.app))

    def test_submodules(self) -> None:
        """They get the commits that the tree records; from a path, git refuses them."""
        part = self.path("part")
        repository(part, "x")
        git("-C", self.url, "-c", "protocol.file.allow=always", "submodule", "add", "-q", part, "p")
        git("-C", self.url, "commit", "-q", "-m", "with")
        self.both(submodules=False)
        error = self.run_one()["error"]
        expect_text(error[0], self)
        expect_text(error[1], self)
        expect_text(self.run_one()["error"][0], self)
        git("-C", self.app, "-c", "protocol.file.allow=always", "submodule", "update", "--init")
        self.assertEqual(self.run_one()["status"], "stable")

    def test_an_update_that_was_cut(self) -> None:
        """The next push completes it, and tells it from what somebody changed."""
        self.both()
        new = commit(self.url, "three")
        git("-C", self.app, "fetch", "-q", "origin")
        git("-C", self.app, "update-ref", "refs/ccm/pending", new)
        path = os.path.join(self.app, "app")
        with open(path, "w") as file:
            file.write("thr")
        with open(os.path.join(self.app, ".git", "index.lock"), "w"):
            pass
        self.both()
        with open(path) as file:
            self.assertEqual(file.read(), "three")
        self.assertEqual(git("-C", self.app, "for-each-ref", "refs/ccm/pending"), "")

    def test_a_refused_update_loses_nothing(self) -> None:
        """Also when it is pushed again: the file that is in its way stays."""
        self.both()
        commit(self.url, "theirs", "conf.yml")
        path = os.path.join(self.app, "conf.yml")
        with open(path, "w") as file:
            file.write("mine")
        for _ in range(3):
            self.assertIn("could not check out", self.run_one()["error"][0])
            with open(path) as file:
                self.assertEqual(file.read(), "mine")
            self.assertEqual(git("-C", self.app, "for-each-ref", "refs/ccm/pending"), "")
        os.remove(path)
        self.both()

    def cut(self, **files: str) -> None:
        """An update to a commit with the files app and conf that was cut off, and what is there."""
        self.both()
        commit(self.url, "theirs", "conf")
        new = commit(self.url, "three")
        git("-C", self.app, "fetch", "-q", "origin")
        git("-C", self.app, "update-ref", "refs/ccm/pending", new)
        for name, text in files.items():
            with open(os.path.join(self.app, name), "w") as file:
                file.write(text)

    def test_what_an_update_had_written_is_replaced(self) -> None:
        """Whole files and begun ones, new ones too."""
        self.cut(app="three", conf="the")
        self.both()
        for name, text in (("app", "three"), ("conf", "theirs")):
            with open(os.path.join(self.app, name)) as file:
                self.assertEqual(file.read(), text)

    def test_what_was_written_after_an_update_was_cut_is_kept(self) -> None:
        """In a file that the update changes, in one that it adds, and in place of a directory."""
        for name in ("app", "conf"):
            self.cut(**{name: "mine"})
            if name == "app":
                self.assertIn("local changes: app", self.run_one(noop=True)["error"][0])
            for _ in range(2):
                self.assertNotEqual(self.run_one()["error"], [])
                with open(os.path.join(self.app, name)) as file:
                    self.assertEqual(file.read(), "mine")
            shutil.rmtree(self.app)
            git("-C", self.url, "reset", "-q", "--hard", self.commits[1])
        self.cut()
        os.mkdir(os.path.join(self.app, "conf"))
        own = os.path.join(self.app, "conf", "own")
        with open(own, "w") as file:
            file.write("mine")
        self.assertNotEqual(self.run_one()["error"], [])
        self.assertTrue(os.path.exists(own))

    def test_commits_of_other_branches_are_kept(self) -> None:
        """A checkout with them is not removed, nor one whose commits cannot be read."""
        self.both()
        git("-C", self.app, "checkout", "-q", "-b", "topic")
        mine = commit(self.app, "mine")
        git("-C", self.app, "checkout", "-q", "main")
        self.assertIn("local commits", self.refused(ensure="absent"))
        os.remove(os.path.join(self.app, ".git", "objects", mine[:2], mine[2:]))
        expect_text(self.refused(ensure="absent"), self)
        git("-C", self.app, "update-ref", "-d", "refs/heads/topic")
        git("-C", self.app, "symbolic-ref", "HEAD", "refs/heads/unborn")
        git("-C", self.app, "rm", "-q", "-r", "--cached", ".")
        os.remove(os.path.join(self.app, "app"))
        self.both(ensure="absent")

    def test_the_full_name_of_a_branch_is_not_followed(self) -> None:
        """With ``update: false`` it means what the short name means."""
        self.both(ref="refs/heads/main")
        commit(self.url, "three")
        self.assertEqual(self.run_one(ref="refs/heads/main", update=False)["status"], "stable")

    def test_a_submodule_that_is_not_updated(self) -> None:
        """``update = none`` leaves it out for good, also after it was set on the host."""
        part = self.path("part")
        repository(part, "x")
        git("-C", self.url, "-c", "protocol.file.allow=always", "submodule", "add", "-q", part, "p")
        git("-C", self.url, "config", "-f", ".gitmodules", "submodule.p.update", "none")
        git("-C", self.url, "commit", "-q", "-a", "-m", "with")
        self.both()
        git("-C", self.app, "config", "submodule.p.update", "checkout")
        expect_text(self.run_one()["error"][0], self)

    @unittest.skipUnless(ROOT, "only root runs git as others")
    def test_credentials_go_to_the_wanted_owner_only(self) -> None:
        """Whoever made the directory is not given them, in no preview either."""
        os.chmod(self.root, 0o755)
        asked: List[Any] = []
        run = Commands.run

        def watched(adapter: Commands, argv: List[str], *args: Any, **options: Any) -> Any:
            if "CCM_GIT_TOKEN" in (options.get("env") or {}):
                asked.append((argv, options.get("user")))
            return run(adapter, argv, *args, **options)

        given: Dict[str, Any] = {"url": "https://127.0.0.1:9/x", "ref": "main", "token": "x"}
        with unittest.mock.patch.object(Commands, "run", watched):
            os.mkdir(self.app)
            os.chown(self.app, OTHER, OTHER)
            expect_text(self.refused(**given), self)
            os.rmdir(self.app)
            git("clone", "-q", self.url, self.app)
            for directory, _, names in os.walk(self.app):
                for name in [directory] + [os.path.join(directory, name) for name in names]:
                    os.lchown(name, OTHER, OTHER)
            expect_text(self.refused(**given), self)
            expect_text(self.refused(owner="0", **given), self)
            commit_ = dict(given, ref=self.commits[0])
            expect_text(self.run_one(**commit_)["error"][0], self)
            self.assertEqual(asked, [])
            self.run_one(owner=str(OTHER), **given)
            self.assertEqual([user for _, user in asked], [str(OTHER)])

    def test_a_hostile_checkout_runs_nothing(self) -> None:
        """Hooks, monitors and transports that its settings name are not used."""
        self.both()
        ran = self.path("ran")
        hooks = os.path.join(self.app, ".git", "hooks")
        if not os.path.isdir(hooks):
            os.mkdir(hooks)
        evil = self.path("evil")
        for path in [evil] + [
            os.path.join(hooks, name) for name in ("post-checkout", "reference-transaction")
        ]:
            with open(path, "w") as file:
                file.write("#!/bin/sh\ntouch %s\n" % ran)
            os.chmod(path, 0o755)
        for key, value in (
            ("core.fsmonitor", evil),
            ("core.sshCommand", evil),
            ("remote.origin.uploadpack", evil),
            ("credential.helper", evil),
        ):
            git("-C", self.app, "config", key, value)
        os.environ.pop("GIT_CONFIG_GLOBAL", None)
        commit(self.url, "three")
        self.both(force=True)
        self.assertFalse(os.path.exists(ran))

    @unittest.skipUnless(ROOT, "only root runs git as others")
    def test_the_owner_runs_git(self) -> None:
        """A new checkout belongs to its owner; an existing one is not given away."""
        os.chmod(self.root, 0o755)
        for directory, _, names in os.walk(self.url):
            for name in [directory] + [os.path.join(directory, name) for name in names]:
                os.chown(name, OTHER, OTHER)
        self.both(owner=str(OTHER))
        owners = {
            os.lstat(os.path.join(directory, name)).st_uid
            for directory, directories, names in os.walk(self.app)
            for name in directories + names + ["."]
        }
        self.assertEqual(owners, {OTHER})
        self.assertEqual(self.run_one()["status"], "stable")
        expect_text(self.refused(owner="0"), self)

    @unittest.skipUnless(ROOT, "the checkout belongs to root")
    def test_root_runs_nothing_for_others(self) -> None:
        """Where others may change the settings of a checkout, git is not run as root."""
        self.both()
        config = os.path.join(self.app, ".git", "config")
        os.chmod(config, 0o666)
        self.assertIn("users other than root can change", self.refused())
        os.chmod(config, 0o644)
        os.chown(config, OTHER, -1)
        self.assertIn("belongs to the user 4711", self.refused())

    @unittest.skipUnless(ROOT, "the checkout belongs to root")
    def test_root_runs_git_in_no_directory_of_others(self) -> None:
        """Who can replace a checkout of root could have git change another one."""
        os.mkdir(self.path("home"))
        self.app = self.path("home", "app")
        self.both()
        os.chown(self.path("home"), OTHER, OTHER)
        self.assertIn("replace %s while git runs as root" % self.app, self.refused())
        shutil.rmtree(self.app)
        self.assertIn("replace %s while git runs as root" % self.app, self.refused())
        self.assertEqual(os.listdir(self.path("home")), [])

    @unittest.skipUnless(ROOT, "only root runs git as somebody else")
    def test_a_directory_gives_its_group_to_nobody(self) -> None:
        """Programs that a checkout runs as its owner have the groups of its owner alone."""
        os.chmod(self.root, 0o755)
        shutil.chown(self.url, "nobody")
        shutil.chown(os.path.join(self.url, ".git"), "nobody")
        self.both(owner="nobody")
        told = self.path("told")
        with open(told, "w"):
            os.chmod(told, 0o666)
        with open(os.path.join(self.app, ".git", "config"), "a") as config:
            config.write('[filter "x"]\n\tclean = "sh -c \'id -G >> %s; cat\'"\n' % told)
        with open(os.path.join(self.app, ".git", "info", "attributes"), "w") as attributes:
            attributes.write("* filter=x\n")
        os.chown(self.app, -1, 0)  # as after chown USER DIRECTORY
        for name in os.listdir(self.app):
            os.utime(os.path.join(self.app, name), (1, 1))  # git looks at the content
        self.assertEqual(self.run_one(owner="nobody", force=True)["error"], [])
        with open(told) as file:
            groups = set(file.read().split())
        self.assertEqual(groups, {str(gid) for gid in os.getgrouplist("nobody", 65534)})

    def test_a_clone_that_fails_leaves_nothing(self) -> None:
        """It is made next to its path and renamed only when it is whole."""
        broken = self.path("source", ".git", "objects")
        shutil.rmtree(broken)
        os.mkdir(broken)
        self.assertNotEqual(self.run_one(ref=self.commits[1])["error"], [])
        self.assertEqual(sorted(os.listdir(self.root)), ["source"])

    def test_what_follows_in_a_preview(self) -> None:
        """The directory is certain, and nobody knows what is in it."""
        items = [
            item("git", self.app, properties={"url": self.url}),
            item("file", self.app, index=1, properties={"ensure": "directory", "mode": "0755"}),
            item("file", os.path.join(self.app, "x"), index=2, properties={"ensure": "absent"}),
            item("git", self.app, index=3, properties={"url": self.url, "ref": "main"}),
        ]
        events = run_items(items, noop=True)
        self.assertEqual(
            [event["prediction"] for event in events], ["certain", "certain", "unknown", "unknown"]
        )


class RulesTest(unittest.TestCase):
    def check(self, **properties: str) -> Dict[str, str]:
        given = dict({"url": "https://h/x"}, **properties)
        return dict(Resource.check("/srv/app", given))

    def test_addresses(self) -> None:
        """What git would take for an option or a command is refused."""
        for url in (
            "https://h/x.git", "https://u@h:8443/x", "ssh://git@h:2222/x", "git@h:team/x.git",
            "h:x", "/srv/git/x", "file:///srv/git/x", "git://h/x", "https://[2001:db8::1]/x",
            "http://h/x",
        ):  # fmt: skip
            self.assertEqual(self.check(url=url), {}, url)
        for url in (
            "ext::sh -c id", "ext::id", "fd::3", "-oProxyCommand=x:y", "--upload-pack=x", "x/y",
            "ssh://-oProxyCommand=id/x", "git@-o:x", "ftp://h/x", "https://u:p@h/x", "https://h",
            "file://h/x", "file://x", "/srv/../x", "https://h/a b", "ssh://h/x\ny", "./x", "a::b",
            "ssh://-h/x", "h:-x", "ssh://u%40x@h/x",
        ):  # fmt: skip
            self.assertIn("url", self.check(url=url), url)

    def test_refs(self) -> None:
        """By the rules of git."""
        for ref in ("main", "feature/x", "v1.0", "refs/tags/v1", "a" * 40, "a-b_c+d", "7"):
            self.assertEqual(self.check(ref=ref), {}, ref)
        for ref in (
            "-x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "[a", "a\\b", "/a", "a/", "a//b",
            ".a", "a.lock", "a.", "@", "a@{1}", "HEAD", "refs/remotes/origin/x", "a\nb", "a/.b",
        ):  # fmt: skip
            self.assertIn("ref", self.check(ref=ref), ref)

    def test_credentials(self) -> None:
        """Each fits the address that it is for."""
        self.assertEqual(self.check(url="git@h:x", ssh_key=KEY, known_host="h ssh-rsa A"), {})
        self.assertEqual(self.check(token="x", username="u"), {})
        self.assertIn("ssh_key", self.check(ssh_key=KEY))
        self.assertIn("token", self.check(url="git@h:x", token="x"))
        self.assertIn("username", self.check(username="x"))
        self.assertIn("ssh_key", self.check(url="git@h:x", ssh_key="/root/.ssh/id_rsa"))
        self.assertIn("known_host", self.check(url="git@h:x", known_host="AAAA"))
        self.assertIn("timeout", self.check(timeout="soon"))
        self.assertIn("timeout", self.check(timeout="0s"))
        self.assertEqual(Resource.check("/srv/app", {"ensure": "absent", "url": "-x"}), [])
        self.assertEqual([key for key, _ in Resource.check("/", {"url": "/x"})], ["name"])
        self.assertEqual([key for key, _ in Resource.check("/a/../b", {"url": "/x"})], ["name"])
        found = Resource.warnings("/a", {"url": "http://h/x", "token": "x"})
        self.assertEqual([key for key, _, _ in found], ["url"])


if __name__ == "__main__":
    unittest.main()
