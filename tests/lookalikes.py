"""Small archives in the exact layout of Tiny ImageNet and COCO, and their server.

Everything is drawn from a seed; nothing of the real collections is in it. What makes
the real ones awkward is: grey and CMYK pictures, names with commas, gaps in the
numbers of categories, pictures of all sizes, without captions or listed twice.
"""

import contextlib
import dataclasses
import hashlib
import http.server
import json
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

# As in COCO: 80 things with numbers from 1 to 90.
GAPS = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
NUMBERS = [number for number in range(1, 91) if number not in GAPS]
THINGS = ("person", "traffic light", "dog", "hot dog", "teddy bear", "cup", "kite")
SIZES = ((160, 120), (120, 160), (97, 61), (640, 480), (64, 64), (107, 160), (333, 500))
PLACES = ("grass", "table", "street", "beach", "snow")
FORMS = (
    "A {one} next to a {other} on the {place}.",
    "The {one} is on the {place}, near a {other}. ",
    "a {other} and a {one}\n",
    "There's a {one} by the {place}.",
    "A photo of a {other}, a {one} and the {place}",
)


def contents(folder: Path) -> dict[Path, bytes]:
    """Returns the bytes of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def tiny_imagenet(
    folder: Path, *, classes: int = 200, train: int = 2, val: int = 1, seed: int = 7
) -> Path:
    """Writes `folder/tiny-imagenet-200/` and returns it.

    One class in five has grey pictures, one in seven CMYK; the class list is in no
    order, and `words.txt` names many more synsets than there are classes.
    """
    rng = np.random.default_rng(seed)
    root = folder / "tiny-imagenet-200"
    synsets = [f"n{number:08d}" for number in rng.permutation(8 * classes)[:classes]]
    rows = []
    for kind, synset in enumerate(synsets):
        home = root / "train" / synset
        (home / "images").mkdir(parents=True)
        names = [f"{synset}_{k}.JPEG" for k in range(train)]
        for name in names:
            _tiny_picture(home / "images" / name, kind, rng)
        boxes = [f"{name}\t0\t10\t63\t58" for name in names]
        _lines(home / f"{synset}_boxes.txt", boxes)
        rows += [(synset, kind)] * val
    images = root / "val" / "images"
    images.mkdir(parents=True)
    notes = []
    for number, place in enumerate(rng.permutation(len(rows))):
        synset, kind = rows[place]
        _tiny_picture(images / f"val_{number}.JPEG", kind, rng)
        notes.append(f"val_{number}.JPEG\t{synset}\t0\t32\t44\t62")
    _lines(root / "val" / "val_annotations.txt", notes)
    (root / "test" / "images").mkdir(parents=True)
    _tiny_picture(root / "test" / "images" / "test_0.JPEG", 0, rng)
    _lines(root / "wnids.txt", synsets)
    _lines(root / "words.txt", [f"n{number:08d}\tthing {number}, Res {number}, a's kind"
                                for number in range(8 * classes)])
    return root


def coco(folder: Path, *, train: int = 40, val: int = 12, seed: int = 7) -> Path:
    """Writes a COCO folder: `annotations/`, `train2017/`, `val2017/`; returns it.

    Every ninth picture has no caption, every seventh is grey, the first of each split
    is listed twice. The others have five captions or six.
    """
    (folder / "annotations").mkdir(parents=True)
    first = 9
    for split, count in (("train2017", train), ("val2017", val)):
        (folder / split).mkdir()
        rng = np.random.default_rng([seed, first])
        _coco_split(folder, split, first, count, rng)
        first += 7 * count
    return folder


def zipped(folder: Path, file: Path) -> Path:
    """Packs a folder, under its own name, as the collections publish theirs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    return file


