"""Image captioning: vocabulary, records, the model, search, and metrics."""

from helpers.captions.batches import caption_batches, caption_parser, make_pairs
from helpers.captions.metrics import bleu, exact_share, perplexity
from helpers.captions.model import (
    ShowAndTell,
    Sizes,
    masked_loss,
    train_op,
    variables_of,
)
from helpers.captions.saving import restore_captioner, save_captioner
from helpers.captions.search import Captions, beam_search, greedy_search
from helpers.captions.vocabulary import Vocabulary, tokenize

__all__ = [
    "Captions",
    "ShowAndTell",
    "Sizes",
    "Vocabulary",
    "beam_search",
    "bleu",
    "caption_batches",
    "caption_parser",
    "exact_share",
    "greedy_search",
    "make_pairs",
    "masked_loss",
    "perplexity",
    "restore_captioner",
    "save_captioner",
    "tokenize",
    "train_op",
    "variables_of",
]
