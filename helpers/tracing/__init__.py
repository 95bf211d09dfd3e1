"""Traces of session runs: placement, transfers, timelines, logs, and values.

All results come from `RunMetadata` and not from parsed logs, so they are the same on
every operating system.
"""

from helpers.tracing.drawing import timeline
from helpers.tracing.log import captured_log
from helpers.tracing.recording import Recording, record
from helpers.tracing.runs import (
    Placed,
    Transfer,
    as_written,
    placement,
    run_traced,
    short_device,
    transfers,
)
from helpers.tracing.times import Interval, devices_at_once, intervals

__all__ = [
    "Interval",
    "Placed",
    "Recording",
    "Transfer",
    "as_written",
    "captured_log",
    "devices_at_once",
    "intervals",
    "placement",
    "record",
    "run_traced",
    "short_device",
    "timeline",
    "transfers",
]
