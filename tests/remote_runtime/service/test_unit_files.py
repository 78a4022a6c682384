"""What unit files and links make of a unit, as systemd 252 has it."""

import unittest
from typing import Any, Dict, List, Tuple

from remote_runtime.units.unit_files import SEARCHED, UnitFiles, install_links

from .paths import FakePaths

ETC = "/etc/systemd/system/"
LIB = "/lib/systemd/system/"
RUNTIME = "/run/systemd/system/"
SLEEPS = "[Service]\nExecStart=/bin/sleep 1\n"
WANTED = SLEEPS + "[Install]\nWantedBy=multi-user.target\n"


def model(texts):
    """A host with these files, by their path below /etc/systemd/system or whole."""
    paths = FakePaths()
    for path, text in texts.items():
        paths.texts[path if path.startswith("/") else ETC + path] = text
    return UnitFiles(paths, [f for f in SEARCHED if paths.is_directory(f)])


def files(texts, name="x.service"):
    made = model(texts)
    return made.shown(made.find(name))


class States(unittest.TestCase):
    def test_how_a_unit_is_enabled(self):
        """The state of a unit file follows from its [Install] section, its place and the links."""
        rows = [
            ({"x.service": SLEEPS}, "static"),
            ({"x.service": WANTED}, "disabled"),
            ({"x.service": SLEEPS + "[Install]\nAlso=y.service\n"}, "indirect"),
            ({"x.service": SLEEPS, "x.service.d/i.conf": "[Install]\nAlias=z.service"}, "disabled"),
            (
                {"x.service": WANTED, "multi-user.target.wants/x.service": "->../x.service"},
                "enabled",
            ),
            ({"x.service": SLEEPS, "a.target.requires/x.service": "->../x.service"}, "enabled"),
            (
                {
                    "x.service": WANTED,
                    RUNTIME + "a.target.wants/x.service": "->" + ETC + "x.service",
                },
                "enabled-runtime",
            ),
            ({LIB + "x.service": WANTED, "x.service": None}, "masked"),
            ({LIB + "x.service": WANTED, "x.service": ""}, "masked"),
            ({LIB + "x.service": WANTED, "x.service": "->/dev/null", "/dev/null": None}, "masked"),
            ({LIB + "x.service": WANTED, "/run/systemd/system/x.service": None}, "masked-runtime"),
            ({"/opt/x.service": WANTED, "x.service": "->/opt/x.service"}, "linked"),
            ({"/run/systemd/generator/x.service": SLEEPS}, "generated"),
        ]
        for texts, expected in rows:
            self.assertEqual(files(texts)["UnitFileState"], expected, texts)

    def test_services_of_init_scripts(self):
        """One is made of a script that may be executed and has no unit file; its runlevels say
        whether it starts at boot."""
        script = {"/etc/init.d/x": "#!/bin/sh\n"}
        late = {"/run/systemd/generator.late/x.service": SLEEPS}
        link = {"/etc/rc5.d/S01x": "->../init.d/x"}
        for texts, mode, expected in (
            ({}, 0o755, "disabled"),
            (late, 0o755, "disabled"),
            (link, 0o755, "enabled"),
            (dict(link, **late), 0o755, "enabled"),
            ({"/etc/rc5.d/K01x": "->../init.d/x"}, 0o755, "disabled"),
            ({}, 0o644, ""),
            (late, 0o644, ""),
            ({"x.service": WANTED}, 0o755, "disabled"),
        ):
            paths = FakePaths()
            for path, text in dict(script, **texts).items():
                paths.texts[path if path.startswith("/") else ETC + path] = text
            paths.modes["/etc/init.d/x"] = mode
            found = UnitFiles(paths, [f for f in SEARCHED if paths.is_directory(f)])
            self.assertEqual(found.shown(found.find("x.service"))["UnitFileState"], expected, texts)

    def test_names_that_enabling_gives(self):
        """The unit is found whose [Install] section has the name, of the same kind."""
        found = model({"a.service": WANTED + "Alias=b.service c.service\n", "t@.service": WANTED})
        for name, own in (("c.service", "a.service"), ("d.service", ""), ("c.socket", "")):
            self.assertEqual(found.aliased(name), own)

    def test_what_is_loaded(self):
        """Not there, masked, refused by systemd, or loaded with its type."""
        rows: List[Tuple[Dict[str, Any], str]] = [
            ({}, "not-found"),
            ({"x.service": "->/opt/gone.service"}, "not-found"),
            ({"x.service": None}, "masked"),
            ({"x.service": "[Service]\n"}, "bad-setting"),
            ({"x.service": "[Service]\nExecStart=/a\nExecStart=/b\n"}, "bad-setting"),
            ({"x.service": "[Service]\nType=oneshot\nExecStart=/a\nExecStart=/b\n"}, "loaded"),
            ({"x.service": "[Service]\nType=weird\nExecStart=/a\n"}, "loaded"),
            ({"x.service": "[Service]\nExecStop=/a\nRemainAfterExit=yes\n"}, "loaded"),
            ({"x.service": "[Service]\nType=dbus\nExecStart=/a\n"}, "bad-setting"),
            ({"x.service": "[Service]\nExecStart=/a\nExecReload=b/c\n"}, "bad-setting"),
            ({"x.timer": "[Timer]\nUnit=x.service\n"}, "bad-setting"),
            ({"x.timer": "[Timer]\nOnBootSec=1\n"}, "loaded"),
            ({"x.socket": "[Socket]\nMode=0600\n"}, "bad-setting"),
            ({"x.socket": "[Socket]\nListenFIFO=/run/x\n"}, "loaded"),
            ({"x.path": "[Path]\nPathExists=\n"}, "bad-setting"),
            ({"x.target": "[Unit]\n"}, "loaded"),
        ]
        for texts, expected in rows:
            self.assertEqual(
                files(texts, next(iter(texts), "x.service"))["LoadState"], expected, texts
            )

    def test_types(self):
        """A service is of type simple unless something else follows from its settings."""
        rows = [
            (SLEEPS, "simple", "no"),
            (SLEEPS + "BusName=a.b\n", "dbus", "no"),
            (SLEEPS + "Type=oneshot\nRemainAfterExit=yes\n", "oneshot", "yes"),
        ]
        for text, kind, remains in rows:
            shown = files({"x.service": text})
            self.assertEqual((shown["Type"], shown["RemainAfterExit"]), (kind, remains), text)


