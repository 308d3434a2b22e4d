# SPDX-License-Identifier: MIT
"""The syntax-aware model of Chen et al. (2017) in plain PyTorch, all sentences of a batch at once.

Leaves: a GRU in each direction over the words, time step by time step. Trees: all nodes of one height in one product,
then all nodes of one depth. Decoder: a loop over the target; all work that does not depend on the loop is done outside.
Products that read the same input are merged. Weights have plait's names and shapes, [in, out].
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Spread
from sizes import BEGIN


def shapes(size, coverage, reset):
    """Returns name -> shape of every weight; biases are [1, n]."""
    h, e, half, memory = size.hidden, size.width, size.hidden // 2, size.memory
    found = {}

    def linear(name, inputs, outputs, bias=True):
        found[f"{name}/weight"] = (inputs, outputs)
        if bias:
            found[f"{name}/bias"] = (1, outputs)

    def gru(name, inputs, width):
        linear(f"{name}/input", inputs, 3 * width)
        linear(f"{name}/recurrent", width, (3 if reset == "after" else 2) * width, bias=False)
        if reset == "before":
            linear(f"{name}/candidate", width, width, bias=False)

    found[f"source/{size.source}/embedding/table"] = (size.vocabulary, e)
    found["decoder/embedding/table"] = (size.vocabulary, e)
    for direction in ("forward", "backward"):
        gru(leaves_name(size) + direction, e, half)
    if size.trees:
        linear("source/tree/up/gates", 2 * h, 5 * h)
        linear("source/tree/up/candidate", 2 * h, h, bias=False)
        linear("source/tree/down/root", h, h)
        gru("source/tree/down/left", h, h)
        gru("source/tree/down/right", h, h)
    gru("decoder/layer/0/cell", e, h)
    linear("decoder/layer/0/context", memory, 3 * h, bias=False)
    linear(f"decoder/layer/0/initial/state/{size.source}", memory, h)
    attention = f"decoder/combiner/attend/{size.source}"
    linear(f"{attention}/query", h, h, bias=False)
    linear(f"{attention}/key", memory, h)
    found[f"{attention}/vector"] = (1, h)
    if coverage != "none":
        gru(f"{attention}/coverage/cell", memory, size.coverage)
        linear(f"{attention}/coverage/query", h, 3 * size.coverage, bias=False)
        linear(f"{attention}/coverage/attention", 1, 3 * size.coverage, bias=False)
        linear(f"{attention}/coverage/score", size.coverage, h, bias=False)
    if coverage == "tree":
        for side in ("left", "right"):
            linear(f"{attention}/coverage/{side}", size.coverage, 3 * size.coverage, bias=False)
            linear(f"{attention}/coverage/{side}_attention", 1, 3 * size.coverage, bias=False)
    linear("decoder/readout", h + memory + e, e)
    found["decoder/output/weight"] = (size.vocabulary, e)
    found["decoder/output/bias"] = (1, size.vocabulary)
    return found


def leaves_name(size):
    return f"source/{size.source}/{'leaves/' if size.trees else ''}layer/0/"


def gru_step(projected, state, recurrent, candidate=None):
    """Returns the next state of a GRU, z h + (1 - z) c. `projected` is the input's part of the gates (reset, update,
    candidate, side by side). With `candidate` the reset gate acts before the product, else after it. A first dimension
    may hold two cells."""
    width = state.shape[-1]
    add = torch.baddbmm if state.dim() == 3 else torch.addmm
    if candidate is None:
        outer, inner = projected.split((2 * width, width), -1)
        product, last = torch.matmul(state, recurrent).split((2 * width, width), -1)
        gate, keep = torch.sigmoid(outer + product).chunk(2, -1)
        new = torch.tanh(torch.addcmul(inner, gate, last))
    else:
        outer, inner = projected.split((2 * width, width), -1)
        gate, keep = torch.sigmoid(add(outer, state, recurrent)).chunk(2, -1)
        new = torch.tanh(add(inner, gate * state, candidate))
    return torch.lerp(new, state, keep)


def ramp(counts):
    """Returns 0 .. n - 1 for each n of `counts`, end to end."""
    return torch.cat([torch.arange(n) for n in counts])


class Timeline:
    """Rows of ragged sentences in the order of time: step t has the sentences longer than t, longest first."""

    def __init__(self, lengths):
        order = sorted(range(len(lengths)), key=lambda s: -lengths[s])
        first = [0]
        for n in lengths:
            first.append(first[-1] + n)
        self.counts = [sum(n > t for n in lengths) for t in range(max(lengths))]
        steps = [[order[i] for i in range(count)] for count in self.counts]
        self.forward = torch.tensor([first[s] + t for t, sentences in enumerate(steps) for s in sentences])
        self.backward = torch.tensor([first[s + 1] - 1 - t for t, sentences in enumerate(steps) for s in sentences])
        self.forward_place = torch.empty_like(self.forward)
        self.forward_place[self.forward] = torch.arange(len(self.forward))
        self.backward_place = torch.empty_like(self.backward)
        self.backward_place[self.backward] = torch.arange(len(self.backward))


class Trees:
    """The nodes of all trees of a batch: by height for the bottom-up pass, by depth for the top-down pass.

    The bottom-up pass numbers rows in the order of computation: all leaves, then level after level. The top-down pass
    numbers all roots, then for each depth the left children and the right children of the nodes above."""

    def __init__(self, lengths, children):
        row, leaf = [], 0
        heights, parents = [], {}
        for s, (n, numbers) in enumerate(zip(lengths, children)):
            height = [0] * n
            for node in range(n - 1):
                left, right = numbers[2 * node : 2 * node + 2]
                height.append(1 + max(height[left], height[right]))
                parents[s, n + node] = (left, right)
            heights.append(height)
            row.append([leaf + i for i in range(n)] + [None] * (n - 1))
            leaf += n
        levels = max(height[-1] for height in heights)
        by_height = [[] for _ in range(levels + 1)]
        for s, height in enumerate(heights):
            for node in range(lengths[s], len(height)):
                by_height[height[node]].append((s, node))
        self.up = []  # rows of the children of each level, left and right alternating
        for nodes in by_height[1:]:
            for s, node in nodes:
                row[s][node] = leaf
                leaf += 1
            self.up.append(torch.tensor([row[s][child] for s, node in nodes for child in parents[s, node]]))
        self.up_place = torch.tensor([number for rows in row for number in rows])

        level = [(s, len(height) - 1) for s, height in enumerate(heights)]
        place, count = {node: i for i, node in enumerate(level)}, len(level)
        self.roots = torch.tensor([row[s][node] for s, node in level])
        self.down = []  # (indices of the parents in the depth above, their number)
        children_rows = [[], []]
        while True:
            inner = [i for i, node in enumerate(level) if node in parents]
            if not inner:
                break
            sides = [[(level[i][0], parents[level[i]][side]) for i in inner] for side in (0, 1)]
            for side in (0, 1):
                children_rows[side] += [row[s][child] for s, child in sides[side]]
            self.down.append((torch.tensor(inner), len(inner)))
            level = sides[0] + sides[1]
            for node in level:
                place[node] = count
                count += 1
        self.children = torch.tensor(children_rows[0] + children_rows[1])
        self.down_place = torch.tensor([place[s, node] for s, height in enumerate(heights) for node in range(len(height))])


class Batch:
    """Tensors of a list of tuples. Sentences are sorted by target length, longest first, so the sentences of a step
    come first."""

    def __init__(self, tuples, size):
        tuples = sorted(tuples, key=lambda streams: -len(streams[-1]))
        words = [len(streams[0]) for streams in tuples]
        self.nodes = [streams[1] for streams in tuples] if size.trees else None
        self.words = words
        self.ids = torch.tensor([word for streams in tuples for word in streams[0]])
        self.time = Timeline(words)
        self.trees = Trees(words, self.nodes) if size.trees else None

        rows = [2 * n - 1 if size.trees else n for n in words]
        self.size, self.longest = len(tuples), max(rows)
        self.cell = torch.cat([s * self.longest + torch.arange(n) for s, n in enumerate(rows)])
        self.share = torch.tensor([1 / n for n in rows])[:, None]
        real = torch.arange(self.longest)[None] < torch.tensor(rows)[:, None]
        self.mask = None if bool(real.all()) else torch.zeros(real.shape).masked_fill_(~real, -torch.inf)
        self.links = self.link(words, rows) if size.trees else None

        targets = [streams[-1] for streams in tuples]
        self.counts = [sum(len(target) > t for target in targets) for t in range(len(targets[0]))]
        self.target = torch.tensor([targets[s][t] for t, count in enumerate(self.counts) for s in range(count)])
        self.inputs = torch.tensor([targets[s][t - 1] if t else BEGIN for t, count in enumerate(self.counts) for s in range(count)])

    def link(self, words, rows):
        """Returns the cells of the children in the padded memory, [2, sentences, rows]; -1 for leaves and padding, for
        which cover() reads a row of zeros after the last cell."""
        links = torch.full((self.size, self.longest, 2), -1)
        for s, (n, numbers) in enumerate(zip(words, self.nodes)):
            links[s, n : rows[s]] = s * self.longest + torch.tensor(numbers).view(-1, 2)
        return links.permute(2, 0, 1).contiguous()


class System(nn.Module):
    def __init__(self, size, coverage="none", reset="before", values=None):
        """`values`: name -> array of each weight; None: random weights."""
        super().__init__()
        self.hidden, self.trees, self.coverage, self.reset = size.hidden, size.trees, coverage, reset
        self.source, self.leaves = size.source, leaves_name(size)
        self.cover_width = size.coverage
        table = {}
        for name, shape in shapes(size, coverage, reset).items():
            drawn = torch.randn(shape) * (2 / sum(shape)) ** 0.5 if shape[0] > 1 else torch.zeros(shape)
            table[name] = nn.Parameter(drawn if values is None else torch.tensor(values[name]))
        self.table = nn.ParameterDict(table)
        if reset == "after":
            self.make_torch_gru(size)

    def make_torch_gru(self, size):
        """Makes the GRU of torch, which has biases inside the reset product; they stay zero."""
        self.gru = nn.GRU(size.width, size.hidden // 2, bidirectional=True)
        with torch.no_grad():
            for direction, suffix in (("forward", ""), ("backward", "_reverse")):
                name = self.leaves + direction
                getattr(self.gru, f"weight_ih_l0{suffix}").copy_(self.table.pop(f"{name}/input/weight").T)
                getattr(self.gru, f"bias_ih_l0{suffix}").copy_(self.table.pop(f"{name}/input/bias")[0])
                getattr(self.gru, f"weight_hh_l0{suffix}").copy_(self.table.pop(f"{name}/recurrent/weight").T)
                getattr(self.gru, f"bias_hh_l0{suffix}").zero_().requires_grad_(False)

    def apply_linear(self, name, x):
        weight = self.table[f"{name}/weight"]
        return torch.addmm(self.table[f"{name}/bias"], x, weight) if f"{name}/bias" in self.table else x @ weight

    def cell(self, name):
        """Returns the weights of gru_step."""
        return [self.table[f"{name}/{part}/weight"] for part in (("recurrent",) if self.reset == "after" else ("recurrent", "candidate"))]

    def read_words(self, batch):
        """Returns the annotations of the words, [rows, hidden]: Chen et al. 2017, eq. 2."""
        embedded = F.embedding(batch.ids, self.table[f"source/{self.source}/embedding/table"])
        time = batch.time
        if self.reset == "after":
            packed = nn.utils.rnn.PackedSequence(embedded.index_select(0, time.forward), torch.tensor(time.counts))
            return self.gru(packed)[0].data.index_select(0, time.forward_place)
        names = [self.leaves + direction for direction in ("forward", "backward")]
        projected = [self.apply_linear(f"{name}/input", embedded) for name in names]
        projected = torch.stack([projected[0].index_select(0, time.forward), projected[1].index_select(0, time.backward)])
        cell = [torch.stack(weights) for weights in zip(*map(self.cell, names))]
        state = projected.new_zeros(2, time.counts[0], self.hidden // 2)
        states = []
        for count, step in zip(time.counts, projected.split(time.counts, 1)):
            state = gru_step(step, state[:, :count], *cell)
            states.append(state)
        states = torch.cat(states, 1)
        return torch.cat([states[0].index_select(0, time.forward_place), states[1].index_select(0, time.backward_place)], 1)

    def climb(self, children):
        """Returns the states of nodes from those of their children, [n, 2 hidden]: Chen et al. 2017, eq. 8."""
        h = self.hidden
        gates = torch.sigmoid(self.apply_linear("source/tree/up/gates", children))
        gate, keep, update = gates.split((2 * h, 2 * h, h), 1)
        weight = self.table["source/tree/up/candidate/weight"]
        if self.reset == "before":
            new = torch.tanh((gate * children) @ weight)
        else:
            both = torch.bmm(children.view(-1, 2, h).transpose(0, 1), weight.view(2, h, h))
            new = torch.tanh((gate.view(-1, 2, h).transpose(0, 1) * both).sum(0))
        left, right = (keep * children).chunk(2, 1)
        return torch.addcmul(left + right, update, new)

    def go_up(self, leaves, batch):
        """Returns the bottom-up states in the order of computation."""
        states = leaves
        for children in batch.trees.up:
            below = states.index_select(0, children).view(-1, 2 * self.hidden)
            states = torch.cat([states, self.climb(below)])
        return states

    def go_down(self, up, batch):
        """Returns the top-down states in the order of computation: Chen et al. 2017, eq. 9 and 10."""
        trees, names = batch.trees, ("source/tree/down/left", "source/tree/down/right")
        state = torch.tanh(self.apply_linear("source/tree/down/root", up.index_select(0, trees.roots)))
        weight = torch.stack([self.table[f"{name}/input/weight"] for name in names])
        bias = torch.stack([self.table[f"{name}/input/bias"] for name in names])
        cell = [torch.stack(weights) for weights in zip(*map(self.cell, names))]
        projected = torch.baddbmm(bias, up.index_select(0, trees.children).view(2, -1, self.hidden), weight)
        states = [state]
        for (parents, _), step in zip(trees.down, projected.split([count for _, count in trees.down], 1)):
            above = state.index_select(0, parents)[None].expand(2, -1, -1)
            state = gru_step(step, above, *cell).reshape(-1, self.hidden)
            states.append(state)
        return torch.cat(states)

    def encode(self, batch):
        """Returns [rows, memory], sentence after sentence: its leaves, then its inner nodes."""
        words = self.read_words(batch)
        if not self.trees:
            return words
        up = self.go_up(words, batch)
        down = self.go_down(up, batch)
        return torch.cat([up.index_select(0, batch.trees.up_place), down.index_select(0, batch.trees.down_place)], 1)

    def cover(self, batch, prepared, weights, pieces, state, attention, projected):
        """Returns the coverage states after `attention` [n, S]: Chen et al. 2017, eq. 11, for trees eq. 13. `projected`
        is the part that depends on the query."""
        n, longest, width = state.shape
        inner = [state, attention[..., None]]
        if self.coverage == "tree":
            flat = torch.cat(inner, 2).view(-1, width + 1)
            flat = torch.cat([flat, flat.new_zeros(1, width + 1)])
            inner += [flat.index_select(0, links.flatten()).view(n, longest, -1) for links in pieces]
        read = torch.cat(inner, 2).view(n * longest, -1)
        outer = torch.addmm((prepared + projected[:, None]).view(n * longest, -1), read, weights[0])
        flat_state = state.view(-1, width)
        if self.reset == "after":
            gates, last = outer.split((2 * width, width), 1)
            gate, keep = torch.sigmoid(gates).chunk(2, 1)
            new = torch.tanh(torch.addcmul(last, gate, flat_state @ weights[1]))
        else:
            gates, last = outer.split((2 * width, width), 1)
            gate, keep = torch.sigmoid(gates).chunk(2, 1)
            new = torch.tanh(torch.addmm(last, gate * flat_state, weights[1]))
        return torch.lerp(new, flat_state, keep).view(n, longest, width)

    def cover_weights(self):
        """Returns one matrix for all inputs of a coverage cell (its own state, those of its children, and attention),
        and the matrix of the candidate."""
        name, width = f"decoder/combiner/attend/{self.source}/coverage", self.cover_width
        recurrent, *candidate = self.cell(f"{name}/cell")
        if self.reset == "after":
            recurrent, last = recurrent.split((2 * width, width), 1)
            candidate = [last]
        rows = [F.pad(recurrent, (0, width)), self.table[f"{name}/attention/weight"]]
        if self.coverage == "tree":
            for side in ("left", "right"):
                rows += [self.table[f"{name}/{side}/weight"], self.table[f"{name}/{side}_attention/weight"]]
        return torch.cat(rows), candidate[0]

    def loss(self, batch):
        """Returns the mean loss of a target token."""
        h, covers = self.hidden, self.coverage != "none"
        name = f"decoder/combiner/attend/{self.source}"
        packed = self.encode(batch)
        memory = Spread.apply(packed, batch.cell, batch.size * batch.longest).view(batch.size, batch.longest, -1)
        keys = Spread.apply(self.apply_linear(f"{name}/key", packed), batch.cell, batch.size * batch.longest).view(batch.size, batch.longest, -1)
        vector = self.table[f"{name}/vector"][0]
        state = torch.tanh(self.apply_linear(f"decoder/layer/0/initial/state/{self.source}", memory.sum(1) * batch.share))
        embedded = F.embedding(batch.inputs, self.table["decoder/embedding/table"])
        inputs = self.apply_linear("decoder/layer/0/cell/input", embedded)
        # Everything that reads the state before a step: the query, the gates of the decoder's cell, and those of the
        # coverage.
        recurrent, *candidate = self.cell("decoder/layer/0/cell")
        parts = [self.table[f"{name}/query/weight"], recurrent]
        if covers:
            parts.append(self.table[f"{name}/coverage/query/weight"])
            weights, score = self.cover_weights(), self.table[f"{name}/coverage/score/weight"]
            prepared = self.apply_linear(f"{name}/coverage/cell/input", packed)
            prepared = Spread.apply(prepared, batch.cell, batch.size * batch.longest).view(batch.size, batch.longest, -1)
            coverage = None
        reads, cuts = torch.cat(parts, 1), [part.shape[1] for part in parts]
        context_weight = self.table["decoder/layer/0/context/weight"]
        mask, links, states, contexts, before = batch.mask, batch.links, [], [], batch.size
        for count, step in zip(batch.counts, inputs.split(batch.counts)):
            if count < before:
                state, memory, keys = state[:count], memory[:count], keys[:count]
                mask = mask[:count] if mask is not None else None
                if covers:
                    prepared, coverage = prepared[:count], coverage[:count]
                before = count
            query, product, *asked = (state @ reads).split(cuts, 1)
            energy = keys + query[:, None]
            if covers and coverage is not None:
                energy = torch.addmm(energy.view(-1, h), coverage.reshape(-1, self.cover_width), score).view(energy.shape)
            energy = energy.tanh_() @ vector
            attention = torch.softmax(energy if mask is None else energy + mask, 1)
            context = torch.bmm(attention[:, None], memory)[:, 0]
            if covers:
                if coverage is None:
                    coverage = memory.new_zeros(count, batch.longest, self.cover_width)
                if links is not None and self.coverage == "tree":
                    cells = count * batch.longest
                    pieces = torch.where(links[:, :count] < 0, cells, links[:, :count])
                else:
                    pieces = None
                coverage = self.cover(batch, prepared, weights, pieces, coverage, attention, asked[0])
            step = torch.addmm(step, context, context_weight)
            state = self.decode(step, product, state, candidate)
            states.append(state)
            contexts.append(context)
        read = torch.cat([torch.cat(states), torch.cat(contexts), embedded], 1)
        read = torch.tanh(self.apply_linear("decoder/readout", read))
        logits = F.linear(read, self.table["decoder/output/weight"], self.table["decoder/output/bias"][0])
        return F.cross_entropy(logits, batch.target)

    def decode(self, projected, product, state, candidate):
        """Returns the next state of the decoder; `product` is the recurrent product."""
        h = self.hidden
        outer, inner = projected.split((2 * h, h), 1)
        if self.reset == "after":
            product, last = product.split((2 * h, h), 1)
            gate, keep = torch.sigmoid(outer + product).chunk(2, 1)
            return torch.lerp(torch.tanh(torch.addcmul(inner, gate, last)), state, keep)
        gate, keep = torch.sigmoid(outer + product).chunk(2, 1)
        return torch.lerp(torch.tanh(torch.addmm(inner, gate * state, candidate[0])), state, keep)


class Attention(nn.Module):
    """One step of additive attention over many positions with given keys."""

    def __init__(self, size, positions, values=None):
        super().__init__()
        h = size.hidden

        def parameter(name, *shape):
            return nn.Parameter(torch.randn(shape) if values is None else torch.tensor(values[name]))

        self.project = parameter("attend/text/query/weight", h, h)
        self.vector = parameter("attend/text/vector", 1, h)
        self.query = parameter("query", 1, h)
        self.rows = parameter("rows", positions, h)
        self.keys = parameter("keys", positions, h)

    def forward(self):
        """Returns the sum of the context's elements."""
        energy = (self.keys + self.query @ self.project).tanh_() @ self.vector[0]
        return (torch.softmax(energy, 0) @ self.rows).sum()
