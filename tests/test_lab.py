"""`course.py lab` in a real browser: lessons, the reader's copies, TensorBoard.

Run All is tested on the shortest lesson.
"""

import datetime
import json
import os
import re
import shlex
import shutil
import signal
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat import v4
from playwright.sync_api import expect
from tensorboard import manager

from helpers.files import ROOT
from tests.limits import LIMIT
from tools import copies, lab_server
from tools import notebook as nb
from tools.cells import with_parameters
from tools.lab import JUPYTER

LESSON = nb.lessons(ROOT)[0]
[VGG] = nb.lessons(ROOT, ["07a"])
LOGS = ROOT / "logs" / VGG.stem
BASE = "/user/ada/"
FINISHED = r"""count => {
  const prompts = [...document.querySelectorAll(
      '.jp-Notebook .jp-CodeCell .jp-InputPrompt')].map(e => e.textContent.trim());
  return prompts.length === count && prompts.every(p => /^\[\d+\]:$/.test(p));
}"""
ALTERNATIVES = """() => [...document.querySelectorAll(
    '.jp-Notebook .jp-OutputArea-output.jp-RenderedImage img')].map(e => e.alt)"""
DESCRIBED = f"count => ({ALTERNATIVES})().filter(Boolean).length === count"
# By default JupyterLab leaves out of the page what is out of sight.
ALONE = ["--no-browser", "--IdentityProvider.token=t0k"]
EVERY_CELL = '{"windowingMode": "none"}'
# The notebook's own indicator says idle before the kernel is there.
KERNEL = re.compile(r"Python 3.*\| Idle")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home for Jupyter, and in it the lessons: JupyterLab saves by itself."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "notebooks", home / "course" / "notebooks")
    shutil.copytree(ROOT / "prebuilt", home / "course" / "prebuilt")
    shutil.copy(ROOT / "README.md", home / "course")
    settings = home / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(EVERY_CELL)
    return home


@pytest.fixture(scope="module")
def lab(serve, home):
    """A running `course.py lab`: its address, and the folder that it shows."""
    copy = home / "course"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "FOLDER", copy / "my")
        mine = copies.copies([LESSON, VGG])
    nb.store(copy / "my" / "00_board.ipynb", with_board(mine[1]))
    with serve(
        "lab", copy / LESSON.relative_to(ROOT), f"--ServerApp.root_dir={copy}",
        f"--ServerApp.base_url={BASE}", *ALONE, ready=f"{BASE}api/status?token=t0k",
        environment={"JUPYTER_CONFIG_DIR": str(home)},
    ) as address:
        yield address + BASE.rstrip("/"), copy


@pytest.fixture(scope="module")
def plain_lab(serve, home):
    """A running `jupyter lab` in the course's folder, as README says it."""
    copy = home / "course"
    with serve(
        copy, *ALONE, "--allow-root", "--ServerApp.ip=127.0.0.1",
        "--config", JUPYTER / "config.py",
        ready="/api/status?token=t0k", program=("-m", "jupyterlab"),
        environment={"JUPYTER_CONFIG_DIR": str(home)},
    ) as address:
        yield address, copy


def with_board(copy):
    """Returns lesson 07a up to its training, TensorBoard's two lines before it."""
    notebook = nbformat.read(copy, as_version=4)
    [end] = [k for k, cell in enumerate(notebook.cells) if "model.fit(" in cell.source
             and "run_folder, history =" in cell.source]
    [lines] = [re.findall(r"^%.+$", cell.source, re.M) for cell in notebook.cells
               if "%load_ext" in cell.source]
    notebook.cells = notebook.cells[: end + 1]
    notebook.cells.insert(end, v4.new_code_cell("\n".join(lines)))
    return with_parameters(notebook, {"STEPS": 400, "BATCH": 8})


