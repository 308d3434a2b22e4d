#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints reference-cases.txt: small cases of every equation with outputs and all gradients, in float64.

    python3 tests/engine/layers/reference-cases.py > tests/engine/layers/reference-cases.txt
    python3 tests/engine/layers/reference-cases.py tests/engine/layers/reference-cases.txt    # checks the file

This script uses no code of plait. It computes the equations of the papers with numpy, one sentence at a time. Gradients
come from the chain rule over the few operations below, and are checked against finite differences of the outputs.
y = x W + b, and W is [in, out]. The gradients are those of the sum of outputs times cotangents.

Each array of the file has a line "CASE/KIND/NAME ROWS WIDTH", followed by a line for each row. The arrays of heads
follow each other. A vector is a row, except for maps to one number. Random numbers have three decimals, computed
numbers twelve digits.
"""
import itertools
import math
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)  # Meson's exit code for a skipped test

# Operations on arrays, with their backward passes.


class Node:
    """An array with the nodes from which it was computed and, for each of these, its backward function."""

    def __init__(self, value, *parents):
        self.value = np.asarray(value, dtype=np.float64)
        self.parents = parents
        self.gradient = np.zeros_like(self.value)

    def __add__(self, other):
        other = node(other)
        return Node(self.value + other.value, (self, lambda c: c), (other, lambda c: c))

    def __mul__(self, other):
        other = node(other)
        return Node(self.value * other.value, (self, lambda c: c * other.value), (other, lambda c: c * self.value))

    def __matmul__(self, other):
        left, right = np.atleast_2d(self.value), other.value.reshape(other.value.shape[0], -1)
        value = self.value @ other.value
        rows = (left.shape[0], right.shape[1])
        return Node(value,
                    (self, lambda c: (c.reshape(rows) @ right.T).reshape(self.value.shape)),
                    (other, lambda c: (left.T @ c.reshape(rows)).reshape(other.value.shape)))

    def __getitem__(self, key):
        def back(cotangent):
            whole = np.zeros_like(self.value)
            np.add.at(whole, key, cotangent)
            return whole
        return Node(self.value[key], (self, back))

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -node(other)

    def __rsub__(self, other):
        return node(other) - self

    __radd__ = __add__
    __rmul__ = __mul__

    @property
    def T(self):
        return Node(self.value.T, (self, lambda c: c.T))

    def flat(self):
        return Node(self.value.ravel(), (self, lambda c: c.reshape(self.value.shape)))

    @property
    def shape(self):
        return self.value.shape


def node(x):
    return x if isinstance(x, Node) else Node(x)


def pointwise(x, value, derivative):
    return Node(value, (x, lambda c: c * derivative))


def tanh(x):
    y = np.tanh(x.value)
    return pointwise(x, y, 1 - y * y)


def sigmoid(x):
    y = 1 / (1 + np.exp(-x.value))
    return pointwise(x, y, y * (1 - y))


def exp(x):
    y = np.exp(x.value)
    return pointwise(x, y, y)


def log(x):
    return pointwise(x, np.log(x.value), 1 / x.value)


def power(x, exponent):
    return pointwise(x, x.value ** exponent, exponent * x.value ** (exponent - 1))


def relu(x):
    return pointwise(x, np.maximum(x.value, 0), (x.value > 0) * 1.0)


def gelu(x):
    """Returns the exact GELU: x times the distribution function of the normal distribution."""
    below = 0.5 * (1 + np.vectorize(math.erf)(x.value / math.sqrt(2)))
    density = np.exp(-x.value ** 2 / 2) / math.sqrt(2 * math.pi)
    return pointwise(x, x.value * below, below + x.value * density)


def total(x, axis=None):
    value = x.value.sum(axis=axis, keepdims=axis is not None)
    return Node(value, (x, lambda c: np.broadcast_to(c, x.value.shape)))


def join(parts, axis=0):
    ends = np.cumsum([p.shape[axis] for p in parts])
    slices = [(slice(None),) * axis + (slice(end - p.shape[axis], end),) for p, end in zip(parts, ends)]
    return Node(np.concatenate([p.value for p in parts], axis),
                *((p, lambda c, s=s: c[s]) for p, s in zip(parts, slices)))


def stack(parts):
    return Node(np.stack([p.value for p in parts]), *((p, lambda c, i=i: c[i]) for i, p in enumerate(parts)))


def softmax(x):
    """Returns the softmax along the last axis. Subtracts the largest number first, which does not change the result."""
    e = exp(x - x.value.max(axis=-1, keepdims=True))
    return e * power(total(e, -1), -1)


def go_back(root):
    """Computes the gradients of all nodes from which the scalar @root was computed."""
    order, seen = [], set()

    def visit(x):
        if id(x) not in seen:
            seen.add(id(x))
            for parent, _ in x.parents:
                visit(parent)
            order.append(x)

    visit(root)
    root.gradient = np.ones_like(root.value)
    for x in reversed(order):
        for parent, back in x.parents:
            c = back(x.gradient)
            while c.ndim > parent.value.ndim:
                c = c.sum(axis=0)
            for axis, n in enumerate(parent.value.shape):
                if n != c.shape[axis]:
                    c = c.sum(axis=axis, keepdims=True)
            parent.gradient = parent.gradient + c


# Transformers: Vaswani et al. 2017, and Libovicky, Helcl & Marecek 2018 (paper 1), section 3.


def linear(x, w, name):
    """Returns x W + b, with W = w["W" + name] and b = w["b" + name], or without b if w does not have it."""
    y = x @ w["W" + name]
    return y + w["b" + name] if "b" + name in w else y


def heads_of(x, h):
    width = x.shape[1] // h
    return [x[:, i * width:(i + 1) * width] for i in range(h)]


def attend(q, m, w, h, causal=False):
    """Returns A (Q, K, V) of eq. 1-3 with h heads, and its weights [h, T, n]. No memory: zeros, and no weights."""
    if m.shape[0] == 0:
        return Node(np.zeros(q.shape)), None
    mask = np.triu(np.full((q.shape[0], m.shape[0]), -np.inf), 1) if causal else 0
    queries, keys, values = (heads_of(linear(x, w, part), h) for x, part in ((q, "q"), (m, "k"), (m, "v")))
    weights = [softmax(a @ b.T * (1 / math.sqrt(a.shape[1])) + mask) for a, b in zip(queries, keys)]
    return linear(join([a @ v for a, v in zip(weights, values)], 1), w, "o"), stack(weights)


def layer_norm(x, w):
    n = x.shape[1]
    centred = x - total(x, 1) * (1 / n)
    variance = total(centred * centred, 1) * (1 / n)
    return centred * power(variance + 1e-6, -0.5) * w["g"] + w["b"]


def feed_forward(x, w, activation):
    return linear(activation(linear(x, w, "1")), w, "2")


def below(w, prefix):
    """Returns the weights whose names begin with @prefix and "/", under their names without this beginning."""
    return {name[len(prefix) + 1:]: value for name, value in w.items() if name.startswith(prefix + "/")}


def encoder_layer(x, w, pre, activation):
    """Returns the output of a layer with norms before (pre: x + f (LN (x))) or after (LN (x + f (x)))."""
    first, second = below(w, "ln1"), below(w, "ln2")
    read = layer_norm(x, first) if pre else x
    y, weights = attend(read, read, below(w, "self"), 2)
    x = x + y if pre else layer_norm(x + y, first)
    y = feed_forward(layer_norm(x, second) if pre else x, below(w, "ff"), activation)
    return x + y if pre else layer_norm(x + y, second), weights


def combine(kind, x, memories, w, pre):
    """Returns the rows after the cross-attention of one decoder layer to several memories, with its residual
    connections, and the weights of each memory and of the contexts."""
    h = 2

    def residual(x, f, norm):
        return x + f(layer_norm(x, norm)) if pre else layer_norm(x + f(x), norm)

    weights, level2 = [None] * len(memories), None
    if kind == "serial":
        for i, m in enumerate(memories):
            def one(q, i=i, m=m):
                y, weights[i] = attend(q, m, below(w, "attend/%d" % i), h)
                return y
            if m.shape[0] > 0:
                x = residual(x, one, below(w, "ln/%d" % i))
        return x, weights, level2

    def several(q):
        nonlocal weights, level2
        if kind == "flat":  # eq. 5-6: one softmax over the rows of all memories
            y, joint = attend(q, join(memories), below(w, "attend/0"), h)
            starts = np.cumsum([0] + [m.shape[0] for m in memories])
            weights = [joint[:, :, a:b] for a, b in zip(starts, starts[1:])]
            return y
        contexts = []
        for i, m in enumerate(memories):
            y, weights[i] = attend(q, m, below(w, "attend/%d" % i), h)
            contexts.append(y)
        if kind == "parallel":  # eq. 4
            return sum(contexts[1:], contexts[0])
        # Eq. 7-8: each query attends to its own contexts, one for each memory that is present.
        there = [i for i, m in enumerate(memories) if m.shape[0] > 0]
        rows = [attend(q[t:t + 1], join([contexts[i][t:t + 1] for i in there]), below(w, "level2"), 4)
                for t in range(q.shape[0])]
        shares = np.zeros((4, q.shape[0], len(memories)))
        shares[:, :, there] = np.concatenate([r[1].value for r in rows], 1)
        level2 = Node(shares)
        return join([r[0] for r in rows])

    return residual(x, several, below(w, "ln")), weights, level2


def positions(layout, n, width):
    """Returns positions: sines and cosines in turn, with exponents 2i/d (Vaswani et al., section 3.5); or all sines,
    then all cosines, with frequencies from 1 to 1e-4 whose logarithms are evenly spaced."""
    half = width // 2
    at = np.arange(n)[:, None]
    if layout == "interleaved":
        angles = at * 1e4 ** (-2 * np.arange(half) / width)
        return Node(np.stack([np.sin(angles), np.cos(angles)], -1).reshape(n, width))
    angles = at * np.exp(-math.log(1e4) * np.arange(half) / (half - 1))
    return Node(np.concatenate([np.sin(angles), np.cos(angles)], 1))


def cross_entropy(x, table, targets, smoothing, others):
    """Returns the cross-entropy of the tied logits x E^T. Smoothing gives probability to all words (Szegedy et al.
    2016), or only to the other words."""
    logits = x @ table.T
    log_p = logits - log(total(exp(logits), 1))
    n = log_p.shape[1]
    shares = np.full(log_p.shape, smoothing / (n - 1 if others else n))
    for row, word in enumerate(targets):
        shares[row, word] = 1 - smoothing if others else shares[row, word] + 1 - smoothing
    return total(log_p * -shares, 1)[:, 0]


# The Hierarchical Attention Transformer: Rohde, Wu & Liu 2021. Its code is not public.

STARTS = [0, 3, 4]


def first_rows(x):
    return join([x[s:s + 1] for s in STARTS])


def sentence_memory(tokens, w, pre):
    """Section 3.2: an encoder layer that reads only the first rows of sentences; with pre-norm, followed by a norm."""
    y, _ = encoder_layer(first_rows(tokens), below(w, "layer"), pre, gelu)
    return layer_norm(y, below(w, "norm")) if pre else y


def hat_decoder_layer(x, tokens, sentences, w, pre):
    """Section 3.3: self-attention, attention to the tokens, attention to the sentences, feed-forward; with pre-norm,
    followed by a norm."""
    first, last = below(w, "ln1"), below(w, "ln3")
    read = layer_norm(x, first) if pre else x
    y, _ = attend(read, read, below(w, "self"), 2, True)
    x = x + y if pre else layer_norm(x + y, first)
    x, _, _ = combine("serial", x, [tokens, sentences], below(w, "combiner"), pre)
    y = feed_forward(layer_norm(x, last) if pre else x, below(w, "ff"), gelu)
    return layer_norm(x + y, below(w, "norm")) if pre else layer_norm(x + y, last)


def hat_layer(x, w, pre, readers):
    """Section 7: self-attention, then attention to the first rows of sentences by all rows, or only by these first
    rows."""
    def sublayer(x, f, norm):
        return x + f(layer_norm(x, norm)) if pre else layer_norm(x + f(x), norm)
    x = sublayer(x, lambda q: attend(q, q, below(w, "self"), 2)[0], below(w, "ln1"))
    if readers == "all":
        x = sublayer(x, lambda q: attend(q, first_rows(q), below(w, "sentence"), 2)[0], below(w, "ln2"))
    else:
        made = sublayer(first_rows(x), lambda q: attend(q, q, below(w, "sentence"), 2)[0], below(w, "ln2"))
        x = join([made[STARTS.index(i):STARTS.index(i) + 1] if i in STARTS else x[i:i + 1] for i in range(x.shape[0])])
    x = sublayer(x, lambda q: feed_forward(q, below(w, "ff"), gelu), below(w, "ln3"))
    return layer_norm(x, below(w, "norm")) if pre else x


# Relative positions: Su et al. 2021 (RoFormer), Press et al. 2022 (ALiBi).


def rotated(x, base=1e4):
    """Returns x with row m multiplied by the matrix of eq. 15: pair i of columns is rotated by m base^(-2 (i - 1) /
    d)."""
    d, rows = x.shape[1], []
    for m in range(x.shape[0]):
        matrix = np.zeros((d, d))
        for i in range(1, d // 2 + 1):
            angle = m * base ** (-2 * (i - 1) / d)
            a, b = 2 * i - 2, 2 * i - 1
            matrix[a, a], matrix[a, b], matrix[b, a], matrix[b, b] = (math.cos(angle), -math.sin(angle),
                                                                      math.sin(angle), math.cos(angle))
        rows.append(x[m:m + 1] @ Node(matrix.T))
    return join(rows)


def attend_to_itself(x, w, h, kind, causal, window):
    """Self-attention of h heads with relative positions, where a row sees rows at a distance below the window."""
    n = x.shape[0]
    distance = np.arange(n)[:, None] - np.arange(n)[None]
    unseen = (np.abs(distance) >= window) | (causal & (distance < 0))
    queries, keys, values = (heads_of(linear(x, w, part), h) for part in "qkv")
    weights = []
    for head, (q, k) in enumerate(zip(queries, keys)):
        if kind == "rotary":
            q, k = rotated(q), rotated(k)
        bias = -2.0 ** (-8 * (head + 1) / h) * np.abs(distance) if kind == "alibi" else 0  # h is a power of two
        weights.append(softmax(q @ k.T * (1 / math.sqrt(q.shape[1])) + np.where(unseen, -np.inf, bias)))
    return linear(join([a @ v for a, v in zip(weights, values)], 1), w, "o"), stack(weights)


# Decoders: Gehring et al. 2017 (ConvS2S), Feng et al. 2024 (minGRU).


def convolutional_decoder(e, memory, w, layers, size):
    """Section 3.1-3.3. e: embeddings with positions. As in the authors' code, every sum is multiplied by sqrt (.5)."""
    h, root = e, math.sqrt(0.5)
    for layer in range(layers):
        own = below(w, str(layer))
        padded = join([Node(np.zeros((size - 1, h.shape[1]))), h])
        read = join([join([padded[t + i:t + i + 1] for i in range(size)], 1) for t in range(h.shape[0])])
        y = linear(read, own, "c")
        half = y.shape[1] // 2
        h = (y[:, :half] * sigmoid(y[:, half:]) + h) * root  # the gated linear unit, A * sigmoid (B)
        d = linear(h, own, "d") + e                          # eq. 1
        h = (h + softmax(d @ memory.T) @ memory) * root      # eq. 2, with the memory as keys and values
    return h


