"""uops.info's published XML: what is read from it, and what happens to files that make no sense."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest

from incc.models.importers.common import ImportFailed
from incc.models.importers.uops_info import importer as uops_info
from incc.models.importers.uops_info import xml as uops_xml

SAMPLE = os.path.join(os.path.dirname(__file__), "data", "uops_info", "sample.xml")
ADD = """<instruction category="BINARY" eosz="3" iclass="ADD" iform="ADD_GPRv_GPRv_01" string="ADD_01 (R64, R64)">
<operand idx="1" name="REG0" r="1" w="1" type="reg"/><operand idx="2" name="REG1" r="1" type="reg"/>
<architecture name="SKL"><measurement ports="1*p0156" uops="1" uops_retire_slots="1">
<latency cycles="1" start_op="1" target_op="1"/></measurement></architecture></instruction>
"""


def write(tmp_path: Path, body: str) -> str:
    path = tmp_path / "instructions.xml"
    path.write_text(f'<root date="2024">\n<extension name="BASE">\n{body}</extension>\n</root>\n')
    return str(path)


def forms(arch: str = "HSW", path: str = SAMPLE) -> uops_info.Forms:
    return uops_info.import_files([path], arch=arch).forms


def test_figures_of_one_core() -> None:
    got = forms()
    assert got["ADD_R64_RM64/m"] == {
        (): {"ports": "1*p0156+1*p23", "retire": 1, "latency": "0,C,SPAZO<0,m:1", "fusion": "add"},
        ("indexed",): {"retire": 2},
    }
    assert set(forms("SKL")) == {"ADD_R64_RM64/m"}


def test_idiom_and_locked() -> None:
    got = forms()
    assert got["VEX_VPXOR_XMM_XMM_XMMM128/r"][("same_reg",)] == {"ports": "", "latency": "", "breaks": True}
    locked = got["ADD_RM64_R64/m"][()]
    assert locked["tp"] == 19.0


def test_throughput_only_where_nothing_explains_it() -> None:
    assert "tp" not in forms()["SHL_RM64_CL/r"][()]
    assert "tp" not in forms()["VEX_VDIVPD_YMM_YMM_YMMM256/r"][()]


def test_haswells_divider_is_read_off_the_throughput() -> None:
    assert forms()["VEX_VDIVPD_YMM_YMM_YMMM256/r"][()]["divider"] == 16


def test_taken_jump_and_least_latency() -> None:
    got = forms()
    assert got["JE_REL8_64/r"][()]["ports"] == "1*p6"
    latency = got["SHL_RM64_CL/r"][()]["latency"]
    assert "0<0:1" in latency.split()
    # Flags that a shift by zero leaves alone are inputs.
    assert "C,SPAZO<C,SPAZO:2" in latency.split()


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "instructions.xml.gz"
    with open(SAMPLE, "rb") as f, gzip.open(path, "wb") as out:
        out.write(f.read())
    assert forms(path=str(path)) == forms()


def test_the_core_must_be_named() -> None:
    with pytest.raises(ImportFailed, match=r"sample\.xml: has measurements of many cores"):
        uops_info.import_files([SAMPLE])
    with pytest.raises(ImportFailed, match=r"no measurements of 'NHM'; those of HSW, SKL are there"):
        forms("NHM")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('string="ADD_01 (R64, R64)"', "", "3: malformed instruction: <instruction> has no 'string'"),
        ('uops="1"', 'uops="one"', "3: malformed instruction ADD_01 (R64, R64): uops='one' of <measurement> is not a"),
        ("1*p0156", "p0156", "3: malformed instruction ADD_01 (R64, R64): port usage 'p0156'"),
        ('start_op="1"', 'start_op="7"', "3: malformed instruction ADD_01 (R64, R64): latency of an operand '7' that"),
        ('name="SKL"', 'nam="SKL"', "3: malformed instruction ADD_01 (R64, R64): <architecture> has no 'name'"),
        ("</measurement>", "", "6: not well-formed XML: mismatched tag"),
        ("ADD_01 (R64, R64)", "ADD_01 R64", "3: malformed record ADD_01 R64: form 'ADD_01 R64' is not MNEMONIC"),
    ],
)
def test_malformed(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write(tmp_path, ADD.replace(old, new))
    with pytest.raises(ImportFailed) as failed:
        forms("SKL", path)
    assert str(failed.value).startswith(f"{path}:{message}")


def test_keep_going(tmp_path: Path) -> None:
    path = write(tmp_path, ADD.replace('uops="1"', 'uops="?"') + ADD)
    got = uops_info.import_files([path], keep_going=True, arch="SKL")
    assert set(got.forms) == {"ADD_RM64_R64/r"}
    assert len(got.skipped) == 1


def test_not_this_format(tmp_path: Path) -> None:
    path = tmp_path / "other.xml"
    path.write_text("<html>\n</html>\n")
    with pytest.raises(ImportFailed, match=r"other\.xml:1: <html> where <root> was expected"):
        forms("SKL", str(path))
    with pytest.raises(ImportFailed, match=r"none\.xml:1: No such file"):
        forms("SKL", str(tmp_path / "none.xml"))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(copies: int) -> int:
        path = write(tmp_path, ADD * copies)
        tracemalloc.start()
        try:
            for _ in uops_xml.read(path, "SKL", False, []):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    assert peak(8000) < 2 * peak(800) + 100_000


def test_kinds_of_uops_become_ports() -> None:
    renamed = {"0156": "IN0123", "23": "LP01", "p015": "unused"}
    got = uops_info.import_files([SAMPLE], arch="HSW", renamed=renamed).forms
    assert got["ADD_R64_RM64/m"][()]["ports"] == "1*IN0123+1*LP01"
    assert got["VEX_VPXOR_XMM_XMM_XMMM128/r"][()]["ports"] == "1*p015"
