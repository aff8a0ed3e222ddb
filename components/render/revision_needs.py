"""Properties of intents that need a template revision, because templates of older revisions do not work with them."""

from collections.abc import Callable
from typing import Generic, TypeVar

from components.specs.pools.intents import Intent
from components.specs.struct import Struct

IntentT = TypeVar("IntentT", bound=Intent)


class Need(Struct, Generic[IntentT]):
    """Least revision for intents with a property."""

    revision: int
    """First revision whose templates work for these intents."""
    applies: Callable[[IntentT], bool]
    """Whether an intent has the property. The revision of the intent is not considered."""
    reason: str
    """Reason why older revisions do not work, as a clause after ``because``."""
