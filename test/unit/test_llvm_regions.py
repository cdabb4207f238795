"""llvm-mca's rules for regions: what its markers are, and what they begin and end."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.asm.llvm_regions import comments, places, regions, spans
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import llvm_mca_regions
from mca_masks import diagnostics
from properties import examples

ADD, MUL, SUB = "addl %eax, %ebx", "imull %eax, %ebx", "subl %eax, %ebx"

# Texts, and the regions that llvm-mca has for them: names with the lines that are inside; or what it says.
CASES: list[tuple[str, list[tuple[str, tuple[int, ...]]], list[str]]] = [
    (f"{ADD}\n{MUL}\n", [("", (1, 2))], []),
    (f"{ADD}\n# LLVM-MCA-BEGIN foo\n{MUL}\n", [("foo", (3,))], []),
    (f"{ADD}\n# LLVM-MCA-END\n{MUL}\n", [("", (1,))], []),
    (f"# LLVM-MCA-END\n{ADD}\n", [], []),
    (f"# LLVM-MCA-BEGIN x\n# LLVM-MCA-END\n{ADD}\n", [], []),
    (
        f"# LLVM-MCA-BEGIN a\n{ADD}\n# LLVM-MCA-BEGIN b\n{MUL}\n# LLVM-MCA-END a\n{SUB}\n# LLVM-MCA-END b\n",
        [("a", (2, 4)), ("b", (4, 6))],
        [],
    ),
    (f"// LLVM-MCA-BEGIN x\n{ADD}\n  // LLVM-MCA-END\n{MUL}\n", [("x", (2,))], []),
    (f"## LLVM-MCA-BEGIN x\n{ADD}\n ## LLVM-MCA-END\n{MUL}\n", [("x", (2,))], []),
    (f"# # LLVM-MCA-BEGIN x\n{ADD}\n", [("x", (2,))], []),
    (f"### LLVM-MCA-BEGIN x\n{ADD}\n", [("", (2,))], []),
    (f"# text LLVM-MCA-BEGIN x\n{ADD}\n", [("", (2,))], []),
    (f"{ADD} ## LLVM-MCA-BEGIN x\n{MUL}\n", [("", (1, 2))], []),
    (f"{ADD} # LLVM-MCA-BEGIN x\n{MUL}\n", [("x", (2,))], []),
    (f"# LLVM-MCA-BEGINx\n{ADD} # LLVM-MCA-ENDx\n{MUL}\n", [("x", (2,))], []),
    (f"# LLVM-MCA-BEGIN a b \n{ADD}\n# LLVM-MCA-END a b \n", [("a b ", (2,))], []),
    (f"# LLVM-MCA-RISCV-LMUL M1\n{ADD}\n", [("", (2,))], []),
    (f"/* LLVM-MCA-BEGIN x */ {ADD}\n{MUL} /* LLVM-MCA-END x */\n{SUB}\n", [("x ", (1, 2))], []),
    (f'.string "# LLVM-MCA-BEGIN x"\n{ADD}\n', [("", (2,))], []),
    (f"{ADD}\n# LLVM-MCA-END", [("", (1,))], []),
    (f"{ADD}\n# LLVM-MCA-BEGIN foo", [], []),
    (f"# LLVM-MCA-BEGIN\r\n{ADD}\r\n# LLVM-MCA-END\r\n{MUL}\r\n", [("", (2,))], []),
    (
        f"# LLVM-MCA-BEGIN a\n{ADD}\n# LLVM-MCA-BEGIN b\n{MUL}\n# LLVM-MCA-END\n",
        [],
        ["5:2: error: a name is needed unless just one region is open", "5:2: note: open regions: 'a', 'b'"],
    ),
    (
        f"{ADD}\n\t# LLVM-MCA-END foo\n",
        [],
        ["2:3: error: region 'foo' is not open", "2:3: note: open regions: none"],
    ),
    (
        f"# LLVM-MCA-BEGIN a\n{ADD}\n# LLVM-MCA-BEGIN a\n",
        [],
        [
            "3:2: error: region 'a' begins again before it ends; use different names",
            "1:2: note: it began here",
        ],
    ),
    (
        f"# LLVM-MCA-BEGIN\n{ADD}\n   # LLVM-MCA-BEGIN\n",
        [],
        [
            "3:5: error: a region without a name begins again before it ends; use different names",
            "1:2: note: it began here",
        ],
    ),
]

each_case = pytest.mark.parametrize(("text", "expected", "said"), CASES, ids=range(len(CASES)))


@each_case
def test_regions(text: str, expected: list[tuple[str, tuple[int, ...]]], said: list[str]) -> None:
    marked, messages = regions(text)
    if said:
        placed = places(text, [message.at for message in messages])
        found_messages = zip(messages, placed, strict=True)
        assert [f"{line}:{column}: {m.kind}: {m.text}" for m, (line, column, _) in found_messages] == said
        return
    assert messages == []
    found = llvm_mca_regions(parse(text), text)
    assert [region.lines for region in found] == [lines for _, lines in expected]
    filled = [
        mark
        for mark, (first, last) in zip(marked, spans(text, marked), strict=True)
        if any(first <= region.lines[0] <= last for region in found)
    ]
    assert [mark.name for mark in filled] == [name for name, _ in expected]
    assert [region.kind for region in found] == ["file" if mark.begin < 0 else "marker" for mark in filled]


@pytest.mark.skipif(not shutil.which("llvm-mca-19"), reason="no llvm-mca-19")
@each_case
def test_llvm_mca_has_the_same(
    text: str, expected: list[tuple[str, tuple[int, ...]]], said: list[str], tmp_path: Path
) -> None:
    (tmp_path / "f.s").write_bytes(text.encode())
    command = ["llvm-mca-19", "-mtriple=x86_64", "-mcpu=skylake", "-instruction-info=0", "-resource-pressure=0", "f.s"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    if said:
        assert found.returncode == 1
        assert diagnostics(found.stderr.split("\n")) == diagnostics([f"f.s:{each}" for each in said])
        return
    counts = [int(line.split()[-1]) for line in found.stdout.splitlines() if line.startswith("Instructions: ")]
    assert counts == [100 * len(lines) for _, lines in expected]
    named = [line.partition(" - ")[2] for line in found.stdout.splitlines() if "Code Region" in line]
    assert named in ([], [name for name, _ in expected])


pieces = st.sampled_from(
    [
        "# LLVM-MCA-BEGIN",
        "# LLVM-MCA-END",
        " a",
        " b",
        "\n",
        ADD,
        "/*",
        "*/",
        '"',
        "'",
        "//",
        "\\",
        "#",
        ";",
        "\r",
        "x:",
    ]
)


@examples(200)
@given(st.lists(pieces, max_size=30).map("".join))
def test_places_are_in_the_text(text: str) -> None:
    for at, comment in comments(text):
        assert text[at : at + len(comment)] == comment
    marked, messages = regions(text)
    assert marked
    for message in messages:
        ((line, column, source),) = places(text, [message.at])
        assert source == text.split("\n")[line - 1].rstrip("\r")
        assert 1 < column <= len(source) + 2


def test_a_whole_file_of_markers_takes_no_time_to_speak_of() -> None:
    text = "".join(f"# LLVM-MCA-BEGIN {n}\n{ADD}\n# LLVM-MCA-END {n}\n" for n in range(2000))
    assert len(llvm_mca_regions(parse(text), text)) == 2000