def mingru(x, w):
    """Section 3.1.3: z = sigmoid (W_z x), c = W_h x, h = (1 - z) h' + z c, from zeros, one step after the other."""
    z, c = sigmoid(linear(x, w, "z")), linear(x, w, "h")
    h, rows = Node(np.zeros((1, z.shape[1]))), []
    for t in range(x.shape[0]):
        h = (1 - z[t:t + 1]) * h + z[t:t + 1] * c[t:t + 1]
        rows.append(h)
    y = join(rows)
    return linear(y, w, "o") if "Wo" in w else y


def mingru_layer(x, memory, w, pre):
    def sublayer(x, f, norm):
        return x + f(layer_norm(x, norm)) if pre else layer_norm(x + f(x), norm)
    x = sublayer(x, lambda q: mingru(q, below(w, "rnn")), below(w, "ln1"))
    x, _, _ = combine("serial", x, [memory], below(w, "combiner"), pre)
    x = sublayer(x, lambda q: feed_forward(q, below(w, "ff"), relu), below(w, "ln3"))
    return layer_norm(x, below(w, "norm")) if pre else x


# Group attention: Bao et al. 2021. Sentence numbers are the group tags of rows, eq. 2-3.

SOURCE_GROUPS, TARGET_GROUPS = [1, 1, 1, 2, 3, 3], [1, 1, 2, 3]


