"""Configures a plain `jupyter lab` so that opening a lesson does not modify it.

jupyter lab --config tools/jupyter/config.py
"""

import json

from tools.lab import PLACES

CONFIG = PLACES["JUPYTER_CONFIG_PATH"] / "jupyter_server_config.d" / "course.json"
SHARE = PLACES["JUPYTER_PATH"]

c = get_config()  # noqa: F821  Jupyter's, as every such file has it
for name, settings in json.loads(CONFIG.read_text("utf-8")).items():
    c[name].update(settings)
c.LabApp.extra_labextensions_path = [str(SHARE / "labextensions")]
c.LabApp.app_settings_dir = str(SHARE / "lab" / "settings")
