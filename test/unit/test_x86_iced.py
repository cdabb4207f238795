"""Names of iced-x86's constants."""

from __future__ import annotations

import iced_x86

from incc.frontends.x86.iced import CODE_NAMES, MNEMONIC_NAMES


def test_instructions_know_mnemonic_and_encoding() -> None:
    """As the descriptions of their codes have them."""
    checked = 0
    for code, name in enumerate(CODE_NAMES):
        if name in ("", "INVALID") or name.startswith("DECLARE"):
            continue
        instruction = iced_x86.Instruction()
        instruction.code = code
        info = iced_x86.OpCodeInfo(code)
        mnemonic = info.instruction_string.split(None, 1)[0].lower()
        assert (MNEMONIC_NAMES[instruction.mnemonic].lower(), instruction.encoding) == (mnemonic, info.encoding)
        checked += 1
    assert checked > 4000
