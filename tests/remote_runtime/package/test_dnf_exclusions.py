"""Which setting of dnf keeps a package from being installed."""

import os
import unittest

from remote_runtime.packages.dnf import exclusions as dnf_exclusions

from ..fakes import DirectoryTest


class Exclusions(DirectoryTest):
    def find(self, name, path, text):
        full = self.path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)
        try:
            return dnf_exclusions.find(name, self.path(""))
        finally:
            os.unlink(full)

    def test_excludes(self):
        """By either key, in the configuration or a repository, on several lines, as a pattern."""
        for path, text in (
            ("etc/dnf/dnf.conf", "[main]\nexclude=kernel nginx\n"),
            ("etc/dnf/dnf.conf", "[main]\nexcludepkgs = kernel,\n    nginx*\n"),
            ("etc/yum.repos.d/a.repo", "[a]\nname=a\nexcludepkgs=ngin?\n"),
            ("etc/dnf/libdnf5.conf.d/a.conf", "[main]\nexcludepkgs=nginx.x86_64\n"),
        ):
            found = self.find("nginx", path, text)
            assert found is not None, (path, text)
            self.assertIn("/" + path, found[0])
            self.assertIsNone(self.find("nghttp2", path, text))
        self.assertIsNone(self.find("nginx", "etc/dnf/dnf.conf", "[main]\n#exclude=nginx\n"))

    def test_what_a_removal_leaves(self):
        """The error names the setting that keeps a package, and what to do."""
        os.makedirs(self.path("etc/dnf"))
        self.write("etc/dnf/dnf.conf", b"[main]\nexclude=nginx\n")
        error = dnf_exclusions.not_removed_error("removing nginx", "nginx", self.path(""))
        text = "removing nginx failed: nginx is excluded by `exclude=nginx` in /etc/dnf/dnf.conf"
        self.assertEqual((error.message, error.kind), (text, "package.excluded"))
        self.assertIn(
            "dnf does not change vim",
            dnf_exclusions.not_removed_error("removing vim", "vim", self.root).message,
        )

    def test_version_locks(self):
        """Those of dnf 4's plugin and of dnf 5, with the command that releases them."""
        listed = "etc/dnf/plugins/versionlock.list"
        for path, text in (
            (listed, "# Added lock\nnginx-1:1.20.1-14.el9.*\n"),
            (listed, "1:nginx-1.20.1-14.el9.*\n"),
            (listed, "!nginx-1.22.*\n"),
            ("etc/dnf/versionlock.toml", 'version = "1.0"\n[[packages]]\nname = "nginx"\n'),
        ):
            found = self.find("nginx", path, text)
            assert found is not None, (path, text)
            self.assertIn("version lock", found[0])
            self.assertIn("dnf versionlock delete nginx", found[1])
            for other in ("nginx-mod", "ngin"):
                self.assertIsNone(self.find(other, path, text), text)
        self.assertIsNone(self.find("nginx", listed, "nginx-mod-http-1.20-1.*\n"))


if __name__ == "__main__":
    unittest.main()
