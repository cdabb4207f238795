"""Runs commands one after the other, `statuses.py STATUS COMMAND…`; fails if one ends with another status."""

import shlex
import subprocess
import sys

sys.exit(any(subprocess.run(shlex.split(command)).returncode != int(sys.argv[1]) for command in sys.argv[2:]))
