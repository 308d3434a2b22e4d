#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the corpus of experiments/post-edit.ini: English, German, and German with errors as a draft translation.

Usage: post-edit.py FOLDER OUTPUT [--seed 1]

FOLDER holds {train,val,test}.{en,de}.gz, one sentence a line. In the draft about a fifth of the German words, drawn at
random, are replaced by a word of the training text (as often as that word is used), left out, doubled, or exchanged
with the next word.
"""
import argparse
import gzip
import pathlib
import random

REPLACED, DROPPED, DOUBLED, SWAPPED = 0.08, 0.06, 0.03, 0.025


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def damage(line, known, draw):
    """Returns @line with errors, or @line itself if no word would be left."""
    words = line.split()
    draft = []
    while words:
        word = words.pop(0)
        chance = draw.random()
        if chance < REPLACED:
            draft.append(known[int(draw.random() * len(known))])
        elif chance < REPLACED + DROPPED:
            continue
        elif chance < REPLACED + DROPPED + DOUBLED:
            draft += [word, word]
        elif chance < REPLACED + DROPPED + DOUBLED + SWAPPED and words:
            draft += [words.pop(0), word]
        else:
            draft.append(word)
    return " ".join(draft) or line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.output.mkdir()
    known = [word for line in lines(options.folder / "train.de.gz") for word in line.split()]
    for split in "train", "val", "test":
        draw = random.Random(f"{options.seed} {split}")
        german = lines(options.folder / f"{split}.de.gz")
        texts = {"en": lines(options.folder / f"{split}.en.gz"), "de": german, "draft": [damage(line, known, draw) for line in german]}
        for name, text in texts.items():
            (options.output / f"{split}.{name}").write_text("".join(f"{line}\n" for line in text), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
