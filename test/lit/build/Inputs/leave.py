"""`leave.py N`: leaves N jobs and one that cannot be read in the queue, as compilations do."""

import hashlib
import json
import os
import sys

from incc.support.trust import SEAL, read_key, seal_of

TEXT = """\
\t.type\tsum, @function
sum:
.L3:
\tvaddsd\t(%rdi), %xmm0, %xmm0
\taddq\t$8, %rdi
\tcmpq\t%rdi, %rax
\tjne\t.L3
\tret
\t.size\tsum, .-sum
"""

queue = os.environ["INCC_QUEUE"]


def leave(name: str, job: object) -> None:
    begun = os.path.join(queue, f".tmp-{name}")
    os.mkdir(begun)
    with open(os.path.join(begun, "kept.s"), "w") as file:
        file.write(TEXT)
    text = json.dumps(job).encode()
    with open(os.path.join(begun, "job.json"), "wb") as file:
        file.write(text)
    with open(os.path.join(begun, SEAL), "w") as file:
        file.write(seal_of(text, read_key(os.environ["INCC_KEY_FILE"])))
    os.rename(begun, os.path.join(queue, name))


leave("bad", "nonsense")
for n in range(int(sys.argv[1])):
    key = hashlib.blake2b(str(n).encode(), digest_size=16).hexdigest()
    job = {
        "version": 1,
        "folder": os.getcwd(),
        "compiler": "/usr/bin/gcc",
        "words": ["gcc"],
        "arguments": ["-O2", "-march=skylake", "-c", f"{n}.c"],
        "output": "",
        "environment": {name: value for name, value in os.environ.items() if name.startswith("INCC_")},
        "units": [{"source": f"{n}.c", "way": "assembler", "file": "kept.s", "proper": [], "key": key}],
        "digest": {},
        "log": "",
    }
    leave(f"job{n}", job)
