"""`course.py lab` in a real browser: a lesson opens, Run All, no error output.

The test takes the shortest lesson. To open every lesson and keep screenshots:

    LESSONS_IN_BROWSER=all pytest tests/test_lab.py    # pictures land in logs/browser
"""

import os
import re
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest

from tools import notebook as nb

ROOT = Path(__file__).resolve().parents[1]
ALL = os.environ.get("LESSONS_IN_BROWSER") == "all"
LESSONS = nb.lessons(ROOT) if ALL else nb.lessons(ROOT)[:1]
SHOTS = ROOT / "logs" / "browser"
FINISHED = r"""count => {
  const prompts = [...document.querySelectorAll(
      '.jp-Notebook .jp-CodeCell .jp-InputPrompt')].map(e => e.textContent.trim());
  return prompts.length === count && prompts.every(p => /^\[\d+\]:$/.test(p));
}"""
ALTERNATIVES = """() => [...document.querySelectorAll(
    '.jp-Notebook .jp-OutputArea-output.jp-RenderedImage img')].map(e => e.alt)"""
DESCRIBED = f"count => ({ALTERNATIVES})().filter(Boolean).length === count"
# By default JupyterLab leaves out of the page what is out of sight.
EVERY_CELL = '{"windowingMode": "none"}'
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def lab(serve, tmp_path_factory):
    """A running `course.py lab`, on a copy because JupyterLab saves by itself."""
    home = tmp_path_factory.mktemp("home")
    copy = home / "course"
    shutil.copytree(ROOT / "notebooks", copy / "notebooks")
    settings = home / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(EVERY_CELL)
    with serve(
        "lab", copy / LESSONS[0].relative_to(ROOT), f"--ServerApp.root_dir={copy}",
        "--no-browser", "--IdentityProvider.token=t0k",
        ready="/api/status?token=t0k", environment={"JUPYTER_CONFIG_DIR": str(home)},
    ) as address:
        yield address


def test_the_server_wants_a_token_and_listens_here_only(lab):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{lab}/api/contents", timeout=60)
    assert lab.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_run_all_shows_no_error(lab, page, lesson):
    outside = []
    page.on("request", lambda r: outside.append(r.url)
            if not r.url.startswith((lab, "data:", "blob:", lab.replace("http", "ws")))
            else None)
    page.set_viewport_size({"width": 1280, "height": 30000 if ALL else 12000})
    page.goto(f"{lab}/lab/tree/notebooks/{lesson.name}?reset&token=t0k")
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
    # The notebook's own indicator says idle before the kernel is there.
    ready = re.compile(r"Python 3.*\| Idle")
    page.locator("#jp-main-statusbar", has_text=ready).wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    cells = nbformat.read(lesson, as_version=4).cells
    count = sum(cell.cell_type == "code" for cell in cells)
    page.wait_for_function(FINISHED, arg=count, timeout=600_000)
    errors = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
    assert page.locator(errors).count() == 0
    sentences = [output.metadata["image/png"]["alt"] for cell in cells
                 for output in cell.get("outputs", [])
                 if "image/png" in output.get("data", {})]
    page.wait_for_function(DESCRIBED, arg=len(sentences), timeout=60_000)
    assert page.evaluate(ALTERNATIVES) == sentences
    assert outside == []
    if ALL:
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SHOTS / f"{lesson.stem}.png")
