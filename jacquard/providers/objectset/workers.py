"""Runs many small requests in parallel, collects every outcome, and can be cancelled."""

import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from jacquard.providers.errors import ProviderError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")


class CancelledError(ProviderError):
    """A task that was not started because the run is being cancelled."""

    def __init__(self) -> None:
        super().__init__("not started because the run was cancelled")


@dataclass(frozen=True, slots=True)
class Outcomes(Generic[K, R]):
    """Results and errors of tasks by key, in the order of the tasks."""

    done: dict[K, R] = field(default_factory=dict)
    failed: dict[K, ProviderError] = field(default_factory=dict)


class Workers:
    """A thread pool of limited size, shared by all calls to a provider."""

    def __init__(self, count: int) -> None:
        self.cancelled = threading.Event()
        """Once set, no further task is started; running tasks finish."""
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="member")

    def close(self) -> None:
        """End the threads once they are idle."""
        self._pool.shutdown()

    def run(self, task: Callable[[T], R], items: Mapping[K, T]) -> Outcomes[K, R]:
        """Call ``task`` for each item; a `ProviderError` becomes an outcome, any other exception is raised."""

        def guarded(item: T) -> R | ProviderError:
            if self.cancelled.is_set():
                return CancelledError()
            try:
                return task(item)
            except ProviderError as error:
                return error

        outcomes: Outcomes[K, R] = Outcomes()
        for key, result in zip(items, self._pool.map(guarded, items.values()), strict=True):
            if isinstance(result, ProviderError):
                outcomes.failed[key] = result
            else:
                outcomes.done[key] = result
        return outcomes
