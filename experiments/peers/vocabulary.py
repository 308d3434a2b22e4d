# SPDX-License-Identifier: MIT
"""Compares vocabularies of published models in plait with the programs that they are published for.

Learns a byte-level BPE by the package tokenizers and SentencePiece models by the package sentencepiece from text files,
writes them as models are published, and lets plait take each. Prints for how many lines the ids differ: lines of the
text, random hostile lines, and (byte-level BPE) every code point before "'ve" and after a space. Also prints how
many lines plait does not decode from byte-level BPE to the original text.

Code points that only one side's version of Unicode knows may differ: tokenizers has its own tables, plait uses ICU.
SentencePiece must be the version that plait is linked with (Debian 12: 0.1.97), since later versions break ties between
segmentations differently.

    python3 -m venv V && V/bin/pip install tokenizers sentencepiece==0.1.97
    V/bin/python vocabulary.py --plait BUILD/plait TEXT...
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import unicodedata

import sentencepiece
import tokenizers

SIZE = 2000
DRAWN = 5000


def drawn(count):
    """Returns random lines that are hard to split: spaces, numbers, marks, control characters, two directions, joined
    emoji, contractions. Also
    returns all characters but surrogates, tabs and line ends."""
    characters = [c for c in map(chr, range(1, 0x110000)) if not 0xD800 <= ord(c) < 0xE000 and c not in "\n\r\t"]
    kinds = {c: unicodedata.category(c) for c in characters}
    pools = [
        [c for c in characters if kinds[c][0] == "Z"] + list("\u180e\u200b\x1c\x1f\x85"),
        [c for c in characters if kinds[c][0] == "N"], [c for c in characters if kinds[c][0] == "M"],
        [c for c in characters if kinds[c] == "Cc"], [c for c in characters if unicodedata.bidirectional(c) in ("R", "AL")],
        [c for c in characters if kinds[c] not in ("Cn", "Co")], characters, [" "], [" " * n for n in range(1, 60)], list("abcé, .'!12"),
        ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "''", "<s>", "</s>", "Ġ", "\\ud83d\\ude00"],
        ["👩\u200d👩\u200d👧", "🏳️\u200d🌈", "👍🏽", "🇩🇪", "\ufe0f"]]
    return ["".join(random.choice(random.choice(pools)) for _ in range(random.randint(1, 12))) for _ in range(count)], characters


def write(folder, name, content):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(content)


class Case:
    """The folder of a published model, a function that returns its ids of a line, and plait's id for each
    of its ids."""

    def __init__(self, folder, config, specials, encode, side=""):
        self.path, self.encode = os.path.join(folder, side), encode
        write(folder, "config.json", json.dumps(config))
        rest = [i for i in range(config["vocab_size"]) if i not in specials]
        self.ours = {i: n for n, i in enumerate(specials + rest) if i is not None}


def byte_pairs(folder, lines):
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(lines, vocab_size=SIZE, special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    bpe.save_model(folder)
    bpe = tokenizers.ByteLevelBPETokenizer(os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt"))
    config = {"model_type": "bart", "vocab_size": bpe.get_vocab_size(), "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    return Case(folder, config, [1, 0, 2, 3], lambda line: bpe.encode(line).ids)


def pieces(folder, lines, name, **options):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=file, vocab_size=SIZE, minloglevel=2, **options)
    return sentencepiece.SentencePieceProcessor(model_file=path)


def t5(folder, lines):
    model = pieces(folder, lines, "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    config = {"model_type": "t5", "vocab_size": SIZE + 128, "pad_token_id": 0, "eos_token_id": 1}
    return Case(folder, config, [0, None, 1, 2], model.encode)


def xlm_roberta(folder, lines):
    model = pieces(folder, lines, "sentencepiece.bpe.model")
    config = {"model_type": "xlm-roberta", "vocab_size": SIZE + 2, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    return Case(folder, config, [1, 0, 2, 3], lambda line: [i + 1 if i else 3 for i in model.encode(line)])


def marian(folder, lines):
    models = [pieces(folder, lines[i::2], name) for i, name in enumerate(("source.spm", "target.spm"))]
    known = ["</s>", "<unk>"] + [m.id_to_piece(i) for m in models for i in range(3, SIZE)] + ["<pad>"]
    ids = {piece: n for n, piece in enumerate(dict.fromkeys(known))}
    write(folder, "vocab.json", json.dumps(ids))
    end = len(ids) - 1
    config = {"model_type": "marian", "vocab_size": len(ids), "pad_token_id": end, "bos_token_id": 0, "eos_token_id": 0}
    return Case(
        folder, config, [end, None, 0, 1], lambda line: [ids.get(p, 1) for p in models[0].encode(line, out_type=str)], "source.spm")


def plait(program, folder, *arguments):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, check=True).stdout.decode()


def compare(program, folder, name, case, lines):
    plait(program, folder, "vocabulary", "--quiet", "--output", name, "--published", case.path)
    # A byte order mark before the first line would be dropped.
    write(folder, "lines", "first\n" + "".join(line + "\n" for line in lines))
    found = plait(program, folder, "vocabulary", "--encode", name, "--ids", "lines")
    write(folder, "ids", found)
    back = plait(program, folder, "vocabulary", "--decode", name, "--ids", "ids").split("\n")[1:-1]
    found = [[int(i) for i in line.split()] for line in found.split("\n")[1:-1]]
    differ = [line for line, ids in zip(lines, found) if ids != [case.ours[i] for i in case.encode(line)]]
    lost = f", {sum(a != b for a, b in zip(back, lines))} do not come back" if name.startswith("bart") else ""
    print(f"{name}: {len(differ)} of {len(lines)} lines have other ids{lost}")
    for line in differ[:5]:
        print("   ", ascii(line)[:100])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plait", required=True)
    parser.add_argument("text", nargs="+")
    options = parser.parse_args()
    random.seed(1)
    lines = []
    for path in options.text:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines += [line for line in file.read().split("\n") if line and not set(line) & set("\t\r")]
    hostile, characters = drawn(DRAWN)
    printable = [line for line in hostile if line.isprintable() and line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("bart", byte_pairs), ("t5", t5), ("xlm-roberta", xlm_roberta), ("marian", marian)):
            os.mkdir(os.path.join(folder, name + ".model"))
            case = make(os.path.join(folder, name + ".model"), lines)
            compare(os.path.abspath(options.plait), folder, name, case, lines + (hostile if name == "bart" else printable))
            if name == "bart":
                compare(os.path.abspath(options.plait), folder, "bart-all", case, [f"{c}'ve {c}{c}" for c in characters])


main()
