"""Public names for programs that inspect the session of another program.

`tf1 watch` runs a program that does not use `helpers`, and reports why it hangs. It
uses these names and no other part of `helpers.queues`.
"""

from helpers.queues.calls import attempt
from helpers.queues.diagnosis import Diagnosis, QueueState, diagnose
from helpers.queues.filming import Film, film
from helpers.queues.hooks import SessionHook, add_hook
from helpers.queues.internals import (
    ENQUEUES,
    is_closed,
    queue_filled_by,
    queue_ops,
    queues_of,
    runners_of,
)
from helpers.queues.preflight import check_pipeline
from helpers.queues.wording import stalled

__all__ = [
    "ENQUEUES", "Diagnosis", "Film", "QueueState", "SessionHook", "add_hook", "attempt",
    "check_pipeline", "diagnose", "film", "is_closed", "queue_filled_by", "queue_ops",
    "queues_of", "runners_of", "stalled",
]