@pytest.fixture
def opened(lab, page):
    """Opens a notebook and waits for its kernel; nothing outside is asked for."""
    address, _ = lab
    server = address.removesuffix(BASE.rstrip("/"))
    outside, own = [], (server, "data:", "blob:", server.replace("http", "ws"))
    page.on("request", lambda r: None if r.url.startswith(own)
            else outside.append(r.url))
    yield lambda path: open_at(address, page, path)
    assert outside == []


def open_at(address, page, path):
    page.goto(f"{address}/lab/tree/{path}?reset&token=t0k")
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    page.locator("#jp-main-statusbar", has_text=KERNEL).wait_for()
    page.wait_for_timeout(500)
    return page


def choose(page, menu, item):
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def saved(page, file):
    """Saves, as a reader does, and returns what is in the file then.

    The server's answer says that the file is whole: Jupyter empties it first.
    """
    def is_answer(response):
        return response.request.method == "PUT" and "/api/contents/" in response.url

    with page.expect_response(is_answer) as answer:
        page.keyboard.press("Control+s")
    assert answer.value.ok
    return file.read_bytes()


def test_the_server_wants_a_token_and_listens_here_only(lab):
    address, _ = lab
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{address}/api/contents", timeout=LIMIT)
    assert address.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("way, numbers", [
    ("lab", ["03a", "07a", "01a"]), ("plain_lab", ["01a"]),
    pytest.param("plain_lab", ["03a", "07a", "01a"], marks=pytest.mark.weekly)])
def test_a_lesson_that_is_opened_has_no_mark_and_is_as_git_has_it(
        way, numbers, request, page):
    """No dot on its tab, no question when it is closed, no byte changed by a save."""
    address, folder = request.getfixturevalue(way)
    for lesson in (path for number in numbers for path in nb.lessons(ROOT, [number])):
        file = folder / lesson.relative_to(ROOT)
        open_at(address, page, file.relative_to(folder))
        page.wait_for_timeout(2000)
        assert page.locator(".jp-OutputArea-output").count() > 0
        assert page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0
        if lesson == LESSON:
            assert saved(page, file) == lesson.read_bytes()
        page.locator(".lm-TabBar-tab.lm-mod-current", has_text=file.stem).locator(
            ".lm-TabBar-tabCloseIcon").click()
        page.locator(".jp-NotebookPanel").wait_for(state="detached")
        assert page.locator(".jp-Dialog").count() == 0
        assert file.read_bytes() == lesson.read_bytes()


@pytest.mark.parametrize("way", ["lab", "plain_lab"])
def test_the_first_link_and_prebuilt_can_be_reached(way, request, page):
    address, folder = request.getfixturevalue(way)
    open_at(address, page, LESSON.relative_to(ROOT))
    page.locator(".jp-Notebook a[href]", has_text="Start: README").click()
    read = page.locator(".jp-FileEditor, .jp-MarkdownViewer")
    expect(read.first).to_contain_text("TensorFlow")
    page.goto(f"{address}/lab/tree/prebuilt?token=t0k")
    there = sorted(path.name for path in (folder / "prebuilt").iterdir())[0]
    page.locator(".jp-DirListing-item", has_text=there).wait_for()


@pytest.mark.parametrize("ip, base, token, opens", [
    ("127.0.0.1", "/", "t0k", "http://127.0.0.1:8888/?token=t0k"),
    ("0.0.0.0", "/", "t0k", "http://127.0.0.1:8888/?token=t0k"),  # in a container
    ("10.0.0.7", "/user/ada/", "", "http://10.0.0.7:8888/user/ada/"),
])
def test_the_address_is_short_and_can_be_reached(ip, base, token, opens):
    path = f"{base}lab/tree/my/01a.ipynb?token=..."
    server = SimpleNamespace(ip=ip, base_url=base,
                             local_url=f"http://127.0.0.1:8888{path}",
                             connection_url=f"http://{ip}:8888{path}")
    assert lab_server.address(server, token) == opens


