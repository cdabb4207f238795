"""How many examples a property is tried on."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> settings:
    """Decorates a test that takes `count` examples instead of 100 in `make check`, and more in `make check-all`."""
    profile = settings.default or settings()
    return settings(max_examples=max(1, count * profile.max_examples // 100))
