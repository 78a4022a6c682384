"""Print this machine's facts as JSON: ``python3 -m remote_runtime.facts``."""

import json
import sys

from remote_runtime.facts import gather

found = gather()
json.dump(dict(zip(found._fields, found)), sys.stdout, indent=2, sort_keys=True)
sys.stdout.write("\n")
