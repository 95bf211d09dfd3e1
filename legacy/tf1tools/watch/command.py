"""Runs an old program unchanged and explains why its training hangs or fails.

    tf1 watch SCRIPT [ARGUMENTS]
    tf1 watch --stall 30 --film film.html SCRIPT [ARGUMENTS]

If no step of a session ends within `--stall` seconds, the command prints which queue
starves, since when and why, which lines the threads are executing, and which error
ended a thread. If the program fails, the explanation of its error is printed last.
`--film FILE` writes a page that shows how full the queues were over time, and which
calls waited.

Otherwise the program runs unchanged, with its own arguments, folder and exit code.
Relative paths start at the current folder. Ctrl-C ends the program, even during a step.
"""

# It is started by its path and not as a module, because programs may have a `tools`.

import argparse
import builtins
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import socket
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

from tf1tools.arguments import Parser, seconds

ROOT = Path(__file__).resolve().parents[3]
SESSIONS = "tensorflow.python.client.session"
COORDINATORS = "tensorflow.python.training.coordinator"
_DEAF = 2.0  # seconds after which a step counts as ignoring Ctrl-C
_POLL = 0.25


class AfterImport(importlib.abc.MetaPathFinder):
    """Import hook that calls a function after the program imports a module.

    In this way, the program itself imports TensorFlow, after all settings that it makes
    before that.
    """

    def __init__(self, module: str, then) -> None:
        self._module, self._then = module, then

    def find_spec(self, name, path=None, target=None):
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module) -> None:
            execute(module)
            self._then(module)

        spec.loader.exec_module = exec_module
        return spec


class Watch:
    """Monitor that observes the sessions and threads of a program.

    Attributes:
      stalls: Monitor of the steps, or `None` before the first session.
      died: Threads that ended with an error, each with the error.
      stopped: Errors with which coordinators stopped their threads.
    """

    def __init__(self, folder: Path, stall: float, film: Path | None) -> None:
        self.stalls: Any = None
        self.died: list[tuple[threading.Thread, BaseException]] = []
        self.stopped: list[BaseException] = []
        self._folder, self._stall, self._film = folder, stall, film

    def hook_on(self, module) -> None:
        """Patches TensorFlow's session class to hook on to each new session."""
        begin = module.BaseSession.__init__

        def with_hook(session, *arguments, **options):
            begin(session, *arguments, **options)
            if self.stalls is None:
                stalls = import_ours("tf1tools.watch.stalls", self._folder)
                self.stalls = stalls.Stalls(self._stall, self._film, self.died)
            self.stalls.hook_on(session)

        module.BaseSession.__init__ = with_hook

    def hook_on_threads(self) -> None:
        """Records each error that ends a thread and prints one line about it."""
        show = threading.excepthook

        def note(death) -> None:
            show(death)
            if death.exc_value is not None and death.exc_type is not SystemExit:
                self.died.append((death.thread, death.exc_value))
                name = death.thread.name if death.thread else "without a name"
                say(f"Thread {name} ended with {self._line(death.exc_value)}")

        threading.excepthook = note

    def hook_on_coordinators(self, module) -> None:
        """Records the error with which a coordinator stops its threads."""
        stop = module.Coordinator.request_stop

        def noting(coordinator, ex=None):
            error = ex[1] if isinstance(ex, tuple) else ex
            if isinstance(error, BaseException):
                self.stopped.append(error)
            return stop(coordinator, ex)

        module.Coordinator.request_stop = noting

    def explain(self, error: BaseException, script: str) -> None:
        """Prints the root cause of a crash and how to fix it."""
        messages = import_ours("tf1tools.messages.lookup", self._folder)
        failed = self.stalls.failed() if self.stalls else []
        errors = [*self.stopped, *failed, *(error for _, error in self.died),
                  *_chain(error)]
        found = messages.verdict([self._line(error) for error in errors])
        if found is None:
            return
        message, entry = found
        say(f"The error to look at is {message}")
        answer = messages.answer(entry, message).replace("PROGRAM", script)
        print(answer, file=sys.stderr, flush=True)
        if entry.section == messages.OLD_NAMES:
            say("The program is too old for this TensorFlow, so port it first: "
                f"tf1 port {script}")

    def _line(self, error: BaseException) -> str:
        """Formats an error as a single line."""
        line = import_ours("helpers.errors", self._folder).first_line(error)
        return f"{type(error).__name__}: {line}"

    def run(self, signals: socket.socket) -> None:
        """Checks for stalls and for Ctrl-C until the process ends."""
        pressed, step = 0.0, None
        signals.settimeout(_POLL)
        while True:
            with contextlib.suppress(TimeoutError):
                if signal.SIGINT in signals.recv(64) and self.stalls:
                    pressed, step = time.monotonic(), self.stalls.step_of_main()
            if self.stalls:
                self.stalls.look()
            late = step is not None and time.monotonic() - pressed > _DEAF
            if late and step is self.stalls.step_of_main():
                self.stalls.report_once()
                print("tf1 watch: The program was interrupted by "
                      "Ctrl-C.", file=sys.stderr)
                sys.stdout.flush()
                os._exit(128 + signal.SIGINT)


