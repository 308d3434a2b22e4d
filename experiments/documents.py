#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores translations of documents: do earlier sentences help?

    documents.py cut --words 100 --output FOLDER en=test.en.gz fr=test.fr.gz de=test.de.gz
    documents.py score --reference FOLDER/de --bins 1,2,3,5,8 A.txt B.txt
    documents.py likelihood --reference FOLDER/de --bins 1,2,3,5,8 A.scores B.scores
    documents.py words --train train.en.gz train.de.gz --source test.en.gz --reference test.de.gz A=1.txt,2.txt B=3.txt,4.txt

"cut" writes FOLDER/NAME of each file, uncompressed, with more blank lines: each document is cut into documents of whole
sentences with at most WORDS words of the first file, or one longer sentence, at the same sentences in all files. If
models can read WORDS words at once, they see whole documents.

"score" runs plait evaluate on the first sentences of all documents, then on the second, and so on; a bin reaches from
one number to the next. Sentences can be assigned only if a translation has as many as its reference. So only documents
with equal numbers of sentences in all systems count; their number is printed.

"likelihood" has no such condition. It reads the output of plait score --sentences for the reference and prints
perplexities a token. p is of approximate randomisation against the first file, with documents swapped.

"words" counts German words in each document of the reference and of a system, whose files are separated by commas and
have different seeds:

    pronouns     F1, in %, of third-person and demonstrative pronouns; not of "Sie"
    terms        F1, in %, of translations of terms. A term is a word of at least two sentences of the source document.
                 Its translations are the words with a capital letter that often stand in the target sentences of its
                 training sentences (Dice coefficient of .2 or more); their first six letters count, without e, n and s
                 at the end
    consistency  of the terms with several possible translations: the share of the most frequent one in the document, in %

The first row is the reference. p is as above, against the first system.
"""
import argparse
import collections
import gzip
import itertools
import math
import os
import random
import re
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


PRONOUNS = set("er sie es ihn ihm ihr ihnen dies diese dieser dieses diesem diesen".split())
MEASURES = ["pronouns", "terms", "consistency"]


def letters(line):
    return re.findall(r"[^\W\d_]+", line)


def pronouns(document):
    return collections.Counter(word.lower() for line in document for word in letters(line) if word.lower() in PRONOUNS and word != "Sie")


def nouns(line):
    """Returns the stems of the long words with a capital letter."""
    return [word[:6].lower().rstrip("ens") for word in letters(line) if len(word) > 3 and word[0].isupper()]


def terms(line):
    return {word.lower() for word in letters(line) if len(word) > 3}


def learn_translations(source, target):
    """Returns the translations of each word that 10 or more training sentences have."""
    words, translations, pairs = collections.Counter(), collections.Counter(), collections.Counter()
    for a, b in zip(itertools.chain(*source), itertools.chain(*target)):
        a, b = terms(a), set(nouns(b))
        words.update(a)
        translations.update(b)
        pairs.update(itertools.product(a, b))
    known = collections.defaultdict(list)
    for (a, b), n in pairs.items():
        if words[a] >= 10 and 2 * n >= 0.2 * (words[a] + translations[b]):
            known[a].append(b)
    return known


def overlap(a, b):
    """Returns numerator and denominator of F1."""
    return 200 * sum((a & b).values()), sum(a.values()) + sum(b.values())


def count_words(document, reference, repeated):
    """Returns numerator and denominator of each measure. repeated: translations of each term of the document."""
    found, wanted = (collections.Counter(itertools.chain(*map(nouns, text))) for text in (document, reference))
    known = set(itertools.chain(*repeated))
    most = total = 0
    for choices in repeated:
        counts = [found[choice] for choice in choices]
        if len(choices) > 1 and sum(counts) > 1:
            most += 100 * max(counts)
            total += sum(counts)
    return [overlap(pronouns(document), pronouns(reference)),
            overlap(*(collections.Counter({word: n for word, n in text.items() if word in known}) for text in (found, wanted))),
            (most, total)]


def ratio(pairs):
    return sum(a for a, _ in pairs) / max(1, sum(b for _, b in pairs))


def randomise_ratios(first, second, trials=10000):
    """Like randomise, for the difference of two ratios of sums."""
    draw, observed, met = random.Random(12345), abs(ratio(first) - ratio(second)), 0
    for _ in range(trials):
        drawn = [(a, b) if draw.random() < 0.5 else (b, a) for a, b in zip(first, second)]
        met += abs(ratio([a for a, _ in drawn]) - ratio([b for _, b in drawn])) >= observed - 1e-9
    return (met + 1) / (trials + 1)


def words(options):
    translations = learn_translations(*map(read, options.train))
    source, reference = read(options.source), read(options.reference)
    check(reference, options.reference, len(source), options.source)
    repeated = []
    for document in source:
        counts = collections.Counter(itertools.chain(*map(terms, document)))
        repeated.append([translations[term] for term in sorted(counts) if counts[term] > 1 and term in translations])
    print("system", *(f"{measure}\tp" for measure in MEASURES), sep="\t")
    first = None
    for number, system in enumerate(["reference=" + options.reference] + options.systems):
        name, _, paths = system.partition("=")
        if not paths:
            sys.exit(f"{system}: expected NAME=FILE,...")
        counts = []  # [file x document][measure]
        for path in paths.split(","):
            documents = read(path)
            check(documents, path, len(source), options.source)
            counts.append([count_words(*versions) for versions in zip(documents, reference, repeated)])
        # A document's counts are the sums of all seeds, so that the seeds of a document are swapped together.
        sums = [[tuple(map(sum, zip(*(file[i][k] for file in counts)))) for i in range(len(source))] for k in range(len(MEASURES))]
        row = [f"{ratio(column):.2f}\t" + (f"{randomise_ratios(first[k], column):.4f}" if number > 1 else "–")
               for k, column in enumerate(sums)]
        print(name, *row, sep="\t", flush=True)
        if number == 1:
            first = sums


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
one = commands.add_parser("words")
one.add_argument("--train", nargs=2, required=True, metavar="FILE", help="training text: source and target")
one.add_argument("--source", required=True)
one.add_argument("--reference", required=True)
one.add_argument("systems", nargs="+", metavar="NAME=FILE,...")
one.set_defaults(run=words)
options = parser.parse_args()
options.run(options)
