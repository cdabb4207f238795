"""Published loops with data beyond L1: what measurements and ECM models in papers and artefacts say they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PMBS15 = "Hammer, Hager, Eitzinger, Wellein, Automatic loop kernel analysis with Kerncraft, PMBS 2015, table 5"
"""The sum of the ECM model's times for data in memory. Haswell, Cluster on Die."""

KERNCRAFT = "RRZE-HPC/kerncraft, examples/machine-files/HaswellEP_E5-2695v3_CoD.yml"
"""Measured with likwid-bench on one core."""

INSPECT = "RRZE-HPC/INSPECT, stencils/3D/r1/homogeneous/star/constant/double"
"""Measured by size of the grid, results.csv, column "Benchmark cycl"."""

ECM_MODEL = "RRZE-HPC/ECM-Model, results/*/nps1"
"""Measured with likwid-bench on one core: medians of the sizes from twice the cache inside to 60 % of the cache."""

PMBS20 = "RRZE-HPC/pmbs2020-paper-artifact, single_core, for Alappat et al., Performance modeling on A64FX, PMBS 2020"
"""Measured on one core: medians of the sizes from 8 to 52 KiB (L1), in L2 and in memory, unrolled eight times."""


@dataclass(frozen=True)
class Published:
    """A loop and what it takes."""

    name: str
    source: str
    cpu: str
    text: str
    cycles: dict[str, float]
    """Cycles per eight doubles of each stream, by the level of the data."""
    let: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.cpu}-{self.name}"


def avx(*body: str, width: int = 32) -> str:
    """Return a loop over vectors of `width` bytes. V stands for their registers, PD for the suffix of instructions."""
    lines = (line.replace("V", "%zmm" if width == 64 else "%ymm") for line in body)
    return "\n\t".join((".L3:", *lines, f"addq ${width}, %rax", "cmpq %r12, %rax", "jne .L3")) + "\n"


def schoenauer(width: int = 32) -> str:
    return avx(
        "vmovupd (%rdx,%rax), V1",
        "vmovupd (%rcx,%rax), V2",
        "vfmadd213pd (%rsi,%rax), V2, V1",
        "vmovupd V1, (%rdi,%rax)",
        width=width,
    )


def stream(width: int = 32) -> str:
    return avx("vmovupd (%rdx,%rax), V1", "vfmadd213pd (%rsi,%rax), V0, V1", "vmovupd V1, (%rdi,%rax)", width=width)


def daxpy(width: int = 32) -> str:
    return avx("vmovupd (%rdx,%rax), V1", "vfmadd213pd (%rdi,%rax), V0, V1", "vmovupd V1, (%rdi,%rax)", width=width)


def ddot(width: int = 32) -> str:
    """Return a loop with eight accumulators."""
    offsets = [number * width for number in range(8)]
    body = [
        f"vmovupd {o}(%rdx,%rax), V{8 + n}\n\tvfmadd231pd {o}(%rsi,%rax), V{8 + n}, V{n}" for n, o in enumerate(offsets)
    ]
    return avx(*body, width=width).replace(f"${width}, %rax", f"${8 * width}, %rax")


JACOBI_2D = avx(
    # icc 15 loads in halves (section 5.1.1).
    *[
        f"vmovupd {place}, %xmm{n}\n\tvinsertf128 $1, 16+{place}, %ymm{n}, %ymm{n}"
        for n, place in enumerate(("-8(%rsi,%rax)", "8(%rsi,%rax)", "(%rdx,%rax)", "(%rcx,%rax)"), start=1)
    ],
    "vaddpd %ymm2, %ymm1, %ymm1",
    "vaddpd %ymm3, %ymm1, %ymm1",
    "vaddpd %ymm4, %ymm1, %ymm1",
    "vmulpd %ymm1, %ymm0, %ymm1",
    "vmovupd %ymm1, (%rdi,%rax)",
)