def _chain(error: BaseException | None) -> list[BaseException]:
    """Returns an error and the errors that caused it, earliest first."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.insert(0, error)
        hidden = error.__suppress_context__ or error.__cause__
        error = error.__cause__ if hidden else error.__context__
    return found


def say(text: str) -> None:
    """Prints a line to standard error, marked as a message of `tf1 watch`."""
    print(f"tf1 watch: {text}", file=sys.stderr, flush=True)


def run_as_main(path: Path) -> None:
    """Runs a script as `__main__`, as Python itself would."""
    main = types.ModuleType("__main__")
    vars(main).update(__file__=str(path), __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main
    program = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    exec(program, vars(main))


def import_ours(name: str, folder: Path) -> Any:
    """Imports a module of this project even if the program has one like it.

    Args:
      name: Name of the module.
      folder: Folder of the program.
    """
    hidden = []
    if importlib.machinery.PathFinder.find_spec("helpers", [str(folder)]):
        hidden += ["helpers"]
    theirs = _taken(hidden)
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT))
        _taken(hidden)
        sys.modules.update(theirs)


def _taken(packages: list[str]) -> dict[str, Any]:
    """Removes packages from `sys.modules` and returns their modules."""
    names = [name for name in sys.modules if name.split(".")[0] in packages]
    return {name: sys.modules.pop(name) for name in names}


def main(arguments: list[str]) -> None:
    parser = Parser(
        prog="tf1 watch", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stall", type=seconds, default=10, metavar="SECONDS",
                        help="seconds without the end of a step that count as a "
                             "hang (10)")
    parser.add_argument("--film", type=Path, metavar="FILE",
                        help="write a recording of the queues as a page")
    parser.add_argument("script", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER,
                        help="arguments of the program")
    options = parser.parse_args(arguments)
    script = Path(options.script)
    if not script.is_file():
        parser.error(f"No such file: {script}. Pass the path of a program.")
    folder = script.resolve().parent
    watch = Watch(folder, options.stall, options.film and options.film.resolve())
    sys.meta_path.insert(0, AfterImport(SESSIONS, watch.hook_on))
    sys.meta_path.insert(0, AfterImport(COORDINATORS, watch.hook_on_coordinators))
    theirs, ours = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno())
    threading.Thread(target=watch.run, args=[ours], daemon=True).start()
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = str(folder)
    watch.hook_on_threads()
    try:
        run_as_main(Path(os.path.abspath(script)))
    except Exception as error:
        ours_and_theirs = error.__traceback__
        error.with_traceback(ours_and_theirs.tb_next.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        watch.explain(error, options.script)
        sys.exit(1)
    else:
        if watch.stalls:
            watch.stalls.say_end()
    finally:
        if watch.stalls:
            watch.stalls.say_if_over()
            watch.stalls.end_film()


if __name__ == "__main__":
    main(sys.argv[1:])
