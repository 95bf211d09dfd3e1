"""TensorBoard, whose Projector page also works where two folders are served.

With `--logdir_spec` TensorBoard's own never becomes active: it looks for the files of a
run beside `--logdir` alone. The names of our runs are paths from the project's folder.
"""

import time

from absl import app
from tensorboard import default, main_lib, program
from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin

from helpers.files import ROOT


class Projector(ProjectorPlugin):
    """Finds the files of the run `prebuilt/tell` in the folder `prebuilt/tell`."""

    def __init__(self, context):
        super().__init__(context)
        self.logdir = str(ROOT)

    def is_active(self):
        """Waits for the answer, which would else come after the first page's menu."""
        latest = time.monotonic() + 2
        while not super().is_active() and time.monotonic() < latest:
            time.sleep(0.1)
        return super().is_active()


def main() -> None:
    """Serves what the command line names, as `python -m tensorboard.main` does."""
    main_lib.global_init()
    plugins = [Projector if plugin is ProjectorPlugin else plugin
               for plugin in default.get_plugins()]
    tensorboard = program.TensorBoard(plugins=plugins)
    app.run(tensorboard.main, flags_parser=tensorboard.configure)


if __name__ == "__main__":
    main()
