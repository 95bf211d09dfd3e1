"""Frames of a film: the size of each queue, and the calls that wait for it."""

from typing import NamedTuple

from helpers.queues.diagnosis import QueueState
from helpers.queues.film_calls import Call


class Wait(NamedTuple):
    """Thread that waits for items or for room in a queue.

    Attributes:
      who: Description of the thread.
      queue: Name of the queue.
      wants: "items" if the queue has too few items, or "room" if it is full.
      since: Start of the wait, in seconds since the start of the film.
    """

    who: str
    queue: str
    wants: str
    since: float

    def __str__(self) -> str:
        return f"{self.who} waits for {self.wants} in '{self.queue}'"


class Moment(NamedTuple):
    """State of all queues and waiting threads at one moment.

    Attributes:
      seconds: Seconds since the start of the film.
      steps: Number of completed steps.
      sizes: Number of items in each queue.
      words: State of each queue: "starves", "full", "closed", or "flows".
      waits: Waiting threads, longest wait first.
    """

    seconds: float
    steps: int
    sizes: tuple[int, ...]
    words: tuple[str, ...]
    waits: tuple[Wait, ...]

    def waiting(self) -> list[str]:
        """Describes each waiting thread, its queue, and its waiting time."""
        return [f"{wait} for {self.seconds - wait.since:.2f} s" for wait in self.waits]


def word_for(state: QueueState) -> str:
    """Returns the state of a queue: "starves", "full", "closed", or "flows"."""
    if state.closed:
        return "closed"
    if state.starves:
        return "starves"
    return "full" if 0 <= state.capacity <= state.size else "flows"


def waits_for(call: Call, states: dict[str, QueueState]) -> tuple[str, str] | None:
    """Returns the queue that a call waits for, and "items" or "room", or None."""
    for name, count in call.flow.takes.items():
        state = states[name]
        if not state.closed and state.size - state.kept < (count or 1):
            return name, "items"
    for name in call.flow.puts:
        if word_for(states[name]) == "full":
            return name, "room"
    return None
