"""`status.py N COMMAND…`: runs the command, and says whether its exit status is N."""

import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
print("as it should be" if status == int(sys.argv[1]) else f"status {status}", flush=True)