def group_attend(q, m, q_groups, m_groups, w, causal=False):
    """Eq. 4-6: softmax (Q K^T / sqrt (d) + M (G_Q, G_K)) V, with M = min (1, |G_Q I^T - I G_K^T|) C."""
    mask = np.minimum(1, np.abs(np.subtract.outer(q_groups, m_groups))) * -1e8
    if causal:
        mask = mask + np.triu(np.full(mask.shape, -1e8), 1)
    queries, keys, values = (heads_of(linear(x, w, part), 2) for x, part in ((q, "q"), (m, "k"), (m, "v")))
    weights = [softmax(a @ b.T * (1 / math.sqrt(a.shape[1])) + mask) for a, b in zip(queries, keys)]
    return linear(join([a @ v for a, v in zip(weights, values)], 1), w, "o")


def combined_attend(q, m, q_groups, m_groups, w, causal=False):
    """Eq. 7-8: g = sigmoid ([H_L, H_G] W + b), H = H_L * g + H_G * (1 - g)."""
    local = group_attend(q, m, q_groups, m_groups, below(w, "local"), causal)
    everything, _ = attend(q, m, below(w, "global"), 2, causal)
    g = sigmoid(linear(join([local, everything], 1), w, "g"))
    return local * g + everything * (g * -1 + 1)


def group_stack(x, w, pre, layers):
    """An encoder whose layers read only the own sentence ("group"), or the sentence and the document ("combined")."""
    for i, kind in enumerate(layers):
        layer = below(w, str(i))
        first, second = below(layer, "ln1"), below(layer, "ln2")
        read = layer_norm(x, first) if pre else x
        y = (group_attend if kind == "group" else combined_attend)(read, read, SOURCE_GROUPS, SOURCE_GROUPS,
                                                                  below(layer, "self"))
        x = x + y if pre else layer_norm(x + y, first)
        y = feed_forward(layer_norm(x, second) if pre else x, below(layer, "ff"), relu)
        x = x + y if pre else layer_norm(x + y, second)
    return layer_norm(x, below(w, "norm")) if pre else x


def group_decoder(words, tokens, w, pre, layers, self_groups):
    """Layers whose cross-attention is "group" or "combined"; so is self-attention if self_groups, else it reads the
    whole target so far. The first word is the start token, which begins each sentence of the target."""
    x = join([words[i:i + 1] for i in (0, 1, 0, 0)])
    for i, kind in enumerate(layers):
        layer = below(w, str(i))
        first, second, last = (below(layer, name) for name in ("ln1", "ln2", "ln3"))
        read = layer_norm(x, first) if pre else x
        if self_groups:
            y = (group_attend if kind == "group" else combined_attend)(read, read, TARGET_GROUPS, TARGET_GROUPS,
                                                                      below(layer, "self"), True)
        else:
            y, _ = attend(read, read, below(layer, "self"), 2, True)
        x = x + y if pre else layer_norm(x + y, first)
        read = layer_norm(x, second) if pre else x
        y = (group_attend if kind == "group" else combined_attend)(read, tokens, TARGET_GROUPS, SOURCE_GROUPS,
                                                                  below(layer, "cross"))
        x = x + y if pre else layer_norm(x + y, second)
        y = feed_forward(layer_norm(x, last) if pre else x, below(layer, "ff"), gelu)
        x = x + y if pre else layer_norm(x + y, last)
    return layer_norm(x, below(w, "norm")) if pre else x


# Recurrent cells: Cho et al. 2014b (the update gate keeps the old state), Hochreiter & Schmidhuber 1997.


def gate(x, h, w, letter):
    return sigmoid(x @ w["W" + letter] + h @ w["U" + letter] + w["b" + letter])


def gru(x, h, w, reset):
    """Returns the state after a step. The reset gate multiplies the state before the product with U, or the
    product, which may include a bias (dl4mt)."""
    r, z = gate(x, h, w, "r"), gate(x, h, w, "z")
    if reset == "before":
        candidate = tanh(x @ w["Wh"] + (r * h) @ w["Uh"] + w["bh"])
    else:
        product = h @ w["Uh"]
        candidate = tanh(x @ w["Wh"] + r * (product + w["ch"] if "ch" in w else product) + w["bh"])
    return z * h + (1 - z) * candidate


def lstm(x, h, c, w):
    i, f, o = (gate(x, h, w, letter) for letter in "ifo")
    c = f * c + i * tanh(x @ w["Wg"] + h @ w["Ug"] + w["bg"])
    return o * tanh(c), c


def run_gru(x, w, reset, backwards=False):
    h = Node(np.zeros(w["bh"].shape))
    states = [None] * x.shape[0]
    for t in sorted(range(x.shape[0]), reverse=backwards):
        states[t] = h = gru(x[t], h, w, reset)
    return stack(states)


def run_lstm(x, w, backwards=False):
    h = c = Node(np.zeros(w["bi"].shape))
    states = [None] * x.shape[0]
    for t in sorted(range(x.shape[0]), reverse=backwards):
        states[t] = h, c = lstm(x[t], h, c, w)
    return stack([s[0] for s in states]), stack([s[1] for s in states])


# Recurrent decoders: Bahdanau et al. 2015, Luong et al. 2015, Chen et al. 2017 (eq. 1-7), Libovicky & Helcl 2017.


def additive(q, rows, w):
    """Returns the scores v tanh (q W + h U + b) of all rows h, plus the bias e0 if w has it."""
    scores = tanh(q @ w["W"] + rows @ w["U"] + w["b"]) @ w["v"]
    return scores + w["e0"] if "e0" in w else scores


def read(q, m, w, score):
    """Returns context and weights. Without a memory, the context is zeros."""
    if m.shape[0] == 0:
        return Node(np.zeros(m.shape[1])), None
    scores = {"additive": lambda: additive(q, m, w), "dot": lambda: m @ q,
              "multiplicative": lambda: m @ (q @ w["W"])}[score]()
    weights = softmax(scores)
    return weights @ m, weights


