"""What is taken of iced-x86 past its package is what the package has."""

from __future__ import annotations

import iced_x86
import pytest

from incc.frontends.x86 import iced


@pytest.mark.parametrize(
    ("name", "names"),
    [("Code", iced.CODE_NAMES), ("Register", iced.REGISTER_NAMES), ("Mnemonic", iced.MNEMONIC_NAMES)],
)
def test_names(name: str, names: iced.Names) -> None:
    expected = {v: k for k, v in vars(getattr(iced_x86, name)).items() if type(v) is int}
    assert {number: name for number, name in enumerate(names) if name} == expected
    assert iced.constants(name) == {k: v for v, k in expected.items()}


@pytest.mark.parametrize("name", ["OpKind", "RflagsBits", "FlowControl", "RoundingControl", "OpCodeTableKind"])
def test_constants(name: str) -> None:
    assert iced.constants(name) == {k: v for k, v in vars(getattr(iced_x86, name)).items() if type(v) is int}


def test_instructions_know_mnemonic_and_encoding() -> None:
    """As the descriptions of their codes have them."""
    found = 0
    for code, name in enumerate(iced.CODE_NAMES):
        if name in ("", "INVALID") or name.startswith("DECLARE"):
            continue
        instruction = iced_x86.Instruction()
        instruction.code = code
        info = iced_x86.OpCodeInfo(code)
        mnemonic = info.instruction_string.split(None, 1)[0].lower()
        assert (iced.MNEMONIC_NAMES[instruction.mnemonic].lower(), instruction.encoding) == (mnemonic, info.encoding)
        found += 1
    assert found > 4000