def jacobi_3d(width: int = 32) -> str:
    return avx(
        "vmovupd -8(%rsi,%rax), V1",
        "vmovupd (%rsi,%rax), V2",
        "vmovupd 8(%rsi,%rax), V3",
        "vaddpd V2, V1, V1",
        "vaddpd (%rdx,%rax), V3, V3",
        "vmovupd (%rcx,%rax), V4",
        "vaddpd (%r8,%rax), V4, V4",
        "vaddpd V3, V1, V1",
        "vaddpd (%r9,%rax), V4, V4",
        "vaddpd V4, V1, V1",
        "vmulpd V1, V0, V1",
        "vmovupd V1, (%rdi,%rax)",
        width=width,
    )


def grid(row: int, plane: int = 0) -> dict[str, int]:
    """Return the registers of a stencil on a grid with rows and planes of so many doubles."""
    start = 1 << 32
    places = {"rsi": 0, "rdx": -8 * row, "rcx": 8 * row, "r8": -8 * plane, "r9": 8 * plane, "rdi": 1 << 40}
    return {"rax": 0} | {name: start + place for name, place in places.items() if plane or name not in ("r8", "r9")}


def sve(*body: str) -> str:
    """Return a loop over vectors of 512 bits that is unrolled eight times; {} stands for the number of the vector."""
    vectors = [line.format(number) for number in range(8) for line in body]
    pointers = [f"add x{n}, x{n}, 512" for n in range(5) if f"[x{n}," in body[0] + "".join(body)]
    lines = (*vectors, *pointers, "add x9, x9, 64", "whilelt p0.d, x9, x10", "b.any .L3")
    return "\n\t".join((".L3:", *lines)) + "\n"


def loaded(register: int, array: int) -> str:
    return f"ld1d z{register}.d, p0/z, [x{array}, #{{}}, mul vl]"


STORED = "st1d z0.d, p0, [x0, #{}, mul vl]"
MULTIPLIED = "fmad z0.d, p0/m, z1.d, z2.d"
JACOBI_SVE = sve(
    *[loaded(number, number) for number in range(1, 5)],
    "ld1d z5.d, p0/z, [x5, #{}, mul vl]",
    "fadd z1.d, p0/m, z1.d, z2.d",
    "fadd z3.d, p0/m, z3.d, z4.d",
    "fadd z5.d, p0/m, z5.d, z1.d",
    "fadd z5.d, p0/m, z5.d, z3.d",
    "st1d z5.d, p0, [x0, #{}, mul vl]",
).replace("add x9", "add x5, x5, 512\n\tadd x9")
"""Rows above and below in x1 and x5, the row and its neighbours to the left and right in x2 to x4."""


def rows(row: int) -> dict[str, int]:
    """Return the registers of JACOBI_SVE for rows of so many doubles."""
    start = 1 << 32
    return {
        "x0": 1 << 40,
        "x1": start - 8 * row,
        "x2": start - 8,
        "x3": start,
        "x4": start + 8,
        "x5": start + 8 * row,
    }


COPY = avx("vmovupd (%rsi,%rax), V1", "vmovupd V1, (%rdi,%rax)")
LOAD = avx(*[f"vmovupd {32 * n}(%rsi,%rax), V{n}" for n in range(4)]).replace("$32, %rax", "$128, %rax")