def read_items(q, items, parameters, joint):
    """Attends with one softmax to the rows of several items. Each item has its own U, b, e0 and, if there are any, V,
    d."""
    there = [i for i, rows in enumerate(items) if rows.shape[0] > 0]
    both = [dict(parameters[i], **joint) for i in there]
    shares = softmax(join([additive(q, items[i], w) for i, w in zip(there, both)]))
    values = [items[i] @ w["V"] + w["d"] if "V" in w else items[i] for i, w in zip(there, both)]
    ends = np.cumsum([0] + [items[i].shape[0] for i in there])
    weights = [None] * len(items)
    for k, i in enumerate(there):
        weights[i] = shares[int(ends[k]):int(ends[k + 1])]
    return shares @ join(values), weights


def sentinel(q, s, y, w):
    """Returns the sentinel of Libovicky & Helcl 2017: the query times a gate, which reads the last state and the
    word."""
    return sigmoid(join([s, y]) @ w["W"] + w["b"]) * q


def recurrent_combine(kind, q, s, y, memories, w):
    """Returns the context of query @q after state @s and word @y, and the weights of each memory, of the contexts and
    of the sentinel."""
    n = len(memories)
    attends = [below(w, "attend/%d" % i) for i in range(n)]
    joint, psi = below(w, "joint"), below(w, "psi")
    extra = [sentinel(q, s, y, below(w, "sentinel"))[None]] if kind.endswith("_sentinel") else []
    if kind.startswith("flat"):
        parameters = attends[:1] * n if kind == "flat_shared" else attends
        context, weights = read_items(q, memories + extra, parameters + [psi], joint)
        return context, weights[:n], None, weights[n] if extra else None
    contexts, weights = [], []
    for i, m in enumerate(memories):
        context, shares = read(q, m, attends[i], "additive")
        contexts.append(context)
        weights.append(shares)
        if kind == "serial" and i < n - 1:
            q = q + context @ w["R/%d" % i]
    if kind == "serial" or kind == "parallel":
        return sum(contexts[1:], contexts[0]), weights, None, None
    items = [context[None] if m.shape[0] > 0 else m for context, m in zip(contexts, memories)] + extra
    context, level2 = read_items(q, items, [below(w, "level2/%d" % i) for i in range(n)] + [psi], joint)
    shares = [Node(np.zeros(1)) if share is None else share for share in level2]
    return context, weights, join(shares), None


def decoder(kind, conditional, s, ys, memories, w):
    """Runs the steps of a decoder. Its GRU reads the word, and the context whose query is the last state. If
    conditional, the query is the state of a first GRU, and a second GRU reads the context (dl4mt)."""
    found = {}

    def keep(name, value):
        if value is not None:
            found.setdefault(name, []).append(value)

    for t in range(ys.shape[0]):
        y = ys[t]
        q = gru(y, s, below(w, "gru1"), "after") if conditional else s
        context, weights, level2, psi = recurrent_combine(kind, q, s, y, memories, below(w, "combiner"))
        s = gru(context, q, below(w, "gru2"), "after") if conditional else gru(join([y, context]), s,
                                                                               below(w, "gru"), "before")
        out = below(w, "out")
        logits = tanh(s @ out["W1"] + y @ out["W2"] + context @ out["W3"] + out["b1"]) @ out["W"] + out["b"]
        for name, value in (("state", s), ("context", context), ("logits", logits), ("level2", level2), ("psi", psi)):
            keep(name, value)
        for i, share in enumerate(weights):
            keep("weights%d" % i, share)
    return {name: stack(rows) for name, rows in found.items()}


def luong(s, c, feed, ys, m, w):
    """Runs the steps of a decoder with input feeding (Luong et al. 2015, section 3.3): it reads the last output too."""
    rows = {name: [] for name in ("state", "cell", "feed", "logits", "weights")}
    for t in range(ys.shape[0]):
        s, c = lstm(join([ys[t], feed]), s, c, below(w, "lstm"))
        context, weights = read(s, m, {}, "dot")
        feed = tanh(join([s, context]) @ w["Wc"] + w["bc"])
        for name, value in (("state", s), ("cell", c), ("feed", feed), ("logits", feed @ w["W"] + w["b"]),
                            ("weights", weights)):
            rows[name].append(value)
    return {name: stack(values) for name, values in rows.items()}


# Trees: Tai et al. 2015 (eq. 9-14), Chen et al. 2017 (eq. 8-10), Teng & Zhang 2016. Rows are leaves, then nodes,
# each after its children. @nodes has the two children of each node.


def of_children(l, r, w, name, x=None):
    y = l @ w["L" + name] + r @ w["R" + name]
    if x is not None:
        y = y + x @ w["X" + name]
    return y + w["b" + name] if "b" + name in w else y


def tree_gru(leaves, nodes, w, reset, inputs=None):
    rows = [leaves[i] for i in range(leaves.shape[0])]
    for left, right in nodes:
        l, r, x = rows[left], rows[right], None if inputs is None else inputs[len(rows)]
        rl, rr, zl, zr, z = (sigmoid(of_children(l, r, w, name, x)) for name in ("rl", "rr", "zl", "zr", "z"))
        if reset == "before":
            candidate = of_children(rl * l, rr * r, w, "h", x)
        else:
            candidate = rl * (l @ w["Lh"]) + rr * (r @ w["Rh"]) + w["bh"]
        rows.append(zl * l + zr * r + z * tanh(candidate))
    return stack(rows)


def tree_lstm(h, c, nodes, w):
    hs, cs = ([x[i] for i in range(x.shape[0])] for x in (h, c))
    for left, right in nodes:
        i, fl, fr, o = (sigmoid(of_children(hs[left], hs[right], w, name)) for name in ("i", "fl", "fr", "o"))
        cs.append(i * tanh(of_children(hs[left], hs[right], w, "u")) + fl * cs[left] + fr * cs[right])
        hs.append(o * tanh(cs[-1]))
    return stack(hs), stack(cs)


def top_down(up, nodes, w, reset, root):
    """Computes the states top-down: that of the root from its own row, by tanh (W h + b) or by a step of the left cell
    from zeros; that of each child from its own row and the parent's state."""
    rows = [None] * up.shape[0]
    last = len(rows) - 1
    if root == "tanh":
        rows[last] = tanh(up[last] @ w["root/W"] + w["root/b"])
    else:
        rows[last] = gru(up[last], Node(np.zeros(up.shape[1])), below(w, "L"), reset)
    for parent in range(last, last - len(nodes), -1):
        for child, side in zip(nodes[parent - (len(rows) - len(nodes))], "LR"):
            rows[child] = gru(up[child], rows[parent], below(w, side), reset)
    return stack(rows)


def heads_of_nodes(words, nodes, w):
    """Returns the head word of each row: a gate mixes the words of the children."""
    rows = [words[i] for i in range(words.shape[0])]
    for left, right in nodes:
        g = sigmoid(of_children(rows[left], rows[right], w, "g"))
        rows.append(g * rows[left] + (1 - g) * rows[right])
    return stack(rows)


# Coverage: Chen et al. 2017 (eq. 11-13, section 5), Tu et al. 2016.


