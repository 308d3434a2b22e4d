#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores translations of documents by the position of a sentence in its document: do earlier sentences help?

    by-position.py cut --words 100 --output FOLDER en=test.en.gz fr=test.fr.gz de=test.de.gz
    by-position.py score --reference FOLDER/de --bins 1,2,3,5,8 A.txt B.txt
    by-position.py likelihood --reference FOLDER/de --bins 1,2,3,5,8 A.scores B.scores

"cut" writes FOLDER/NAME of each file, uncompressed, with more blank lines: each document is cut into documents of whole
sentences with at most WORDS words of the first file, or one longer sentence, at the same sentences in all files. If
models can read WORDS words at once, they see whole documents.

"score" runs plait evaluate on the first sentences of all documents, then on the second, and so on; a bin reaches from
one number to the next. Sentences can be assigned only if a translation has as many as its reference. So only documents
with equal numbers of sentences in all systems count; their number is printed.

"likelihood" has no such condition. It reads the output of plait score --sentences for the reference and prints
perplexities a token. p is of approximate randomisation against the first file, with documents swapped.
"""
import argparse
import gzip
import itertools
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile


def read(path):
    """Returns the documents of a file, each a list of lines. A blank line ends a document."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\r\n") for line in file]
    if lines and lines[-1].strip():
        lines.append("")
    ends = [i for i, line in enumerate(lines) if not line.strip()]
    return [lines[first:end] for first, end in zip([0] + [end + 1 for end in ends], ends)]


def check(documents, path, expected, first):
    if len(documents) != expected:
        sys.exit(f"{path}: has {len(documents)} documents, but {first} has {expected}; expected equal numbers")


def pieces(document, most):
    """Yields the ranges of sentences that stay together."""
    words, start = 0, 0
    for i, line in enumerate(document):
        n = len(line.split())
        if i > start and words + n > most:
            yield start, i
            words, start = 0, i
        words += n
    yield start, len(document)


def cut(options):
    paths = dict(stream.split("=", 1) for stream in options.streams)
    streams = {name: read(path) for name, path in paths.items()}
    first = next(iter(streams.values()))
    bounds = [list(pieces(document, options.words)) for document in first]
    os.makedirs(options.output, exist_ok=True)
    for name, documents in streams.items():
        check(documents, paths[name], len(first), next(iter(paths.values())))
        with open(os.path.join(options.output, name), "x", encoding="utf-8") as file:
            for i, document in enumerate(documents):
                if len(document) != len(first[i]):
                    sys.exit(f"{paths[name]}: document {i + 1} has {len(document)} lines; expected {len(first[i])}")
                for start, end in bounds[i]:
                    file.write("".join(line + "\n" for line in document[start:end]) + "\n")


def score(options):
    systems = [read(path) for path in [options.reference] + options.systems]
    for documents, path in zip(systems, [options.reference] + options.systems):
        check(documents, path, len(systems[0]), options.reference)
    agree = [versions for versions in zip(*systems) if len(set(map(len, versions))) == 1]
    print(f"{len(agree)} of {len(systems[0])} documents have as many sentences in all systems as in the reference")
    bins = [int(number) for number in options.bins.split(",")]
    program = shutil.which(options.plait) or sys.exit(f"--plait {options.plait}: there is no such program")
    for first, end in itertools.zip_longest(bins, bins[1:]):
        kept = [sum((version[first - 1 : end and end - 1] for version in versions), []) for versions in zip(*agree)]
        if not kept or not kept[0]:
            continue
        print(f"\nsentences {first} to {end - 1 if end else 'the last'}: {len(kept[0])}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            names = ["reference"] + [f"{i + 1}-{os.path.basename(path)}" for i, path in enumerate(options.systems)]
            for name, lines in zip(names, kept):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write("".join(line + "\n" for line in lines))
            hypotheses = itertools.chain(*(("--hypothesis", name) for name in names[1:]))
            command = [os.path.abspath(program), "evaluate", "--reference", names[0], *hypotheses, "--metric", options.metric]
            subprocess.run(command, cwd=folder, check=True)


def place(number, bins):
    return sum(number >= first for first in bins) - 1


def read_scores(path, reference, bins):
    """Returns [document][bin]: the sum of log-probabilities, and the number of tokens."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    sums, at = [], 0
    for document in reference:
        sums.append([[0.0, 0] for _ in bins])
        for i in range(len(document)):
            if at == len(lines) or "\t" not in lines[at]:
                sys.exit(f"{path}:{at + 1}: expected the score of sentence {i + 1} of document {len(sums)}; run plait score with --sentences")
            probability, tokens = lines[at].split("\t")
            cell = sums[-1][place(i + 1, bins)]
            cell[0] += float(probability)
            cell[1] += int(tokens)
            at += 1
        at += 1
    return sums


def randomise(differences, trials=10000):
    """Returns the share of random signs for which the absolute sum of the differences is at least the observed one."""
    draw, observed = random.Random(12345), abs(sum(differences))
    met = sum(abs(sum(d if draw.random() < 0.5 else -d for d in differences)) >= observed - 1e-9 for _ in range(trials))
    return (met + 1) / (trials + 1)


def likelihood(options):
    reference = read(options.reference)
    bins = [int(number) for number in options.bins.split(",")]
    systems = [read_scores(path, reference, bins) for path in options.systems]
    print("sentences", "tokens", *(os.path.basename(path) + ("" if i == 0 else "\tp") for i, path in enumerate(options.systems)), sep="\t")
    for k in list(range(len(bins))) + [None]:
        sums = [[[sum(cell[0] for cell in cells), sum(cell[1] for cell in cells)] if k is None else cells[k] for cells in system] for system in systems]
        row = []
        for system in sums:
            if sum(cell[1] for cell in system) != sum(cell[1] for cell in sums[0]):
                sys.exit("the files have different numbers of target tokens; expected scores by runs with one vocabulary")
            row.append(f"{math.exp(-sum(cell[0] for cell in system) / max(1, sum(cell[1] for cell in system))):.2f}")
            if system is not sums[0]:
                row.append(f"{randomise([a[0] - b[0] for a, b in zip(sums[0], system)]):.4f}")
        name = "all" if k is None else f"{bins[k]}-{bins[k + 1] - 1}" if k + 1 < len(bins) else f"{bins[k]}-"
        print(name, sum(cell[1] for cell in sums[0]), *row, sep="\t")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(required=True)
one = commands.add_parser("cut")
one.add_argument("--words", type=int, required=True)
one.add_argument("--output", required=True)
one.add_argument("streams", nargs="+", metavar="NAME=FILE")
one.set_defaults(run=cut)
one = commands.add_parser("score")
one.add_argument("--reference", required=True)
one.add_argument("--bins", default="1,2,3,5,8")
one.add_argument("--metric", default="bleu;chrf")
one.add_argument("--plait", default="plait", help="the plait command: a path, or a name in PATH")
one.add_argument("systems", nargs="+", metavar="SYSTEM")
one.set_defaults(run=score)
one = commands.add_parser("likelihood")
one.add_argument("--reference", required=True)
one.add_argument("--bins", default="1,2,3,5,8")
one.add_argument("systems", nargs="+", metavar="SCORES")
one.set_defaults(run=likelihood)
options = parser.parse_args()
options.run(options)
