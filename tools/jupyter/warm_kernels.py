"""Starts the kernels of nbval as forks of a process that has imported TensorFlow.

A pytest plugin: `pytest -p tools.jupyter.warm_kernels --nbval notebooks`. The import of
TensorFlow takes several seconds, and every notebook has a kernel of its own. With the
plugin, each worker of pytest imports TensorFlow once. Nothing else of a kernel changes,
and the notebooks also run without the plugin.
"""

import atexit
import multiprocessing
import os
import signal
import sys
import time

from jupyter_client.provisioning import local_provisioner

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tools.jupyter.warm"])


class ForkedKernel:
    """Kernel process with the part of the interface of `Popen` that Jupyter uses.

    Args:
      command: The command of a kernel specification, which ends with its file.
      env: The environment of the kernel.
      cwd: The folder of the kernel; None for the folder of the caller.
    """

    stdin = stdout = stderr = None

    def __init__(self, command, env=None, cwd=None, **_):
        self._process = _FORKS.Process(
            target=_run, args=(command, dict(env or os.environ), cwd or os.getcwd()))
        self._process.start()
        self.pid = self._process.pid
        while os.getpgid(self.pid) != self.pid:  # Jupyter ends the kernel's group
            time.sleep(0.01)

    def poll(self):
        """Returns the exit code, or None while the kernel runs."""
        return self._process.exitcode

    def wait(self):
        """Waits for the end of the kernel, and returns its exit code."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number):
        """Sends a signal to the kernel."""
        os.kill(self.pid, number)

    def terminate(self):
        """Asks the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self):
        """Ends the kernel at once."""
        self.send_signal(signal.SIGKILL)


def _run(command, env, cwd):
    """Turns a fork into the kernel that a command would have started."""
    os.setsid()  # a group of its own, as Jupyter gives to every kernel
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["ipykernel_launcher", *command[-2:]]
    sys.path.insert(0, "")
    from ipykernel.kernelapp import launch_new_instance

    try:
        launch_new_instance(argv=command[-2:])
    finally:  # a fork of `multiprocessing` would wait for the kernel's own threads
        atexit._run_exitfuncs()
        os._exit(0)


local_provisioner.launch_kernel = ForkedKernel
