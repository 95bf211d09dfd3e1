"""Session hooks: the only module that wraps `run` and session callables.

The driver registers a hook that tells true ends of data from false ones, the film one
that sees who waits. Neither knows the other.
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
          call: the session's `run` of some fetches, or what `make_callable` made.
          fetches: what it fetches.
          feeds: what it is fed with: a dictionary, or a list of tensors.
        """
        return call

    def before_stop(self) -> None:
        """Called before the session's threads are stopped."""


_hooks: "weakref.WeakKeyDictionary[tf1.Session, list[SessionHook]]" = (
    weakref.WeakKeyDictionary()
)


def add_hook(session: tf1.Session, hook: SessionHook) -> Callable[[], None]:
    """Adds a hook to all later calls of a session and its new callables.

    Args:
      session: a plain session.
      hook: the last to come stands outermost.

    Returns:
      What takes the hook off again, and does nothing where it is off.
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
