# SPDX-License-Identifier: MIT
"""The file of token data that all programs read, and its generator.

ASCII text. One line is one sentence tuple: the token sources in order, then the target, separated by single tabs. Each
stream is a list of at least one decimal id, separated by single spaces. An empty line ends a batch; further empty lines
are ignored.

Ids: 0 padding, 1 begin, 2 end, 3 unknown, words from 4 to vocabulary - 1. Files contain neither padding nor begin. The
target is predicted with its end token: its number of ids is its number of tokens. The decoder reads begin and the
target without its last id.

A tree is written between source and target: the left and the right child of each inner node, children before parents,
2 (T - 1) numbers. 0 .. T - 1 are the T tokens, which are all leaves and have no end token; T is the first inner node.
Trees are split uniformly.

The file does not contain the image source of mmt: it is the last memory, one constant array [sentences, 64, 2048] of
standard normal numbers.

Training takes the batches unchanged: step i, warm-up included, takes batch i modulo their number. Decoding ignores the
target and groups the sentences anew, in their order, by --batch.
"""

import argparse
import random
import sys

from dataclasses import replace

from sizes import END, FIRST_WORD, RECURRENT_SIZES, SIZES

# random: sentences as drawn; bucketed: batches of similar length.
ORDERS = ("random", "bucketed")


def read(path, size):
    """Returns the batches of `path`: lists of sentence tuples, each a list of id lists with the target last."""
    batches, batch = [], []
    expected = size.token_sources + (2 if size.trees else 1)
    try:
        with open(path, encoding="ascii") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {getattr(error, 'strerror', 'not ASCII text')}")
    for number, line in enumerate(lines, 1):
        if line:
            try:
                streams = [[int(word) for word in stream.split(" ") if word] for stream in line.split("\t")]
            except ValueError:
                sys.exit(f"{path}:{number}: expected ids as decimal numbers with single spaces between them, and single tabs between streams")
            if len(streams) != expected:
                sys.exit(f"{path}:{number}: the line has {len(streams)} streams, but this size has {size.token_sources} sources{', trees' if size.trees else ''} and a target")
            if size.trees and sorted(streams[1]) != list(range(2 * len(streams[0]) - 2)):
                sys.exit(f"{path}:{number}: not a tree over {len(streams[0])} tokens; expected one parent for each token and each node except the last")
            if any(not 0 <= word < size.vocabulary for stream in streams for word in stream):
                sys.exit(f"{path}:{number}: an id is outside the vocabulary; expected ids from 0 to {size.vocabulary - 1}")
            batch.append(streams)
        elif batch:
            batches.append(batch)
            batch = []
    if batch:
        batches.append(batch)
    if not batches:
        sys.exit(f"{path}: has no sentences; write the file again with tokens.py")
    return batches


def regroup(batches, count):
    """Returns the sentences in their order in batches of `count`; the last batch may be smaller."""
    sentences = [streams for batch in batches for streams in batch]
    return [sentences[first : first + count] for first in range(0, len(sentences), count)]


def draw_tree(generator, words):
    """Returns the children of the nodes of a random tree over `words` tokens, split uniformly."""
    nodes, spans, order = {}, [(0, words)], []
    while spans:
        first, end = spans.pop()
        if end - first > 1:
            middle = generator.randint(first + 1, end - 1)
            order.append((first, middle, end))
            spans += [(first, middle), (middle, end)]
    children = []
    # `order` has parents before their children.
    for number, (first, middle, end) in enumerate(reversed(order)):
        nodes[first, end] = words + number
        for span in ((first, middle), (middle, end)):
            children.append(nodes[span] if span in nodes else span[0])
    return children


def draw(size, batch, batches, order, seed):
    """Returns seeded batches. The lengths of one tuple are correlated, as those of translations are; words follow a
    Zipf law."""
    generator = random.Random(seed)
    words = range(FIRST_WORD, size.vocabulary)
    cumulative, total = [], 0.0
    for rank in range(1, len(words) + 1):
        total += 1.0 / (rank + 2.7)
        cumulative.append(total)

    # A length is a shared part plus a part of each stream; the sum of their variances is that of the size.
    shared, own = size.deviation * 0.95, size.deviation * (1 - 0.95**2) ** 0.5
    sentences = []
    for _ in range(batch * batches):
        centre = generator.gauss(size.mean, shared)
        streams = []
        for _ in range(size.token_sources + 1):
            length = min(size.longest, max(size.shortest, round(generator.gauss(centre, own))))
            if size.trees and not streams:
                streams.append(generator.choices(words, cum_weights=cumulative, k=length))
                streams.append(draw_tree(generator, length))
            else:
                streams.append(generator.choices(words, cum_weights=cumulative, k=length - 1) + [END])
        sentences.append(streams)
    if order == "bucketed":
        sentences.sort(key=lambda streams: len(streams[-1]))
    cut = [sentences[first : first + batch] for first in range(0, len(sentences), batch)]
    generator.shuffle(cut)
    return cut


def write(path, batches):
    with open(path, "w", encoding="ascii") as lines:
        for batch in batches:
            for streams in batch:
                lines.write("\t".join(" ".join(map(str, stream)) for stream in streams) + "\n")
            lines.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="file to write")
    parser.add_argument("--size", choices=[*SIZES, *RECURRENT_SIZES], required=True)
    parser.add_argument("--trees", action="store_true", help="with trees over the source (h128, h256, h1024)")
    parser.add_argument("--batch", type=int, help="sentences a batch; default: that of the size")
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--order", choices=ORDERS, default="random", help="sentences as drawn, or batches of similar length")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    size = SIZES.get(options.size) or replace(RECURRENT_SIZES[options.size], trees=options.trees)
    write(options.path, draw(size, options.batch or size.batch, options.batches, options.order, options.seed))


if __name__ == "__main__":
    main()
