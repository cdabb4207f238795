"""The compiler options that the page of incc-web accepts.

The list has only options that change the generated code or the language. None of them names a file, loads code, runs a
program or writes anything.
"""

from __future__ import annotations

import re
import shlex

from incc.frontends.isa import word_set
from incc.support.errors import AnalysisError, suggestion

MOST_WORDS = 100

_FLAGS = word_set(
    "aggressive-loop-optimizations align-functions align-jumps align-labels align-loops associative-math "
    "assume-sane-operator-new backslash branch-count-reg builtin caller-saves char8_t code-hoisting coroutines "
    "cprop-registers cray-pointer cse-follow-jumps cx-fortran-rules cx-limited-range dec default-double-8 "
    "default-integer-8 default-real-8 delete-null-pointer-checks dollars-in-identifiers early-inlining exceptions "
    "excess-precision fast-math finite-loops finite-math-only fixed-form fixed-line-length-none float-store "
    "forward-propagate fp-contract fp-model free-form free-line-length-none freestanding frontend-optimize "
    "function-sections gcse gcse-after-reload gcse-las gcse-lm gcse-sm gnu89-inline guess-branch-probability "
    "honor-infinities honor-nans hosted if-conversion if-conversion2 implicit-none inline inline-arg-packing "
    "inline-functions inline-small-functions ipa-cp ipa-cp-clone ipa-icf ipa-pta ipa-ra ipa-sra ivopts jump-tables "
    "keep-inline-functions lax-vector-conversions lifetime-dse loop-block loop-interchange loop-nest-optimize "
    "loop-parallelize-all loop-strip-mine loop-unroll-and-jam math-errno merge-all-constants merge-constants "
    "modulo-sched move-loop-invariants ms-extensions omit-frame-pointer openmp openmp-simd optimize-sibling-calls "
    "partial-inlining peel-loops peephole peephole2 PIC pic PIE pie plt predictive-commoning prefetch-loop-arrays "
    "protect-parens range-check realloc-lhs reciprocal-math recursive rename-registers reorder-blocks "
    "reorder-functions rounding-math rtti schedule-insns schedule-insns2 section-anchors short-enums sign-zero "
    "signaling-nans signed-char signed-zeros slp-vectorize split-ivs-in-unroller split-loops split-paths "
    "split-wide-types stack-arrays strict-aliasing strict-enums strict-overflow strict-return trapping-math trapv "
    "tree-loop-distribute-patterns tree-loop-distribution tree-loop-if-convert tree-loop-im tree-loop-ivcanon "
    "tree-loop-vectorize tree-partial-pre tree-pre tree-pta tree-reassoc tree-slp-vectorize tree-sra tree-ter "
    "tree-vectorize tree-vrp unroll-all-loops unroll-loops unsafe-loop-optimizations unsafe-math-optimizations "
    "unsigned-char unswitch-loops unwind-tables variable-expansion-in-unroller veclib vect-cost-model vectorize "
    "visibility whole-program wrapv zero-call-used-regs"
)
"""Names of `-f` options, which may be negated and may have a value."""

_PATTERNS = (
    r"-O(?:[0-3sgz]|fast)?",
    r"-std=[\w+:]+",
    r"-ansi|-pthread|-pedantic|-w",
    r"-W(?!a,|l,|p,)[a-z][\w+=-]*|-W",  # the others have options for other programs
    r"-D\w+(?:\([\w, ]*\))?(?:=.*)?|-U\w+",
    r"-g[0-3]?",
    r"-m(?!llvm|link|lir|mlir|odule)[a-z0-9][\w.-]*(?:=[\w.,+:-]+)?",
    r"--param=[a-z][\w-]*=\d+",
    r"-cpp",
)
_ALLOWED = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.ASCII | re.DOTALL)
_FLAG = re.compile(r"-f(no-)?([A-Za-z][\w-]*?)(=[\w.,+:-]+)?", re.ASCII)


def allowed_options(text: str) -> list[str]:
    """Return the options in a text, as a shell would split it. Raises AnalysisError for one that is not allowed."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise AnalysisError(f"options: {str(error).lower()}") from None
    if len(words) > MOST_WORDS:
        raise AnalysisError(f"options: {len(words)} words, but at most {MOST_WORDS} are allowed")
    for word in words:
        if not is_allowed(word):
            raise AnalysisError(f"the option {word!r} is not allowed here{_similar(word)}")
    return words


def is_allowed(word: str) -> bool:
    """Return True for an option that is allowed."""
    if "\0" in word:
        return False
    if flag := _FLAG.fullmatch(word):
        return flag[2] in _FLAGS
    return _ALLOWED.fullmatch(word) is not None


def _similar(word: str) -> str:
    flag = _FLAG.fullmatch(word)
    return suggestion(flag[2], _FLAGS) if flag else ""


def option_names() -> list[str]:
    """Return options that the page proposes."""
    return sorted(["-O2", "-O3", "-Ofast", "-march=native", *(f"-f{name}" for name in _FLAGS)])
