"""Session hooks: the only module that wraps `run` and session callables.

`running_queues` adds a hook that distinguishes true ends of data from false ones, and
`film` adds one that sees which calls wait. The hooks do not know each other.
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf1


class SessionHook:
    """Base class for hooks that wrap the calls of a session."""

    def around(self, call: Callable, fetches: Any, feeds: Any) -> Callable:
        """Returns the function that is called instead of `call`.

        Args:
          call: The session's `run` of some fetches, or a callable from `make_callable`.
          fetches: Fetches of the call.
          feeds: Feeds of the call, as a dictionary or a list of tensors.
        """
        return call

    def before_stop(self) -> None:
        """Runs before the session's threads are stopped; does nothing by default."""


_hooks: "weakref.WeakKeyDictionary[tf1.Session, list[SessionHook]]" = (
    weakref.WeakKeyDictionary()
)


def add_hook(session: tf1.Session, hook: SessionHook) -> Callable[[], None]:
    """Adds a hook to all later calls of a session and its new callables.

    Args:
      session: A plain session.
      hook: Hook to add. The last hook added is the outermost.

    Returns:
      A function that removes the hook, and that does nothing if it has been removed.
    """
    hooks = _hooks.setdefault(session, [])
    if not hooks:
        vars(session).update(
            run=functools.partial(_run, session.run, hooks),
            make_callable=functools.partial(_make, session.make_callable, hooks),
        )
    hooks.append(hook)
    return functools.partial(_take_off, session, hooks, hook)


def _take_off(
    session: tf1.Session, hooks: list[SessionHook], hook: SessionHook
) -> None:
    if hook in hooks:
        hooks.remove(hook)
        if not hooks:
            del session.run, session.make_callable


def hooks_of(session: tf1.Session) -> list[SessionHook]:
    """Returns the hooks of a session in the order in which they were added."""
    return list(_hooks.get(session, ()))


def _run(
    run: Callable, hooks: list[SessionHook], fetches: Any,
    feed_dict: dict | None = None, *others: Any, **options: Any,
) -> Any:
    call: Callable = functools.partial(run, fetches, feed_dict)
    for hook in tuple(hooks):
        call = hook.around(call, fetches, feed_dict or {})
    return call(*others, **options)


def _make(
    make: Callable, hooks: list[SessionHook], fetches: Any,
    feed_list: list | None = None, *others: Any, **options: Any,
) -> Callable:
    call = make(fetches, feed_list, *others, **options)
    for hook in tuple(hooks):
        call = hook.around(call, fetches, feed_list or [])
    return call