def publish(module, file: Path, url: str, monkeypatch) -> None:
    """Lets a file at an address be the archive that a module of data sets knows."""
    contents = file.read_bytes()
    monkeypatch.setattr(module, "ARCHIVE", dataclasses.replace(
        module.ARCHIVE, urls=(url,), size=len(contents),
        digest="sha256:" + hashlib.sha256(contents).hexdigest(),
    ))


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files and parts of them; `server.faults` has what goes wrong at a path."""

    def do_GET(self):
        self.server.requests.append((self.path, self.headers.get("Range")))
        if fault := self.server.faults.get(self.path):
            nth = sum(path == self.path for path, _ in self.server.requests)
            with contextlib.suppress(ConnectionError):
                fault(self, nth)
            return
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        self.answer(path.read_bytes())

    def answer(self, contents: bytes, length: int | None = None) -> None:
        """Sends bytes, or what is left of them; `length` may announce another size."""
        start = int((self.headers.get("Range") or "bytes=0-")[6:].rstrip("-"))
        self.send_response(206 if start else 200)
        if start:
            last = len(contents) - 1
            self.send_header("Content-Range", f"bytes {start}-{last}/{len(contents)}")
        rest = contents[start:]
        length = len(rest) if length is None else length - start
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[http.server.ThreadingHTTPServer]:
    """Serves a folder on 127.0.0.1; yields the server, whose `url` says where.

    `requests` lists (path, range). `faults` maps a path to a function of the handler
    and the number of the request, which answers in its place.
    """
    def handler(*args):
        return Handler(*args, directory=str(folder))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.folder, server.requests, server.faults = folder, [], {}
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def _tiny_picture(path: Path, kind: int, rng: np.random.Generator) -> None:
    """Writes a JPEG of 64 x 64 pixels whose colours tell its class."""
    noise = rng.integers(0, 90, [8, 8, 3])
    colour = np.array([kind * 37 % 160, kind * 71 % 160, kind * 113 % 160])
    picture = Image.fromarray((noise + colour).astype(np.uint8)).resize([64, 64])
    mode = "L" if kind % 5 == 4 else "CMYK" if kind % 7 == 6 else "RGB"
    picture.convert(mode).save(path, "JPEG")


def _coco_split(folder: Path, split: str, first: int, count: int, rng) -> None:
    images, captions, instances = [], [], []
    for k in range(count):
        number = first + 7 * k
        width, height = SIZES[k % len(SIZES)]
        name = f"{number:012d}.jpg"
        images.append({
            "license": 3, "file_name": name, "height": height, "width": width,
            "coco_url": f"http://images.cocodataset.org/{split}/{name}",
            "date_captured": "2013-11-14 17:02:52", "id": number,
        })
        shown = rng.choice(len(THINGS), 2 + k % 2, replace=False).tolist()
        boxes = [_box(width, height, rng) for _ in shown]
        _coco_picture(folder / split / name, width, height, shown, boxes, k % 7 == 3)
        for thing, box in zip(shown, boxes, strict=True):
            instances.append({
                "segmentation": [[1.5, 2.25, 3.0, 4.5, 1.5, 9.0]], "area": 12.5,
                "iscrowd": 0, "image_id": number, "bbox": box,
                "category_id": NUMBERS[11 * thing], "id": 900_000 + len(instances),
            })
        if k % 9 != 8:
            captions += _captions(number, shown, rng, 5 + (k % 4 == 1))
    if instances:  # a crowd, whose outline is a dictionary
        crowd = {"counts": [3, 4], "size": [9, 9]}
        instances[0] |= {"iscrowd": 1, "segmentation": crowd}
    images.append(dict(images[0]))
    order = rng.permutation(len(captions))
    captions = [captions[k] | {"id": 500_000 + n} for n, k in enumerate(order)]
    _write(folder, "captions", split, images, annotations=captions)
    _write(folder, "instances", split, images, annotations=instances, categories=[
        {"supercategory": "thing", "id": number, "name": _thing(number)}
        for number in NUMBERS
    ])


def _thing(number: int) -> str:
    place, rest = divmod(NUMBERS.index(number), 11)
    return f"thing {number}" if rest or place >= len(THINGS) else THINGS[place]


def _box(width: int, height: int, rng) -> list[float]:
    x, y = (round(float(rng.uniform(0, side / 2)), 2) for side in (width, height))
    return [x, y, round(width / 3, 2), round(height / 3, 2)]


def _coco_picture(path, width, height, shown, boxes, grey) -> None:
    picture = Image.new("RGB", (width, height), (120, 130, 110))
    for thing, (x, y, wide, high) in zip(shown, boxes, strict=True):
        colour = (thing * 97 % 256, thing * 151 % 256, thing * 211 % 256)
        corners = [int(x), int(y), int(x + wide), int(y + high)]
        picture.paste(colour, corners)
    (picture.convert("L") if grey else picture).save(path, "JPEG")


def _captions(number, shown, rng, count) -> list[dict]:
    one, other = (THINGS[thing] for thing in shown[:2])
    place = PLACES[rng.integers(len(PLACES))]
    return [
        {"image_id": number,
         "caption": FORMS[k % len(FORMS)].format(one=one, other=other, place=place)}
        for k in range(count)
    ]


def _write(folder, kind, split, images, **lists) -> None:
    content = {"info": {"year": 2017}, "licenses": [], "images": images}
    path = folder / "annotations" / f"{kind}_{split}.json"
    path.write_text(json.dumps({**content, **lists}))
