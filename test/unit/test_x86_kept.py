"""What the x86 decoder keeps by encoding stays bounded, and dropping it changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from incc.frontends.x86 import decode, kept
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding import pieces

BLOCKS = [bytes([0x48, 0x81, 0xC0, n, n, 0, 0, 0x48, 0xFF, 0xC1]) for n in range(200)]  # add $n, %rax; inc %rcx


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    for known in (decode._DECODED, decode._TEXTS):
        monkeypatch.setattr(kept, "MOST", 16)
        known.clear()
    return 16


def test_kept_is_bounded(small: int) -> None:
    expected = [[i.text for i in decode_bytes(block).instructions] for block in BLOCKS]
    sizes = [0, 0]
    for block, texts in zip(BLOCKS, expected, strict=True):
        assert [i.text for i in decode_bytes(block).instructions] == texts
        sizes = [max(sizes[0], len(decode._DECODED)), max(sizes[1], len(decode._TEXTS))]
    # It is used to the full, and not beyond.
    assert sizes == [small, small]


def test_register_facts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MOST_KEPT", 16)
    pieces._FACTS.clear()
    for block in BLOCKS:
        for i in decode_bytes(block).instructions:
            assert pieces.register_facts(i).written == frozenset(
                {"rax", "rcx"} & {a.register.root for a in i.registers}
            )
    assert len(pieces._FACTS) <= 17


def test_threads_may_share_what_is_kept(small: int) -> None:
    expected = [decode_bytes(block) for block in BLOCKS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(decode_bytes, BLOCKS * 5, timeout=60)) == expected * 5
