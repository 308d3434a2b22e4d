# SPDX-License-Identifier: MIT
"""Derives the figures of the table from measured times, equally for all programs."""

import statistics
import time

import flops

SGEMM_ORDER = 2048


def sgemm_gflops(matrix, multiply, repetitions=8):
    """Returns the median rate of a float32 product [2048, 2048] x [2048, 2048], after two warm-up products."""
    left, right = matrix(SGEMM_ORDER), matrix(SGEMM_ORDER)
    seconds = []
    for index in range(repetitions + 2):
        start = time.perf_counter()
        multiply(left, right)
        if index >= 2:
            seconds.append(time.perf_counter() - start)
    return 2 * SGEMM_ORDER**3 / statistics.median(seconds) / 1e9


def derive(size, mode, combiner, batches, seconds, sgemm, part="step", coverage="none"):
    """Returns rates over all timed steps: unpadded target tokens a second (source tokens if the encoder is timed
    alone), sentences a second, and the share of the sgemm rate. Batches of similar length differ much in length, so a
    median step would say little. `batches` is empty for a step of attention."""
    spent = sum(seconds)
    if not batches:
        return {"tokens_per_second": None, "sentences_per_second": len(seconds) / spent, "share": None}
    sentences = sum(map(len, batches)) / spent
    if mode == "decode":
        return {"tokens_per_second": sentences * size.decode_steps, "sentences_per_second": sentences, "share": None}
    stream = 0 if part == "encoder" else -1
    words = sum(len(streams[stream]) for batch in batches for streams in batch) / spent
    if mode in ("tree", "recurrent"):
        work = [flops.recurrent_step(size, batch, coverage, part == "encoder") for batch in batches]
    else:
        work = [flops.training_step(size, batch, combiner) for batch in batches]
    share = sum(work) / spent / sgemm / 1e9
    return {"tokens_per_second": words, "sentences_per_second": sentences, "share": share}
