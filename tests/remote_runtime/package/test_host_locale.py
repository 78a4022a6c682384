"""The locale in which maintainer scripts run."""

from remote_runtime.packages.maintainer_scripts import host_locale

from ..fakes import DirectoryTest, context


class Locale(DirectoryTest):
    def told(self, text=None):
        if text is not None:
            self.write("locale", text)
        self.addCleanup(setattr, host_locale, "FILES", host_locale.FILES)
        host_locale.FILES = (self.path("none"), self.path("locale"))
        return host_locale.environment(context().files)

    def test_the_hosts_own(self):
        """What the host's file says holds, but for messages, which are parsed."""
        told = self.told(b'# x\nLANG="de_DE.UTF-8"\nLC_TIME=C.UTF-8\nLC_MESSAGES=de_DE.UTF-8\n')
        self.assertEqual((told["LANG"], told["LC_TIME"]), ("de_DE.UTF-8", "C.UTF-8"))
        self.assertEqual((told["LC_MESSAGES"], told["LC_ALL"], told["LANGUAGE"]), ("C", "", ""))

    def test_one_for_everything(self):
        """LC_ALL would have the messages in it as well, so it is spread over the others."""
        told = self.told(b"LANG=C\nLC_ALL=fr_FR.UTF-8\n")
        self.assertEqual({told["LANG"], told["LC_CTYPE"], told["LC_COLLATE"]}, {"fr_FR.UTF-8"})
        self.assertEqual((told["LC_ALL"], told["LC_MESSAGES"]), ("", "C"))

    def test_none(self):
        """A host that has no setting runs them as before."""
        self.assertEqual(self.told()["LANG"], "C")
