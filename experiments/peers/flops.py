# SPDX-License-Identifier: MIT
"""Useful floating-point operations of one training step, counted once for all programs.

Counted are the matrix products of the equations on real tokens (a multiplication and an addition are two operations).
Not counted are padding, the masked half of causal attention, softmax, normalisation, dropout, embeddings and the
optimizer. The backward pass takes two products for each forward product (for the input and for the weight), but one for
the projection of image features, which need no gradient.
"""


def training_step(size, batch, combiner="serial"):
    """Returns the operations of forward and backward for `batch`, a list of sentence tuples (token sources, then the
    target)."""
    d = size.width
    forward = 0.0

    for index in range(size.token_sources):
        lengths = [len(streams[index]) for streams in batch]
        rows, pairs = sum(lengths), sum(n * n for n in lengths)
        forward += size.encoder_layers * (2 * rows * (4 * d * d + 2 * d * size.inner) + 4 * pairs * d)

    lengths = [len(streams[-1]) for streams in batch]
    rows = sum(lengths)
    forward += size.decoder_layers * (2 * rows * (4 * d * d + 2 * d * size.inner) + 4 * d * sum(t * (t + 1) // 2 for t in lengths))
    forward += 2 * rows * d * size.vocabulary

    memory_rows = sum(len(stream) for streams in batch for stream in streams[:-1]) + len(batch) * size.image_positions
    pairs = sum(t * (sum(map(len, streams[:-1])) + size.image_positions) for t, streams in zip(lengths, batch))
    queries = 1 if combiner == "flat" else size.memories
    forward += size.decoder_layers * (2 * d * d * (2 * queries * rows + 2 * memory_rows) + 4 * pairs * d)
    if combiner == "hierarchical":
        contexts = rows * size.memories
        forward += size.decoder_layers * (2 * d * d * (2 * rows + 2 * contexts) + 4 * contexts * d)

    image = 2 * len(batch) * size.image_positions * size.image_width * d
    return 3 * forward + 2 * image


def recurrent_step(size, batch, coverage="none", encoder=False):
    """Returns the operations of forward and backward of the recurrent model, or of its encoder alone."""
    h, e, half, memory = size.hidden, size.width, size.hidden / 2, size.memory
    words = [len(streams[0]) for streams in batch]
    rows = [2 * n - 1 if size.trees else n for n in words]
    targets = [len(streams[-1]) for streams in batch]

    products = sum(words) * 2 * 3 * half * (e + half)
    if size.trees:
        products += sum((n - 1) * 2 * h * 6 * h + h * h + (2 * n - 2) * 2 * h * 3 * h for n in words)
    if encoder:
        return 6 * products
    pairs, target = sum(r * t for r, t in zip(rows, targets)), sum(targets)
    products += len(batch) * memory * h + sum(rows) * memory * h + pairs * (h + memory)
    products += target * (h * h + 3 * h * (e + memory + h) + (h + memory + e) * e + e * size.vocabulary)
    if coverage != "none":
        # Each pair reads its own state, and the states of children or neighbours if it has any.
        linked = 0 if coverage == "word" else sum(2 * t * ((n if coverage == "tree" else r) - 1) for n, r, t in zip(words, rows, targets))
        gates = 3 * size.coverage
        products += sum(rows) * memory * gates + target * h * gates + (pairs + linked) * size.coverage * gates + pairs * size.coverage * h
    # The decoder begins with the mean of the memory's rows. Its weights are constants, so their gradient is not
    # counted.
    return 6 * products + 4 * sum(rows) * memory
