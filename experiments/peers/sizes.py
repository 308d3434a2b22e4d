# SPDX-License-Identifier: MIT
"""Sizes of the compared models, from the experiment files of plait-bench (../bench), and the ids that all programs
reserve."""

import configparser
from dataclasses import dataclass
from pathlib import Path

PADDING, BEGIN, END, UNKNOWN = 0, 1, 2, 3
FIRST_WORD = 4
FOLDER = Path(__file__).resolve().parent.parent / "bench"


def path_of(name):
    """Returns the experiment file of a size."""
    return FOLDER / f"{name}.ini"


def experiment(name):
    """Returns group -> key -> text."""
    file = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    with open(path_of(name), encoding="utf-8") as lines:
        file.read_file(lines)
    return file


def lengths(file):
    """Returns the distribution of the lengths of a stream: normal(mean, deviation), rounded, within [shortest,
    longest]."""
    bench = file["bench"]
    return {
        "vocabulary": file.getint("data", "vocabulary_size"),
        "batch": file.getint("train", "batch"),
        "mean": bench.getfloat("mean_length"),
        "deviation": bench.getfloat("length_deviation"),
        "shortest": bench.getint("shortest_length"),
        "longest": bench.getint("longest_length"),
    }


@dataclass(frozen=True)
class Size:
    """A size of the Transformer."""

    width: int
    inner: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    token_sources: int
    vocabulary: int
    batch: int
    mean: float
    deviation: float
    shortest: int
    longest: int
    image_positions: int = 0
    image_width: int = 0
    trees: bool = False

    @classmethod
    def of(cls, name):
        file = experiment(name)
        sources = [file[group] for group in file.sections() if group.startswith("source ") and "/" not in group]
        texts = [source for source in sources if source["encoder"] == "transformer"]
        images = [source for source in sources if source["encoder"] == "features"]
        decoder = file["decoder"]
        return cls(
            width=decoder.getint("width"),
            inner=decoder.getint("feed_forward"),
            heads=decoder.getint("heads"),
            encoder_layers=texts[0].getint("layers"),
            decoder_layers=decoder.getint("layers"),
            token_sources=len(texts),
            image_positions=file.getint("bench", "feature_rows") if images else 0,
            image_width=file.getint("bench", "feature_width") if images else 0,
            **lengths(file),
        )

    @property
    def memories(self):
        return self.token_sources + (1 if self.image_positions else 0)

    @property
    def decode_steps(self):
        return round(self.mean)


@dataclass(frozen=True)
class RecurrentSize:
    """A size of the recurrent model. Embeddings and readout have `width` units; states of the decoder and of tree nodes
    have `hidden` units, half of them for each direction over the words."""

    width: int
    hidden: int
    vocabulary: int
    batch: int
    mean: float
    deviation: float
    shortest: int
    longest: int
    trees: bool = False  # a tree over the one source; all its tokens are leaves
    token_sources: int = 1
    coverage: int = 50  # width of a row's coverage

    @classmethod
    def of(cls, name):
        file = experiment(name)
        return cls(width=file.getint("decoder", "width"), hidden=file.getint("decoder", "state_width"), **lengths(file))

    @property
    def memory(self):
        return 2 * self.hidden if self.trees else self.hidden

    @property
    def source(self):
        """The name of the source in plait."""
        return "tree" if self.trees else "text"


SIZES = {name: Size.of(name) for name in ("small", "msmt", "mmt", "long")}
RECURRENT_SIZES = {name: RecurrentSize.of(name) for name in ("h128", "h256", "h1024")}