def test_the_address_that_is_printed_opens_what_was_named(
        serve, home, page, tmp_path):
    """On a server no browser opens by itself. No wall of words stands before it."""
    file = home / "course" / "my" / "an answer & more.ipynb"
    file.parent.mkdir(exist_ok=True)
    shutil.copy(home / "course" / LESSON.relative_to(ROOT), file)
    log, jupyter = tmp_path / "log.txt", tmp_path / "new" / "jupyter.log"
    with serve("lab", file, f"--ServerApp.root_dir={home / 'course'}", "--no-browser",
               f"--LabApp.workspaces_dir={tmp_path}", f"--CourseLab.log={jupyter}",
               environment={"JUPYTER_CONFIG_DIR": str(home)}, log=log) as address:
        *_, running, printed = log.read_text().splitlines()
        assert running.startswith("JupyterLab is running")
        assert re.fullmatch(rf"Open this: {address}/\?token=\w{{32}}", printed)
        assert len(printed) < 80  # or a terminal would break it
        page.goto(printed.removeprefix("Open this: "))
        tab = page.locator(".lm-TabBar-tab.lm-mod-current", has_text=file.stem)
        tab.wait_for()
        page.locator("#jp-main-statusbar", has_text=KERNEL).wait_for()
    assert len(log.read_text().splitlines()) == 2
    said = jupyter.read_text()
    assert "Kernel started" in said and "[IPKernelApp]" in said
    assert os.name == "nt" or jupyter.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("way", [
    "one click", pytest.param("Enter", marks=pytest.mark.weekly),
    pytest.param("click and Enter", marks=pytest.mark.weekly)])
def test_a_prediction_is_typed_blind_and_stays_in_its_cell(lab, opened, way):
    """No word of it is a command, which would make, delete or cut cells."""
    _, folder = lab
    file = folder / "my" / f"{way.replace(' ', '_')}.ipynb"
    shutil.copy(folder / "my" / LESSON.name, file)
    before = nbformat.read(file, as_version=4).cells
    [place, *_] = [k for k, cell in enumerate(before)
                   if copies.TAG in cell.metadata.get("tags", [])]
    page = opened(f"my/{file.name}")
    assert page.locator(".jp-OutputArea-output").count() == 0
    if way == "Enter":
        page.locator(".jp-Cell").nth(place - 1).locator(".jp-InputPrompt").click()
        page.keyboard.press("ArrowDown")
    else:
        page.locator(".jp-RenderedMarkdown", has_text="My prediction").first.click()
    if "Enter" in way:
        page.keyboard.press("Enter")
    page.keyboard.type("abxdd it is shared, 1 and 2")
    page.keyboard.press("Shift+Enter")
    after = nbformat.reads(saved(page, file).decode(), as_version=4).cells
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(before)
    assert len(after) == len(before)
    assert after[place].source.endswith("abxdd it is shared, 1 and 2")
    assert [c.source for c in after[:place]] == [c.source for c in before[:place]]
    assert [c.source for c in after[place + 1:]] == [
        c.source for c in before[place + 1:]]
    shown = page.locator(".jp-Cell").nth(place).locator(".jp-RenderedMarkdown")
    expect(shown.locator("p")).to_have_text([re.compile("^My prediction: click"),
                                             "abxdd it is shared, 1 and 2"])
    answer = page.locator(".jp-Cell").nth(place + 1)
    for cell in before[1: place + 2]:
        if cell.cell_type == "code":
            number = before.index(cell)
            page.locator(".jp-Cell").nth(number).locator(".jp-InputPrompt").click()
            page.keyboard.press("Control+Enter")
    beside = answer.get_by_role("complementary", name="My prediction")
    expect(beside).to_contain_text("it is shared")
    left, right = (answer.locator(e).first.bounding_box()
                   for e in (".jp-OutputArea", ".course-prediction"))
    assert left["x"] + left["width"] <= right["x"] + 1
    assert right["y"] < left["y"] + left["height"]


