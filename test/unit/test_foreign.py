"""Assembly of instruction sets that incc does not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from incc.driver.commands import mca
from incc.frontends.foreign import foreign

SNIPPETS = {
    "RISC-V": "f:\n.LBB0_1:\n\tfld\tfa5, 0(a0)\n\taddi\ta0, a0, 8\n\tbne\ta0, a1, .LBB0_1\n\tret\n",
    "MIPS": "f:\n$L3:\n\tlw\t$3,0($2)\n\taddiu\t$2,$2,4\n\tbne\t$2,$5,$L3\n\taddu\t$4,$4,$3\n",
    "LoongArch": "f:\n.LBB0_1:\n\tld.d\t$a3, $a0, 0\n\taddi.d\t$a0, $a0, 8\n\tbnez\t$a3, .LBB0_1\n",
    "PowerPC": "f:\n.LBB0_1:\n\tlfdu 0, 8(3)\n\tfadd 1, 1, 0\n\tbdnz .LBB0_1\n\tblr\n",
    "s390": "f:\n.LBB0_1:\n\tld\t%f1, 0(%r2)\n\tadbr\t%f0, %f1\n\tlay\t%r2, 8(%r2)\n\tbrctg\t%r3, .LBB0_1\n",
    "WebAssembly": "f:\n\t.functype\tf (i32) -> (f64)\n\tloop\n\tlocal.get\t0\n\tf64.load\t0\n\tend_loop\n",
    "32-bit Arm": "f:\n.L3:\n\tldr\tr3, [r0], #4\n\tadd\tr2, r2, r3\n\tcmp\tr0, r1\n\tbne\t.L3\n\tbx\tlr\n",
    "SPARC": "f:\n.L3:\n\tldd\t[%o0], %f8\n\tadd\t%o0, 8, %o0\n\tretl\n\tnop\n",
}
OWN = (
    "f:\n\tmov\tr8, rax\n\tadd\tr9, r8\n\tstd\n\tstr\tr8\n\tmovsd\txmm0, qword ptr [rdi]\n",
    "f:\n\tmovl $5, %eax\n\tpush $12\n\tld = 3\n",
    "f:\n\tldr\td0, [x0], #8\n\tfadd\td1, d1, d0\n\tb.ne\tf\n",
    "1:\tloop 1b\n",
    "",
)


@pytest.mark.parametrize("name", SNIPPETS)
@pytest.mark.parametrize("face", ["incc-mca", "llvm-mca"])
def test_foreign_assembly_is_refused_in_a_sentence(
    name: str, face: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.s"
    path.write_text(SNIPPETS[name])
    assert mca.main(["-mcpu=skylake", str(path)], face) == 1
    prefix = "" if face == "llvm-mca" else "incc-mca: error: "
    place = f"{path}: error: " if face == "llvm-mca" else f"{path}: "
    out, message = capfd.readouterr()
    assert (out, message) == (
        "",
        f"{prefix}{place}assembly for {name}, which incc does not read; it reads x86's\n",
    )


@pytest.mark.parametrize("text", OWN)
def test_what_incc_reads_is_not_foreign(text: str) -> None:
    assert foreign(text) == ""