PUBLISHED = [
    Published("schoenauer", PMBS15, "haswell", schoenauer(), {"memory": 44.3}),
    Published("jacobi-2d", PMBS15, "haswell", JACOBI_2D, {"memory": 35.7}, grid(6000)),
    Published("load", KERNCRAFT, "haswell", LOAD, {"L2": 2.48, "L3": 5.28, "memory": 11.51}),
    Published("copy", KERNCRAFT, "haswell", COPY, {"L2": 8.03, "L3": 13.70, "memory": 28.47}),
    Published("daxpy", KERNCRAFT, "haswell", daxpy(), {"L2": 8.22, "L3": 13.54, "memory": 29.01}),
    Published("schoenauer-measured", KERNCRAFT, "haswell", schoenauer(), {"L2": 12.06, "L3": 22.96, "memory": 49.69}),
    *[
        Published(f"jacobi-3d-{n}", f"{INSPECT}/{machine}", cpu, jacobi_3d(width), {level: cycles}, grid(n, n * n))
        for machine, cpu, width, level, sizes in (
            ("HaswellEP_E5-2695v3_CoD", "haswell", 32, "memory", {200: 39.66, 400: 39.55, 1000: 54.78}),
            ("BroadwellEP_E5-2697_CoD", "broadwell", 32, "memory", {200: 42.50, 400: 42.21, 1000: 59.31}),
            ("SkylakeSP_Gold-6148_SNC", "skylake-avx512", 32, "memory", {200: 29.91, 400: 32.84, 1000: 40.45}),
            ("SkylakeSP_Gold-6148", "skylake-avx512", 32, "memory", {300: 35.41, 500: 35.92, 1000: 43.98}),
            ("SkylakeSP_Gold-6148_variant_avx512", "skylake-avx512", 64, "memory", {300: 35.14, 1000: 43.76}),
            ("SkylakeSP_Gold-6148_variant_avx512", "skylake-avx512", 64, "L3", {100: 15.48}),
        )
        for n, cycles in sizes.items()
    ],
    *[
        Published(name, ECM_MODEL, "skylake-avx512", text, dict(zip(("L2", "L3", "memory"), cycles, strict=True)))
        for name, text, *cycles in (
            ("stream", stream(), 6.10, 19.12, 27.39),
            ("schoenauer", schoenauer(), 8.02, 25.44, 36.95),
            ("daxpy", daxpy(), 4.90, 12.75, 19.14),
            ("stream-512", stream(64), 5.69, 19.09, 28.80),
            ("schoenauer-512", schoenauer(64), 7.04, 25.46, 36.87),
            ("daxpy-512", daxpy(64), 4.43, 12.77, 19.71),
            ("ddot-512", ddot(64), 2.95, 12.72, 18.54),
        )
    ],
    # The core takes 2.6 cycles from L1, incc says 2; from L2 that makes 15 %.
    Published("ddot", ECM_MODEL, "skylake-avx512", ddot(), {"L3": 12.72, "memory": 18.52}),
    *[
        Published(name, PMBS20, "a64fx", text, dict(zip(("memory", "L2", "L1"), cycles, strict=False)))
        for name, text, *cycles in (
            ("stream", sve(loaded(1, 1), loaded(2, 2), "movprfx z0, z3", MULTIPLIED, STORED), 7.55, 5.99, 2.18),
            ("load", sve(loaded(0, 1)), 3.01, 1.96),
            # 2.82 cycles from L1, where incc says 2.5.
            ("schoenauer", sve(loaded(0, 1), loaded(1, 2), loaded(2, 3), MULTIPLIED, STORED), 9.52, 7.27),
            ("daxpy", sve(loaded(1, 1), loaded(2, 0), "movprfx z0, z3", MULTIPLIED, STORED), 6.12, 4.76, 2.15),
            ("copy", sve(loaded(0, 1), STORED), 5.74, 4.59, 1.63),
        )
    ],
    Published("jacobi-2d-26176", f"{PMBS20}, results_lc_violated", "a64fx", JACOBI_SVE, {"L2": 8.63}, rows(26176)),
    Published("jacobi-2d-1344", f"{PMBS20}, results", "a64fx", JACOBI_SVE, {"memory": 8.35}, rows(1344)),
    Published("jacobi-2d-2880", f"{PMBS20}, results", "a64fx", JACOBI_SVE, {"memory": 9.51}, rows(2880)),
    Published(
        "jacobi-2d-1004096", f"{PMBS20}, results_lc_violated", "a64fx", JACOBI_SVE, {"memory": 10.81}, rows(1004096)
    ),
]