def update_coverage(kind, c, m, a, s, w, nodes):
    """Returns the coverage of every row after the attention @a of state @s: a GRU step for each row, or with fertility
    the attention so far divided by the row's fertility. Rows at the ends have no neighbours beyond them."""
    n = m.shape[0]
    if kind == "fertility":
        return c + a[:, None] * power(2 * sigmoid(m @ w["f"] + w["fb"]), -1)[:, None]
    children = [None] * (n - len(nodes)) + list(nodes)
    rows = []
    for j in range(n):
        def term(name, old, j=j):
            y = a[j] * w["a" + name] + old @ w["C" + name] + m[j] @ w["H" + name] + s @ w["S" + name] + w["b" + name]
            if kind == "tree" and children[j]:
                for side, child in zip("LR", children[j]):
                    y = y + a[child] * w[side + "a" + name] + c[child] @ w[side + "C" + name]
            if kind == "neighbour":
                for side, other in (("P", j - 1), ("N", j + 1)):
                    if 0 <= other < n:
                        y = y + c[other] @ w[side + "C" + name]
            return y
        r, z = sigmoid(term("r", c[j])), sigmoid(term("z", c[j]))
        rows.append(z * c[j] + (1 - z) * tanh(term("h", r * c[j])))
    return stack(rows)


def attend_covered(kind, queries, m, w, nodes):
    attention, own = below(w, "att"), below(w, "cov")
    c = Node(np.zeros((m.shape[0], own["V"].shape[0])))
    contexts, weights, states = [], [], [c]
    for t in range(queries.shape[0]):
        q = queries[t]
        scores = tanh(q @ attention["W"] + m @ attention["U"] + attention["b"] + c @ own["V"]) @ attention["v"]
        a = softmax(scores)
        contexts.append(a @ m)
        weights.append(a)
        c = update_coverage(kind, c, m, a, q, own, nodes)
        states.append(c)
    return {"context": stack(contexts), "weights": stack(weights), "coverage": stack(states)}


# Pyramids: Gupta & Ahmed, Attention on Hierarchical Representation of Inputs; Graves 2016 (eq. 5-9), Dong & Xu 2020 (3.2).


def pool(kind, rows, w):
    """Returns the vector of a block of up to three rows."""
    n, width = rows.shape
    if kind == "mean":
        return total(rows, 0)[0] * (1 / n)
    if kind == "conv":
        return join([rows, Node(np.zeros((3 - n, width)))]).flat() @ w["W"] + w["b"]
    states = run_gru(rows, w, "before") if kind == "gru" else run_lstm(rows, w)[0]
    return states[n - 1]


def pyramid(kind, m, w):
    levels = [m]
    for level in range(2):
        below_it = levels[-1]
        levels.append(stack([pool(kind, below_it[i:i + 3], below(w, "pool/%d" % level))
                             for i in range(0, below_it.shape[0], 3)]))
    return levels


def descend(q, levels, w):
    """Returns the weights of the leaves. The top level has a softmax; each block below has a softmax times its parent's
    weight."""
    parents, blocks = None, [slice(0, levels[-1].shape[0])]
    for number in reversed(range(len(levels))):
        rows = levels[number]
        shares = [softmax(additive(q, rows[block], below(w, "score/%d" % number))) for block in blocks]
        parents = join([share if parents is None else share * parents[i] for i, share in enumerate(shares)])
        blocks = [slice(i * 3, i * 3 + 3) for i in range(rows.shape[0])]
    return parents


def halt(m, w):
    """Cuts rows into blocks. A block ends when its numbers add up to at least 1 - 0.01; its last row gets the rest to
    1. Returns the shares, the starts, and the cost, which is the sum of N + R."""
    h = sigmoid(m @ w["w"] + w["b"])
    shares, starts, remainders = [], [], []
    start = 0
    for i in range(m.shape[0]):
        if i + 1 < m.shape[0] and h.value[start:i + 1].sum() < 0.99:
            shares.append(h[i])
            continue
        remainders.append(1 - total(h[start:i]))
        shares.append(remainders[-1])
        starts.append(start)
        start = i + 1
    return stack(shares), starts, total(stack(remainders)) + m.shape[0]


def fire(m, w):
    """Cuts rows into blocks. The number of a row fills its block up to 1, and the rest of it begins the next block. The
    rest at the end is a block if it is above one half. Returns the shares of each block, and the starts."""
    a = sigmoid(m @ w["w"] + w["b"])
    blocks, parts, filled = [], {}, Node(0.0)
    for i in range(m.shape[0]):
        if filled.value + a.value[i] < 1:
            parts[i], filled = a[i], filled + a[i]
        else:
            parts[i] = 1 - filled
            filled = a[i] - parts[i]
            blocks.append(parts)
            parts = {i: filled}
    if filled.value > 0.5:
        blocks.append(parts)
    zero = Node(0.0)
    return stack([stack([b.get(i, zero) for i in range(m.shape[0])]) for b in blocks]), [min(b) for b in blocks]


# The cases: shapes of inputs and weights, the outputs that have cotangents, and the function that computes the outputs.


def under(prefix, shapes):
    return {prefix + "/" + name: shape for name, shape in shapes.items()}


def cell_shapes(gates, width, d, more=()):
    shapes = {"W" + g: (width, d) for g in gates}
    shapes.update({"U" + g: (d, d) for g in gates})
    shapes.update({"b" + g: (d,) for g in gates})
    return dict(shapes, **{name: (d,) for name in more})


def attention_shapes(biases):
    shapes = {"W" + part: (8, 8) for part in "qkvo"}
    return dict(shapes, **{"b" + part: (8,) for part in "qkvo"}) if biases else shapes


NORM = {"g": (8,), "b": (8,)}
FEED_FORWARD = {"W1": (8, 12), "b1": (12,), "W2": (12, 8), "b2": (8,)}
BALANCED5 = [(0, 1), (3, 4), (2, 6), (5, 7)]
LEFT4 = [(0, 1), (4, 2), (5, 3)]
RANDOM7 = [(1, 2), (0, 7), (3, 4), (5, 6), (9, 10), (8, 11)]


def attend_case(biases, causal):
    def forward(x, w):
        y, weights = attend(x["q"], x["m"], w, 2, causal)
        return {"y": y, "weights": weights}
    return {"q": (5, 8), "m": (5, 8)}, attention_shapes(biases), ["y"], forward


def cross_entropy_case(others):
    return ({"x": (4, 8)}, {"E": (5, 8)}, ["loss"],
            lambda x, w: {"loss": cross_entropy(x["x"], w["E"], [0, 3, 4, 1], 0.1, others)})


def encoder_case(pre, biases, activation):
    def forward(x, w):
        y, weights = encoder_layer(x["x"], w, pre, activation)
        return {"y": y, "weights": weights}
    shapes = dict(under("ln1", NORM), **under("ln2", NORM), **under("self", attention_shapes(biases)),
                  **under("ff", FEED_FORWARD))
    return {"x": (4, 8)}, shapes, ["y"], forward


def hat_case(pre):
    attention = attention_shapes(not pre)

    def forward(x, w):
        sentences = sentence_memory(x["tokens"], below(w, "encoder"), pre)
        return {"sentences": sentences, "y": hat_decoder_layer(x["x"], x["tokens"], sentences, below(w, "decoder"), pre)}
    layer = dict(under("ln1", NORM), **under("ln2", NORM), **under("self", attention), **under("ff", FEED_FORWARD))
    decoder = dict(under("ln1", NORM), **under("ln3", NORM), **under("self", attention), **under("ff", FEED_FORWARD))
    for i in range(2):
        decoder.update(under("combiner/attend/%d" % i, attention), **under("combiner/ln/%d" % i, NORM))
    shapes = dict(under("encoder/layer", layer), **under("decoder", decoder))
    if pre:
        shapes.update(under("encoder/norm", NORM), **under("decoder/norm", NORM))
    return {"tokens": (6, 8), "x": (3, 8)}, shapes, ["sentences", "y"], forward


