"""What x86's mnemonics do to the elements of vector registers."""

from __future__ import annotations

import pytest

from incc.frontends.isa import Operation, isa


@pytest.mark.parametrize(
    ("mnemonic", "expected"),
    [
        ("addsd", ("add", 64, 64, False, True)),
        ("vaddps", ("add", 32, 32, True, True)),
        ("vfmadd231sd", ("fma", 64, 64, False, True)),
        ("vfnmsub132ps", ("fma", 32, 32, True, True)),
        ("vfmaddsub213pd", ("fma", 64, 64, True, True)),
        ("vsqrtpd", ("sqrt", 64, 64, True, True)),
        ("vrsqrt14ps", ("rsqrt", 32, 32, True, True)),
        ("cmpltps", ("compare", 32, 32, True, True)),
        ("ucomisd", ("compare", 64, 64, False, True)),
        ("cvtps2pd", ("convert", 32, 64, True, True)),
        ("vcvttpd2dq", ("convert", 64, 32, True, True)),
        ("cvtsi2sd", ("convert", 0, 64, False, True)),
        ("vpmovzxbd", ("convert", 8, 32, True, False)),
        ("vpmovsqw", ("convert", 64, 16, True, False)),
        ("packuswb", ("convert", 16, 8, True, False)),
        ("punpcklbw", ("unpack", 8, 0, True, False)),
        ("vpaddd", ("add", 32, 32, True, False)),
        ("paddusw", ("add", 16, 16, True, False)),
        ("vpmulld", ("mul", 32, 32, True, False)),
        ("pcmpgtb", ("compare", 8, 8, True, False)),
        ("vpsravd", ("srav", 32, 32, True, False)),
        ("pmaddwd", ("dot", 16, 32, True, False)),
    ],
)
def test_operations(mnemonic: str, expected: tuple[str, int, int, bool, bool]) -> None:
    assert isa("x86").operation(mnemonic) == Operation(**dict(zip(Operation.__struct_fields__, expected, strict=True)))


@pytest.mark.parametrize(
    "mnemonic", ["movups", "vmovdqu64", "xorps", "vpand", "shufps", "vpermd", "add", "mov", "imul", "pmuludq", "lea"]
)
def test_what_says_nothing_of_elements(mnemonic: str) -> None:
    assert isa("x86").operation(mnemonic) is None


def test_aarch64_says_nothing_yet() -> None:
    assert isa("aarch64").operation("fmla") is None
