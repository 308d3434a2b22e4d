# SPDX-License-Identifier: MIT
"""Translates by the program plait, which stays in memory between calls."""

import atexit
import os
import shutil
import subprocess
import tempfile
import threading

from .runs import Run

# From this many lines on, a process of its own translates them in whole batches.
MANY = 200


class Error(RuntimeError):
    """The program failed; the text is its message."""


def _program():
    program = os.environ.get("PLAIT_PROGRAM") or shutil.which("plait")
    if not program:
        raise Error("the program plait is not in PATH; install it, or name it in PLAIT_PROGRAM")
    return program


def _row(line, sources):
    """Returns the columns of one line: a text, or a text for each source by name or in order."""
    if isinstance(line, str):
        line = [line]
    elif isinstance(line, dict):
        unknown = set(line) - set(sources)
        if unknown:
            raise ValueError(f"the run has no source {', '.join(sorted(unknown))}; it has {', '.join(sources)}")
        line = [line.get(name) for name in sources]
    if len(line) != len(sources):
        raise ValueError(f"expected one text for each of {', '.join(sources)}, found {len(line)}: {line!r}")
    texts = ["" if text is None else text for text in line]
    for text in texts:
        if "\t" in text or "\n" in text or "\r" in text:
            raise ValueError(f"a line must not contain tabs or line ends: {text!r}")
    return "\t".join(texts) + "\n"


class Translator:
    """A process that translates with one run until it is closed. Keys of [decode] are settings, such as beam=8."""

    def __init__(self, run, settings=None, batch=1):
        self.run = run if isinstance(run, Run) else Run(run)
        named = self.run.settings.get("experiment", {}).get("sources", "")
        self.sources = [name for name in named.split("+") if name]
        for name in list(self.sources):
            factors = self.run.settings[f"source {name}"].get("factors", "none")
            self.sources += [f"{name}.{factor}" for factor in factors.split("+") if factor != "none"]
        data = self.run.settings.get("data", {})
        if data.get("target") in data.get("documents", "").split(";"):
            raise ValueError(f"{self.run.path}: the target is documents of many lines; use the command plait translate")
        words = [_program(), "translate", self.run.path, "--tsv", ",".join(self.sources), "--format", "text", "--quiet",
                 "--set", "data.empty=missing"]
        if batch:
            words += ["--set", f"decode.batch={batch}"]
        for key, value in (settings or {}).items():
            words += ["--set", f"{key if '.' in key else 'decode.' + key}={value}"]
        self._errors = tempfile.TemporaryFile()
        self._lock = threading.Lock()
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def alive(self):
        return self._process.poll() is None

    def translate(self, lines, last=False):
        """Returns the translations of @lines; the process ends after the last ones."""
        rows = [_row(line, self.sources).encode() for line in lines]
        with self._lock:
            # A thread writes, since the process writes too before it has read everything.
            writer = threading.Thread(target=self._write, args=(rows, last))
            writer.start()
            try:
                found = [self._process.stdout.readline() for _ in rows]
                writer.join()
            except BaseException:
                self._process.kill()  # else the next call would read the rest of these translations
                self._process.wait()
                raise
        if not all(line.endswith(b"\n") for line in found):
            raise Error(self._message())
        return [line[:-1].decode() for line in found]

    def _write(self, rows, last):
        try:
            self._process.stdin.writelines(rows)
            self._process.stdin.flush()
            if last:
                self._process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass  # the reader finds out why the process has ended

    def _message(self):
        self._process.wait()
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace").strip()
        return text.removeprefix("error: ") or f"plait ended with exit code {self._process.returncode}"

    def close(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.stdout.close()
        self._process.wait()
        self._errors.close()


_open = {}


def translate(run, lines, **settings):
    """Returns the translations of @lines by @run, a Run or a path.

    A line is a text or, for several sources, a list or a dictionary of them; factors, such as "a.case", follow the
    sources. None is a missing source. Settings are keys of [decode], such as beam=8. With fewer than MANY lines, the process stays open for the next call with equal
    run and settings.
    """
    run = run if isinstance(run, Run) else Run(run)
    lines = list(lines)
    if len(lines) >= MANY:
        with Translator(run, settings, batch=None) as translator:
            return translator.translate(lines, last=True)
    stamp = os.stat(run.path)
    key = (run.path, stamp.st_mtime_ns, stamp.st_ino, tuple(sorted(settings.items())))
    translator = _open.get(key)
    if translator is None or not translator.alive:
        translator = _open[key] = Translator(run, settings)
    return translator.translate(lines)


def close():
    """Ends all processes that translate keeps."""
    while _open:
        _open.popitem()[1].close()


atexit.register(close)