def hat_layer_case(pre, readers):
    attention = attention_shapes(not pre)
    shapes = dict(under("self", attention), **under("sentence", attention), **under("ff", FEED_FORWARD))
    for name in ["ln1", "ln2", "ln3"] + ["norm"] * pre:
        shapes.update(under(name, NORM))
    return ({"tokens": (6, 8)}, shapes, ["tokens", "sentences"],
            lambda x, w: (lambda y: {"tokens": y, "sentences": first_rows(y)})(hat_layer(x["tokens"], w, pre, readers)))


def combined_shapes(biases):
    return dict(under("local", attention_shapes(biases)), **under("global", attention_shapes(biases)),
                **{"Wg": (16, 8), "bg": (8,)})


def group_encoder_case(pre):
    layers, shapes = ["group", "combined"], under("norm", NORM) if pre else {}
    for i, kind in enumerate(layers):
        attention = attention_shapes(not pre) if kind == "group" else combined_shapes(not pre)
        layer = dict(under("ln1", NORM), **under("ln2", NORM), **under("self", attention), **under("ff", FEED_FORWARD))
        shapes.update(under(str(i), layer))
    return ({"tokens": (6, 8)}, shapes, ["y"], lambda x, w: {"y": group_stack(x["tokens"], w, pre, layers)})


def group_decoder_case(pre, self_groups=False):
    layers, shapes = ["group", "combined"], under("norm", NORM) if pre else {}
    for i, kind in enumerate(layers):
        attention = attention_shapes(not pre) if kind == "group" else combined_shapes(not pre)
        layer = dict(under("self", attention if self_groups else attention_shapes(not pre)),
                     **under("cross", attention), **under("ff", FEED_FORWARD))
        for name in ["ln1", "ln2", "ln3"]:
            layer.update(under(name, NORM))
        shapes.update(under(str(i), layer))
    return ({"tokens": (6, 8), "x": (2, 8)}, shapes, ["y"],
            lambda x, w: {"y": group_decoder(x["x"], x["tokens"], w, pre, layers, self_groups)})


def combiner_case(kind, pre):
    rows = [3, 0, 4]

    def forward(x, w):
        y, weights, level2 = combine(kind, x["x"], [x["memory%d" % i] for i in range(3)], w, pre)
        outputs = {"weights%d" % i: weights[i] for i in range(3) if rows[i] > 0}
        return dict(outputs, y=y, **({} if level2 is None else {"level2": level2}))
    shapes = {}
    for i in range(1 if kind == "flat" else 3):
        shapes.update(under("attend/%d" % i, attention_shapes(not pre)))
        if kind == "serial":
            shapes.update(under("ln/%d" % i, NORM))
    if kind != "serial":
        shapes.update(under("ln", NORM))
    if kind == "hierarchical":
        shapes.update(under("level2", attention_shapes(not pre)))
    inputs = dict({"memory%d" % i: (n, 8) for i, n in enumerate(rows)}, x=(3, 8))
    return inputs, shapes, ["y"], forward


def gru_case(reset, more=()):
    return ({"x": (5, 6)}, cell_shapes("rzh", 6, 4, more), ["h", "reversed"],
            lambda x, w: {"h": run_gru(x["x"], w, reset), "reversed": run_gru(x["x"], w, reset, True)})


def lstm_case():
    def forward(x, w):
        h, c = run_lstm(x["x"], w)
        return {"h": h, "c": c}
    return {"x": (5, 6)}, cell_shapes("ifgo", 6, 4), ["h", "c"], forward


def bigru_case():
    shapes = cell_shapes("rzh", 6, 4)
    return ({"x": (5, 6)}, dict(under("fwd", shapes), **under("bwd", shapes)), ["h"],
            lambda x, w: {"h": join([run_gru(x["x"], below(w, "fwd"), "before"),
                                     run_gru(x["x"], below(w, "bwd"), "before", True)], 1)})


def bilstm_case():
    def forward(x, w):
        both = zip(run_lstm(x["x"], below(w, "fwd")), run_lstm(x["x"], below(w, "bwd"), True))
        return dict(zip("hc", (join(pair, 1) for pair in both)))
    shapes = cell_shapes("ifgo", 6, 4)
    return {"x": (5, 6)}, dict(under("fwd", shapes), **under("bwd", shapes)), ["h", "c"], forward


def recurrent_combiner_shapes(kind, n):
    """Returns the shapes of weights. The width is 8 for memories, 6 for states, 4 for words, 7 for keys, 5 for
    projected values."""
    item = {"U": (8, 7), "b": (7,), "e0": (), "V": (8, 5), "d": (5,)}
    joint = {"joint/W": (6, 7), "joint/v": (7,)}
    shapes = {}
    if kind == "flat_shared":
        return dict(joint, **under("attend/0", {"U": (8, 7), "b": (7,)}))
    for i in range(n):
        own = item if kind.startswith("flat") else {"U": (8, 7), "W": (6, 7), "b": (7,), "v": (7,)}
        shapes.update(under("attend/%d" % i, own))
        if kind.startswith("hierarchical"):
            shapes.update(under("level2/%d" % i, item))
        if kind == "serial" and i < n - 1:
            shapes["R/%d" % i] = (8, 6)
    if kind not in ("serial", "parallel"):
        shapes.update(joint)
    if kind.endswith("_sentinel"):
        shapes.update(under("psi", dict(item, U=(6, 7), V=(6, 5))), **{"sentinel/W": (10, 6), "sentinel/b": (6,)})
    return shapes


def decoder_case(kind, conditional, rows, losses=None):
    projected = kind in ("flat", "flat_sentinel", "hierarchical", "hierarchical_sentinel")
    context = 5 if projected else 8

    def forward(x, w):
        outputs = decoder(kind, conditional, x["s0"], x["y"], [x["memory%d" % i] for i in range(len(rows))], w)
        if losses:
            log_p = outputs["logits"] - log(total(exp(outputs["logits"]), 1))
            outputs["losses"] = stack([-log_p[t, word] for t, word in enumerate(losses)])
        return outputs
    shapes = under("combiner", recurrent_combiner_shapes(kind, len(rows)))
    if conditional:
        shapes.update(under("gru1", cell_shapes("rzh", 4, 6)), **under("gru2", cell_shapes("rzh", context, 6, ["ch"])))
    else:
        shapes.update(under("gru", cell_shapes("rzh", 4 + context, 6)))
    shapes.update(under("out", {"W1": (6, 7), "W2": (4, 7), "W3": (context, 7), "b1": (7,), "W": (7, 9), "b": (9,)}))
    inputs = dict({"memory%d" % i: (n, 8) for i, n in enumerate(rows)}, s0=(6,), y=(3, 4))
    return inputs, shapes, ["state", "context", "logits"], forward


def luong_case():
    return ({"s0": (6,), "c0": (6,), "feed": (6,), "y": (3, 4), "m": (4, 6)},
            dict(under("lstm", cell_shapes("ifgo", 10, 6)), Wc=(12, 6), bc=(6,), W=(6, 9), b=(9,)),
            ["state", "cell", "feed", "logits"],
            lambda x, w: luong(x["s0"], x["c0"], x["feed"], x["y"], x["m"], w))


def read_case(score, weights):
    def forward(x, w):
        context, shares = read(x["q"], x["m"], w, score)
        return {"context": context, "weights": shares}
    return {"q": (8,), "m": (5, 8)}, weights, ["context"], forward


def tree_gru_shapes(candidate_bias, inputs=0):
    gates = ["rl", "rr", "zl", "zr", "z", "h"]
    shapes = {side + g: (4, 4) for side in "LR" for g in gates}
    shapes.update({"b" + g: (4,) for g in gates if g != "h" or candidate_bias})
    return dict(shapes, **{"X" + g: (inputs, 4) for g in gates}) if inputs else shapes