def test_a_copy_leads_to_the_lesson_and_its_outputs(opened):
    page = opened(f"my/{LESSON.name}")
    page.locator("a", has_text="the lesson with its outputs").click()
    page.locator(".jp-OutputArea-output").first.wait_for()


def test_run_all_shows_no_error(page, opened):
    page.set_viewport_size({"width": 1280, "height": 12000})
    opened(LESSON.relative_to(ROOT))
    choose(page, "Run", "Run All Cells")
    cells = nbformat.read(LESSON, as_version=4).cells
    count = sum(cell.cell_type == "code" for cell in cells)
    page.wait_for_function(FINISHED, arg=count, timeout=1000 * LIMIT)
    errors = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
    assert page.locator(errors).count() == 0
    sentences = [output.metadata["image/png"]["alt"] for cell in cells
                 for output in cell.get("outputs", [])
                 if "image/png" in output.get("data", {})]
    page.wait_for_function(DESCRIBED, arg=len(sentences))
    assert page.evaluate(ALTERNATIVES) == sentences


FIGURE = """\
from helpers.explore import Frame, explore
from helpers.svg import box

def make_frame(height):
    return Frame([box(0, 0, 30, height, "a")], f"It is {height} high.")

explore(make_frame, "How high?", size=(300, 100), height=[10, 20, 50]).show()
"""


def test_an_interactive_figure_is_a_still_until_its_cell_was_run(lab, opened):
    _, folder = lab
    cell = v4.new_code_cell(FIGURE)
    made = {}
    exec(FIGURE.rpartition("\n\n")[0], made)
    page = made["explore"](made["make_frame"], "How high?", size=(300, 100),
                           height=[10, 20, 50])
    cell.outputs = [v4.new_output("display_data", {"text/html": page._repr_html_()})]
    nb.store(folder / "my" / "controls.ipynb", v4.new_notebook(cells=[cell]))
    page = opened("my/controls.ipynb")
    still = page.get_by_text("trust this notebook to use the controls")
    still.wait_for()
    assert page.locator(".jp-OutputArea iframe").count() == 0
    assert page.locator(".jp-OutputArea img").get_attribute("alt") == "It is 10 high."
    choose(page, "Run", "Run All Cells")
    inside = page.frame_locator(".jp-OutputArea iframe")
    inside.get_by_role("radio", name="10").press("ArrowRight")
    expect(inside.locator("#says")).to_have_text("It is 20 high.")
    assert not still.is_visible()


@pytest.mark.weekly
def test_tensorboard_is_live_in_the_notebook_while_07a_trains(
    lab, page, opened, request, monkeypatch
):
    """Through the server's own port, under a prefix, as behind the proxy of a hub."""
    # On a busy machine it needs more than the minute that `%tensorboard` waits, which
    # takes one that runs: with the same words, from the same folder.
    monkeypatch.chdir(lab[1] / "my")
    text = Path("00_board.ipynb").read_text()
    *_, line = re.findall(r'^ *"%tensorboard (.+)"', text, re.M)
    words = shlex.split(json.loads(f'"{line}"').format(ROOT=ROOT, logs=LOGS))
    board = manager.start(words, timeout=datetime.timedelta(seconds=LIMIT)).info
    request.addfinalizer(lambda: os.kill(board.pid, signal.SIGTERM))
    page.set_viewport_size({"width": 1400, "height": 1100})
    opened("my/00_board.ipynb")
    choose(page, "Run", "Run All Cells")
    frame = page.frame_locator(".jp-OutputArea iframe")
    reload = frame.locator("app-header-reload button:enabled")
    reload.wait_for()
    run = frame.get_by_text("logs/narrow_vgg").first
    for _ in range(60):
        reload.click()
        page.wait_for_timeout(2000)
        if run.is_visible():
            break
    assert run.is_visible()
    last = page.locator(".jp-CodeCell .jp-InputPrompt").last
    assert last.text_content().strip() == "[*]:"
