"""One moment of a film: what the queues hold, and which calls wait for them."""

from dataclasses import dataclass

from helpers.queues.doctor import QueueState
from helpers.queues.film_calls import Call


@dataclass(frozen=True)
class Wait:
    """A thread that waits for a queue.

    Attributes:
      who: the thread, in words.
      queue: the name of the queue.
      wants: "items", because it is short of them, or "room", because it is full.
      since: seconds from the start of the film.
    """

    who: str
    queue: str
    wants: str
    since: float

    def __str__(self) -> str:
        return f"{self.who} waits for {self.wants} in '{self.queue}'"


@dataclass(frozen=True)
class Frame:
    """What was there at one moment; tuples have an entry per queue.

    Attributes:
      seconds: since the start of the film.
      steps: how many had finished.
      sizes: items inside.
      words: "starves", "full", "closed" or "flows".
      alive: living threads that fill it; None if they were never started.
      moved: items that went in and came out so far; None when the graph cannot tell.
      waits: who waits for which queue.
    """

    seconds: float
    steps: int
    sizes: tuple[int, ...]
    words: tuple[str, ...]
    alive: tuple[int | None, ...]
    moved: tuple[tuple[int, int] | None, ...]
    waits: tuple[Wait, ...]


def word_for(state: QueueState) -> str:
    """Returns how a queue is: "starves", "full", "closed" or "flows"."""
    if state.closed:
        return "closed"
    if state.starves:
        return "starves"
    return "full" if 0 <= state.capacity <= state.size else "flows"


def waits_for(call: Call, states: dict[str, QueueState]) -> tuple[str, str] | None:
    """Returns the queue that a call waits for, and whether for items or for room.

    Args:
      call: one that lasts.
      states: of the queues at this moment, by name.

    Returns:
      Name and "items" or "room"; None if it does something else.
    """
    for name, count in call.flow.takes.items():
        state = states.get(name)
        if state and not state.closed and state.size - state.kept < (count or 1):
            return name, "items"
    for name in call.flow.puts:
        state = states.get(name)
        if state and not state.closed and 0 <= state.capacity <= state.size:
            return name, "room"
    return None


class WaitingList:
    """Knows since when each call waits for what it waits for."""

    def __init__(self) -> None:
        self._since: dict[Call, tuple[tuple[str, str], float]] = {}
        self._looked = 0.0

    def look(
        self, calls: list[Call], states: dict[str, QueueState], now: float
    ) -> list[tuple[Call, str, str, float]]:
        """Returns the calls that wait now, for which queue, for what, and since when.

        A call that began after the last look waits since it began; else since the
        look that first saw it wait.

        Args:
          calls: those that last.
          states: of the queues at this moment, by name.
          now: the time of the look, on the clock of the calls.
        """
        before, self._since = self._since, {}
        for call in calls:
            found = waits_for(call, states)
            if found is None:
                continue
            first = call.start if call.start >= self._looked else now
            known = before.get(call)
            same = known is not None and known[0] == found
            self._since[call] = known if known and same else (found, first)
        self._looked = now
        return [(call, *found, since) for call, (found, since) in self._since.items()]
