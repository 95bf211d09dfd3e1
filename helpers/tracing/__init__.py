"""What ran where and when: placement, transfers, a timeline, the C++ log.

Facts come from `RunMetadata`, not from parsing logs, so they are the same on every
operating system.
"""

from helpers.tracing.drawing import timeline
from helpers.tracing.log import captured_log
from helpers.tracing.runs import (
    Placed,
    Transfer,
    as_written,
    placement,
    run_traced,
    short_device,
    transfers,
)
from helpers.tracing.times import WAITING, Interval, busy, intervals, overlap

__all__ = [
    "WAITING",
    "Interval",
    "Placed",
    "Transfer",
    "as_written",
    "busy",
    "captured_log",
    "intervals",
    "overlap",
    "placement",
    "run_traced",
    "short_device",
    "timeline",
    "transfers",
]