class Finding(unittest.TestCase):
    def test_the_directory_that_counts(self):
        """A file in /etc stands in for the one of the package, a template for its instances."""
        texts = {LIB + "x.service": SLEEPS, "x.service": WANTED, LIB + "t@.service": SLEEPS}
        self.assertEqual(model(texts).find("x.service").path, ETC + "x.service")
        self.assertEqual(model(texts).find("t@1.service").path, LIB + "t@.service")

    def test_drop_ins(self):
        """Those of the unit, its template, its prefixes and its type count, by their names; of two
        with one name the one in /etc, and a mask is none."""
        unit = "[Unit]\nWants=%s.service\n"
        texts = {
            LIB + "a-b@.service": unit % "base",
            LIB + "a-b@.service.d/50.conf": unit % "lib",
            "a-b@.service.d/50.conf": unit % "etc",
            "a-b@1.service.d/10.conf": unit % "instance",
            "a-.service.d/20.conf": unit % "prefix",
            "service.d/60.conf": unit % "all",
            LIB + "a-b@1.service.d/70.conf": unit % "hidden",
            "a-b@1.service.d/70.conf": None,
        }
        self.assertEqual(
            model(texts).find("a-b@1.service").text.words("Unit", "Wants"),
            ["base.service", "instance.service", "prefix.service", "etc.service", "all.service"],
        )

    def test_what_links_have_started_with_it(self):
        """Those in directories of its own and of its template count as what its text names."""
        texts = {
            LIB + "t@.service": "[Unit]\nWants=own.service\n" + SLEEPS,
            LIB + "t@.service.wants/b.service": "->../b.service",
            "t@1.service.wants/a.service": "->../a.service",
            "t@1.service.requires/c.service": "->../c.service",
            "t@2.service.wants/d.service": "->../d.service",
        }
        text = model(texts).find("t@1.service").text
        wants, requires = text.words("Unit", "Wants"), text.words("Unit", "Requires")
        self.assertEqual(wants, ["own.service", "a.service", "b.service"])
        self.assertEqual(requires, ["c.service"])

    def test_directories_that_are_links(self):
        """Links in them count, and what is no directory holds none."""
        texts = {
            "x.target": "[Unit]\nWants=own.service\n",
            "x.target.wants": "->/opt/wants",
            "/opt/wants/a.service": "->/lib/systemd/system/a.service",
            "x.target.requires": "a file",
            "x.target.d": "->/nowhere",
        }
        text = model(texts).find("x.target").text
        self.assertEqual(text.words("Unit", "Wants"), ["own.service", "a.service"])
        self.assertEqual(text.words("Unit", "Requires"), [])

    def test_aliases(self):
        """A link to another unit is that unit."""
        texts = {LIB + "x.service": WANTED, "y.service": "->/lib/systemd/system/x.service"}
        unit = model(texts).find("y.service")
        self.assertEqual((unit.name, unit.path), ("x.service", LIB + "x.service"))

    def test_links_of_enable(self):
        """Enabling makes the links that the [Install] section names."""
        text = (
            SLEEPS + "[Install]\nWantedBy=a.target b.target\nRequiredBy=c.target\nAlias=y.service\n"
        )
        unit = model({"x.service": text}).find("x.service")
        self.assertEqual(
            install_links(unit),
            [
                ETC + "a.target.wants/x.service",
                ETC + "b.target.wants/x.service",
                ETC + "c.target.requires/x.service",
                ETC + "y.service",
            ],
        )


if __name__ == "__main__":
    unittest.main()
