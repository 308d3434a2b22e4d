# SPDX-License-Identifier: MIT
"""Checks that experiments/documents.py cuts documents at the same sentences in all files, scores by position, and counts
words."""
import gzip
import os
import subprocess
import sys
import tempfile

script = os.path.join(os.path.dirname(__file__), "..", "..", "experiments", "documents.py")


def run(*arguments):
    return subprocess.run([sys.executable, "-B", script, *arguments], capture_output=True, text=True)


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


plait = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write("a", "one two\nthree\nfour five six\n\nseven\n\n")
    with gzip.open("b.gz", "wt", encoding="utf-8") as file:
        file.write("eins zwei\ndrei\nvier\n\nsieben")
    done = run("cut", "--words", "3", "--output", "cut", "a=a", "b=b.gz")
    assert done.returncode == 0, done.stderr
    assert open("cut/a").read() == "one two\nthree\n\nfour five six\n\nseven\n\n"
    assert open("cut/b").read() == "eins zwei\ndrei\n\nvier\n\nsieben\n\n"

    # The second document of "less" lacks a sentence. In the other documents the first sentence is right, the second
    # wrong.
    reference = "a b c d e\nf g h i j\n\nk l m n o\np q r s t\n\nu v w x y\nf g h i j\n\n"
    write("reference", reference)
    write("less", "a b c d e\nz z z z z\n\nk l m n o p q r s t\n\nu v w x y\nz z z z z\n\n")
    done = run("score", "--plait", plait, "--reference", "reference", "--bins", "1,2", "--metric", "accuracy", "reference", "less")
    assert done.returncode == 0, done.stderr
    assert "2 of 3 documents have as many sentences" in done.stdout, done.stdout
    os.symlink(plait, "here")
    again = run("score", "--plait", "./here", "--reference", "reference", "--bins", "1,2", "--metric", "accuracy", "reference", "less")
    assert again.stdout == done.stdout, again.stderr
    first, second = done.stdout.split("sentences 1 to 1: 2\n")[1].split("sentences 2 to the last: 2\n")
    rows = [[line.split()[:2] for line in part.splitlines() if line.split()[:1] in (["1-reference"], ["2-less"])] for part in (first, second)]
    assert rows == [[["1-reference", "100.00"], ["2-less", "100.00"]], [["1-reference", "100.00"], ["2-less", "0.00"]]], rows

    # Each sentence has one token. In one file each token has probability 1/e; in the other, first sentences have 1.
    write("even", "-1\t1\n-1\t1\n\n" * 3)
    write("first", "0\t1\n-1\t1\n\n" * 3)
    done = run("likelihood", "--reference", "reference", "--bins", "1,2", "even", "first")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[:4] for row in rows[1:]] == [["1-1", "3", "2.72", "1.00"], ["2-", "3", "2.72", "2.72"], ["all", "6", "2.72", "1.65"]], rows
    assert float(rows[1][4]) < 0.3 and rows[2][4] == "1.0000", rows
    write("short", "-1\t1\n\n-1\t1\n")
    done = run("likelihood", "--reference", "reference", "even", "short")
    assert done.returncode != 0 and "short:2: expected the score of sentence 2 of document 1" in done.stderr, done.stderr

    write("fewer", "a b c d e\n\n")
    done = run("score", "--plait", plait, "--reference", "reference", "fewer")
    assert done.returncode != 0 and "fewer: has 1 documents, but reference has 3" in done.stderr, done.stderr

    # "cell" and "table" have translations that training shows ten times or more, "table" two.
    write("train.en", "the cell\n\n" * 10 + "this table\n\n" * 20)
    write("train.de", "die Zelle\n\n" * 10 + "diese Tabelle\n\n" * 10 + "diese Matrix\n\n" * 10)
    write("test.en", "the table\nthis table\nthe cell\nthe cell\n\nthis table\n\n")
    write("test.de", "die Tabelle\nsie, die Matrix\ndie Zelle\ndiese\n\ndiese Matrix\n\n")
    write("one", "Sie Tabelle\ndie Tabelle\nZellen\ndiese Zelle\n\ndiese\n\n")
    write("two", "es\nTabelle Tabelle Tabelle Matrix\n\nMatrix\n\n")
    done = run("words", "--train", "train.en", "train.de", "--source", "test.en", "--reference", "test.de", "a=one", "b=one,two")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    # Pronouns that are right, found and wanted: 2, 2 and 3 in one, 2, 3 and 6 in both. Words of "cell" and "table", which two
    # sentences of the first document have: 2, 4 and 3 in one, 4, 8 and 6 in both. "table" has two translations.
    assert [[row[0], *row[1::2]] for row in rows[1:]] == [
        ["reference", "100.00", "100.00", "50.00"], ["a", "80.00", "57.14", "100.00"], ["b", "44.44", "57.14", "83.33"]], rows
    assert all(0.2 < float(p) <= 1 for p in rows[3][2::2]), rows

    write("fewer", "a\n\n")
    done = run("words", "--train", "train.en", "train.de", "--source", "test.en", "--reference", "test.de", "a=one,fewer")
    assert done.returncode != 0 and "fewer: has 1 documents, but test.en has 2" in done.stderr, done.stderr
    done = run("words", "--train", "train.en", "train.de", "--source", "test.en", "--reference", "test.de", "one")
    assert done.returncode != 0 and "one: expected NAME=FILE,..." in done.stderr, done.stderr