def bidirectional_case(words, nodes, reset, root):
    def forward(x, w):
        up = tree_gru(x["h"], nodes, below(w, "up"), reset)
        return {"rows": join([up, top_down(up, nodes, below(w, "down"), reset, root)], 1)}
    shapes = dict(under("up", tree_gru_shapes(reset == "after")), **{"down/root/W": (4, 4), "down/root/b": (4,)})
    for side in "LR":
        shapes.update(under("down/" + side, cell_shapes("rzh", 4, 4)))
    return {"h": (words, 4)}, shapes, ["rows"], forward


def tree_lstm_case():
    def forward(x, w):
        return dict(zip("hc", tree_lstm(x["h"], x["c"], RANDOM7, w)))
    gates = ["i", "fl", "fr", "o", "u"]
    shapes = dict({side + g: (4, 4) for side in "LR" for g in gates}, **{"b" + g: (4,) for g in gates})
    return {"h": (7, 4), "c": (7, 4)}, shapes, ["h", "c"], forward


def lexical_case():
    def forward(x, w):
        words = heads_of_nodes(x["e"], RANDOM7, below(w, "head"))
        return {"x": words, "rows": tree_gru(x["h"], RANDOM7, below(w, "up"), "before", words)}
    shapes = dict(under("up", tree_gru_shapes(True, 3)), **under("head", {"Lg": (3, 3), "Rg": (3, 3), "bg": (3,)}))
    return {"h": (7, 4), "e": (7, 3)}, shapes, ["rows", "x"], forward


def coverage_case(kind):
    own = {"V": (1, 7), "f": (6,), "fb": ()} if kind == "fertility" else {"V": (3, 7)}
    for g in "rzh" if kind != "fertility" else "":
        own.update({"C" + g: (3, 3), "H" + g: (6, 3), "S" + g: (6, 3), "a" + g: (3,), "b" + g: (3,)})
        for side in {"tree": "LR", "neighbour": "PN"}.get(kind, ""):
            own[side + "C" + g] = (3, 3)
            if kind == "tree":
                own[side + "a" + g] = (3,)
    shapes = dict(under("att", {"U": (6, 7), "W": (6, 7), "b": (7,), "v": (7,)}), **under("cov", own))
    return ({"m": (7, 6), "q": (4, 6)}, shapes, ["context", "coverage"],
            lambda x, w: attend_covered(kind, x["q"], x["m"], w, LEFT4))


def pyramid_case(kind):
    def forward(x, w):
        levels = pyramid(kind, x["m"], w)
        weights = descend(x["q"], levels, w)
        return {"level1": levels[1], "level2": levels[2], "weights": weights, "context": weights @ x["m"]}
    shapes = {"gru": cell_shapes("rzh", 6, 6), "lstm": cell_shapes("ifgo", 6, 6), "conv": {"W": (18, 6), "b": (6,)},
              "mean": {}}[kind]
    both = dict(under("pool/0", shapes), **under("pool/1", shapes))
    for level in range(3):
        both.update(under("score/%d" % level, {"W": (5, 7), "U": (6, 7), "b": (7,), "v": (7,)}))
    return {"m": (11, 6), "q": (5,)}, both, ["level1", "level2", "context"], forward


def halt_case():
    def forward(x, w):
        shares, starts, cost = halt(x["m"], w)
        ends = starts[1:] + [9]
        rows = stack([shares[a:b] @ x["m"][a:b] for a, b in zip(starts, ends)])
        return {"rows": rows, "weight": shares, "starts": Node(starts), "cost": cost}
    return {"m": (9, 6)}, {"w": (6,), "b": ()}, ["rows", "weight", "cost"], forward


def relative_case(kind, causal, window):
    def forward(x, w):
        y, weights = attend_to_itself(x["x"], w, 2, kind, causal, window)
        return {"y": y, "weights": weights}
    return {"x": (6, 8)}, attention_shapes(True), ["y"], forward


def convolutional_case():
    shapes = {}
    for layer in range(2):
        shapes.update(under(str(layer), {"Wc": (24, 16), "bc": (16,), "Wd": (8, 8), "bd": (8,)}))
    return ({"x": (5, 8), "memory": (4, 8)}, shapes, ["y"],
            lambda x, w: {"y": convolutional_decoder(x["x"], x["memory"], w, 2, 3)})


def mingru_case(pre, expansion):
    rnn = {"Wz": (8, 8 * expansion), "bz": (8 * expansion,), "Wh": (8, 8 * expansion), "bh": (8 * expansion,)}
    if expansion > 1:
        rnn.update({"Wo": (8 * expansion, 8), "bo": (8,)})
    shapes = dict(under("rnn", rnn), **under("ln1", NORM), **under("ln3", NORM), **under("ff", FEED_FORWARD),
                  **under("combiner/attend/0", attention_shapes(not pre)), **under("combiner/ln/0", NORM))
    if pre:
        shapes.update(under("norm", NORM))
    return ({"x": (5, 8), "memory": (4, 8)}, shapes, ["y"],
            lambda x, w: {"y": mingru_layer(x["x"], x["memory"], w, pre)})


def fire_case():
    def forward(x, w):
        shares, starts = fire(x["m"], w)
        return {"rows": shares @ x["m"], "weight": shares, "starts": Node(starts)}
    return {"m": (9, 6)}, {"w": (6,), "b": ()}, ["rows", "weight"], forward


