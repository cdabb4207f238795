from __future__ import annotations

from incc.support.recent import recent


def test_results_are_kept_for_the_last_few_objects() -> None:
    calls: list[object] = []

    @recent
    def number(of: object) -> int:
        calls.append(of)
        return len(calls)

    first, second = [1], [1]  # equal, but not the same
    assert [number(first), number(second), number(first)] == [1, 2, 1]
    assert [number(object()) for _ in range(4)] == [3, 4, 5, 6]
    assert number(first) == 7
