import unittest

from remote_runtime.resources.timer import unit_files


class TextsTest(unittest.TestCase):
    def test_files(self):
        """Both files have what the properties say; settings go to the file that is meant."""
        given = {
            "command": "date +%F > \"$HOME/a b\"\n\techo 'x\\y' é\n",
            "user": "anna",
            "schedule": ["Mon  04:00", "daily"],
            "on_boot": 90,
            "persistent": False,
            "randomized_delay": " 1h\n 5s ",
            "environment": ['A=b "c" 5% \\ $X'],
            "description": "50% of it",
            "settings": {
                "Timer": {"AccuracySec": "1s"},
                "Service": {"Type": "exec", "Nice": 5},
                "Unit": {"After": ["a.target", "b.target"]},
            },
        }
        self.assertEqual(
            unit_files.timer_text("job", given),
            "# ccm: job\n[Unit]\nDescription=Timer of 50%% of it\n\n[Timer]\n"
            "OnCalendar=Mon 04:00\nOnCalendar=daily\nOnBootSec=90\nRandomizedDelaySec=1h 5s\n"
            "Persistent=no\nAccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n",
        )
        self.assertEqual(
            unit_files.service_text("job", given),
            "# ccm: job\n[Unit]\nDescription=50%% of it\nAfter=a.target\nAfter=b.target\n\n"
            "[Service]\nType=exec\nUser=anna\n"
            'Environment="A=b \\"c\\" 5%% \\\\ $X"\n'
            'ExecStart=/bin/sh -c "date +%%F > \\"$$HOME/a b\\"\\n\\techo \'x\\\\y\' é"\nNice=5\n',
        )

    def test_shortest(self):
        """What is not given is not written; root is the user of services anyway."""
        text = unit_files.service_text("job", {"command": "true", "user": "root"})
        self.assertNotIn("User", text)
        self.assertIn("Description=job\n", text)
        self.assertNotIn("Persistent", unit_files.timer_text("job", {"schedule": "daily"}))

    def test_marks(self):
        """The first line says whose file it is."""
        self.assertTrue(unit_files.is_marked(b"# ccm: job\r\n[Unit]\n", "job"))
        self.assertFalse(unit_files.is_marked(b"# ccm: jobs\n", "job"))
        self.assertFalse(unit_files.is_marked(b"[Unit]\n# ccm: job\n", "job"))


if __name__ == "__main__":
    unittest.main()
