# SPDX-License-Identifier: MIT
"""The model sizes of the comparison, and the ids that both programs reserve."""

from dataclasses import dataclass

PADDING, BEGIN, END, UNKNOWN = 0, 1, 2, 3
FIRST_WORD = 4


@dataclass(frozen=True)
class Size:
    """One model size. Lengths are of one stream: normal(mean, deviation), rounded, within [shortest, longest]."""

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
    decode_steps: int = 0
    trees: bool = False

    @property
    def memories(self):
        return self.token_sources + (1 if self.image_positions else 0)


SIZES = {
    "small": Size(128, 512, 4, 2, 2, 3, 4000, 64, 14, 4, 4, 40, decode_steps=14),
    "msmt": Size(256, 2048, 8, 4, 6, 4, 48000, 24, 28, 10, 5, 60, decode_steps=28),
    "mmt": Size(512, 4096, 16, 6, 6, 1, 40000, 32, 14, 4, 4, 40, 64, 2048, decode_steps=14),
}


@dataclass(frozen=True)
class RecurrentSize:
    """A size of the recurrent system: embeddings and readout `width` wide, states of the decoder and of tree nodes `hidden`, half of it
    each direction over the words. Lengths as above."""

    width: int
    hidden: int
    vocabulary: int
    trees: bool = False  # over the one source, whose tokens are all leaves then
    batch: int = 32
    mean: float = 25
    deviation: float = 5
    shortest: int = 15
    longest: int = 35
    token_sources: int = 1
    coverage: int = 50  # of a row's coverage

    @property
    def memory(self):
        return 2 * self.hidden if self.trees else self.hidden


RECURRENT_SIZES = {
    "h128": RecurrentSize(128, 128, 4000),
    "h256": RecurrentSize(256, 256, 8000),
    "h1024": RecurrentSize(512, 1024, 30000),
}
