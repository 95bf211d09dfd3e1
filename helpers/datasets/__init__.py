"""Datasets that are drawn, bundled, or downloaded, and verified before use."""

from helpers.datasets.captions import CaptionedPicture, grab_captions
from helpers.datasets.digits import grab_mnist
from helpers.datasets.tin_records import grab_tin_records
from helpers.datasets.tiny_imagenet import get_tin_id_maps, grab_tin

__all__ = [
    "CaptionedPicture",
    "get_tin_id_maps",
    "grab_captions",
    "grab_mnist",
    "grab_tin",
    "grab_tin_records",
]