CASES = {
    "transformer/attend": attend_case(False, False),
    "transformer/attend_bias_causal": attend_case(True, True),
    "transformer/cross_entropy_0.1": cross_entropy_case(False),
    "transformer/cross_entropy_0.1_others": cross_entropy_case(True),
    "transformer/encoder_pre_relu": encoder_case(True, False, relu),
    "transformer/encoder_post_gelu": encoder_case(False, True, gelu),
    "transformer/layer_norm_1e-06": ({"x": (3, 8)}, NORM, ["y"], lambda x, w: {"y": layer_norm(x["x"], w)}),
    "transformer/positions_interleaved": ({}, {}, [], lambda x, w: {"y": positions("interleaved", 7, 8)}),
    "transformer/positions_concatenated": ({}, {}, [], lambda x, w: {"y": positions("concatenated", 7, 8)}),
    "combiner/flat_post_304": combiner_case("flat", False),
    "combiner/hierarchical_pre_304": combiner_case("hierarchical", True),
    "combiner/parallel_post_304": combiner_case("parallel", False),
    "combiner/serial_pre_304": combiner_case("serial", True),
    "recurrent/gru_before": gru_case("before"),
    "recurrent/gru_after": gru_case("after"),
    "recurrent/gru_after_ch": gru_case("after", ["ch"]),
    "recurrent/lstm": lstm_case(),
    "recurrent/bigru_before": bigru_case(),
    "recurrent/bilstm": bilstm_case(),
    "recurrent/conditional_flat_32": decoder_case("flat", True, [3, 2]),
    "recurrent/conditional_flat_sentinel_30": decoder_case("flat_sentinel", True, [3, 0]),
    "recurrent/conditional_hierarchical_30": decoder_case("hierarchical", True, [3, 0]),
    "recurrent/conditional_hierarchical_sentinel_32": decoder_case("hierarchical_sentinel", True, [3, 2]),
    "recurrent/conditional_parallel_32": decoder_case("parallel", True, [3, 2]),
    "recurrent/conditional_serial_30": decoder_case("serial", True, [3, 0]),
    "recurrent/luong": luong_case(),
    "recurrent/plain_flat_30": decoder_case("flat", False, [3, 0]),
    "recurrent/plain_flat_sentinel_32": decoder_case("flat_sentinel", False, [3, 2]),
    "recurrent/plain_flat_shared_32": decoder_case("flat_shared", False, [3, 2]),
    "recurrent/plain_hierarchical_32": decoder_case("hierarchical", False, [3, 2]),
    "recurrent/plain_hierarchical_sentinel_30": decoder_case("hierarchical_sentinel", False, [3, 0]),
    "recurrent/plain_parallel_32": decoder_case("parallel", False, [3, 2]),
    "recurrent/plain_serial_32": decoder_case("serial", False, [3, 2]),
    "recurrent/plain_serial_4": decoder_case("serial", False, [4], losses=[3, 7, 0]),
    "recurrent/read_additive": read_case("additive", {"U": (8, 7), "W": (8, 7), "b": (7,), "v": (7,)}),
    "recurrent/read_dot": read_case("dot", {}),
    "recurrent/read_multiplicative": read_case("multiplicative", {"W": (8, 8)}),
    "trees/bigru_balanced5_before": bidirectional_case(5, BALANCED5, "before", "tanh"),
    "trees/bigru_left4_before": bidirectional_case(4, LEFT4, "before", "tanh"),
    "trees/bigru_random7_after": bidirectional_case(7, RANDOM7, "after", "gru"),
    "trees/bigru_word_before": bidirectional_case(1, [], "before", "tanh"),
    "trees/lstm_random7": tree_lstm_case(),
    "trees/lexical_random7": lexical_case(),
    "coverage/word_additive_before": coverage_case("word"),
    "coverage/tree_additive_before": coverage_case("tree"),
    "coverage/neighbour_additive_before": coverage_case("neighbour"),
    "coverage/fertility_additive_before": coverage_case("fertility"),
    "pyramid/act": halt_case(),
    "pyramid/cif": fire_case(),
    "pyramid/conv_soft1": pyramid_case("conv"),
    "pyramid/gru_soft1": pyramid_case("gru"),
    "pyramid/lstm_soft1": pyramid_case("lstm"),
    "pyramid/mean_soft1": pyramid_case("mean"),
    "hat/top_pre": hat_case(True),
    "hat/top_post": hat_case(False),
    "hat/layers_pre_all": hat_layer_case(True, "all"),
    "hat/layers_post_starts": hat_layer_case(False, "starts"),
    "relative/rotary": relative_case("rotary", False, 6),
    "relative/rotary_causal": relative_case("rotary", True, 6),
    "relative/alibi": relative_case("alibi", False, 6),
    "relative/alibi_causal_window": relative_case("alibi", True, 3),
    "relative/window": relative_case("none", False, 3),
    "decoder/convolutional": convolutional_case(),
    "decoder/mingru_pre_2": mingru_case(True, 2),
    "decoder/mingru_post_1": mingru_case(False, 1),
    "group/encoder_pre": group_encoder_case(True),
    "group/encoder_post": group_encoder_case(False),
    "group/decoder_pre": group_decoder_case(True),
    "group/decoder_post": group_decoder_case(False),
    "group/self_pre": group_decoder_case(True, True),
    "group/self_post": group_decoder_case(False, True),
}

# If random numbers cut rows into blocks, they are drawn again until the blocks are those that the tests need.
CUTS = {
    "pyramid/act": lambda outputs: outputs["starts"].tolist() == [0, 3, 5, 8],
    "pyramid/cif": lambda outputs: [np.flatnonzero(w).tolist() for w in outputs["weight"]]
                                   == [[0, 1, 2], [2, 3, 4, 5], [5, 6, 7, 8]],
}


def weigh(outputs, cotangents):
    return sum((total(outputs[name] * c) for name, c in cotangents.items()), Node(0.0))


def compute(case, inputs, weights, cotangents):
    """Returns the outputs, and the gradients of inputs and weights."""
    forward = CASES[case][3]
    x, w = ({name: Node(a) for name, a in arrays.items()} for arrays in (inputs, weights))
    outputs = forward(x, w)
    go_back(weigh(outputs, cotangents))
    gradients = {"inputs/" + name: a.gradient for name, a in x.items()}
    gradients.update({"weights/" + name: a.gradient for name, a in w.items()})
    return {name: y.value for name, y in outputs.items()}, gradients


def check_gradients(case, inputs, weights, cotangents, gradients, draw):
    """Checks that along a random direction, the sum of outputs times cotangents grows as the gradients say."""
    step = 1e-5
    directions = {name: draw.randn(*g.shape) for name, g in gradients.items()}
    sums = []
    for sign in (1, -1):
        moved = [{name: a + sign * step * directions[kind + "/" + name] for name, a in arrays.items()}
                 for kind, arrays in (("inputs", inputs), ("weights", weights))]
        x, w = ({name: Node(a) for name, a in arrays.items()} for arrays in moved)
        sums.append(float(weigh(CASES[case][3](x, w), cotangents).value))
    expected = sum(float((g * directions[name]).sum()) for name, g in gradients.items())
    found = (sums[0] - sums[1]) / (2 * step)
    if abs(found - expected) > 1e-6 * (1 + abs(expected)):
        sys.exit("%s: the sum grows by %r, the gradients say %r" % (case, found, expected))


def lines_of(name, array, form):
    if array.ndim < 2:
        array = array.reshape(-1, 1) if name.endswith(("/f", "weights/w")) else array.reshape(1, -1)
    array = array.reshape(-1, array.shape[-1])
    yield "%s %d %d" % (name, array.shape[0], array.shape[1])
    for row in array:
        yield " ".join(format(x + 0.0, form) for x in row)


def make():
    """Returns the lines of the file."""
    draw = np.random.RandomState(2018)  # numpy does not change the numbers of this generator

    def drawn(shape, size):
        return np.round(size * draw.randn(*shape), 3)

    yield "# Written by reference-cases.py; do not edit."
    for case, (input_shapes, weight_shapes, weighed, forward) in CASES.items():
        while True:
            inputs = {name: drawn(shape, 1) for name, shape in input_shapes.items()}
            weights = {name: drawn(shape, 0.5) for name, shape in weight_shapes.items()}
            outputs = forward(*({name: Node(a) for name, a in arrays.items()} for arrays in (inputs, weights)))
            if case not in CUTS or CUTS[case]({name: y.value for name, y in outputs.items()}):
                break
        cotangents = {name: drawn(outputs[name].shape, 1) for name in weighed}
        outputs, gradients = compute(case, inputs, weights, cotangents)
        check_gradients(case, inputs, weights, cotangents, gradients, draw)
        for kind, arrays, form in (("inputs", inputs, ".3f"), ("weights", weights, ".3f"),
                                   ("cotangents", cotangents, ".3f"), ("outputs", outputs, ".12g"),
                                   ("gradients", gradients, ".12g")):
            for name, array in arrays.items():
                yield from lines_of("%s/%s/%s" % (case, kind, name), array, form)


def same(a, b):
    """True if two lines have equal words, and numbers that are equal except for rounding on another processor."""
    a, b = a.split(), b.split()
    try:
        return len(a) == len(b) and all(x == y or abs(float(x) - float(y)) <= 1e-9 for x, y in zip(a, b))
    except ValueError:
        return False


def main():
    lines = list(make())
    if len(sys.argv) < 2:
        print("\n".join(lines))
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        kept = file.read().splitlines()
    for number, (line, expected) in enumerate(itertools.zip_longest(kept, lines, fillvalue=""), 1):
        if not same(line, expected):
            sys.exit("%s:%d: %r, but %r is computed; write the file anew" % (sys.argv[1], number, line, expected))


if __name__ == "__main__":
    main()
