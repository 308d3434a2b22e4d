/* SPDX-License-Identifier: MIT */

"use strict";

/* Reads the data of a report from the page (report-data.h). */

const packs = JSON.parse(document.getElementById("data")?.textContent ?? "null");

const unpack = async (text) => {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);

  return {json: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), bytes: bytes.subarray(4 + length)};
};

/* Returns the heatmaps in pack @number, those of one sentence of one run; null if there is no pack. */
const sentences = new Map();
const heatmapsOf = async (number) => {
  if (number === null || number === undefined) return null;
  if (sentences.has(number)) return sentences.get(number);
  const {json, bytes} = await unpack(packs.maps[number]);
  let at = 0;

  for (const map of json.maps) {
    map.columns = typeof map.rows === "number" ? json.maps[map.rows].columns : map.rows;
    map.rows = json.targets;
    map.cells = map.rows.length * map.columns.length;
    map.masses = bytes.subarray(at, (at += map.kept_layers * map.rows.length));
    map.steps = bytes.subarray(at, (at += map.kept_layers * map.kept_heads * map.cells));
  }
  for (const descent of json.descents) descent.bytes = bytes.subarray(at, (at += descent.bytes));
  sentences.set(number, json);
  return json;
};

const range = (choice, n, usual) =>
    (choice === "mean"                        ? [0, n] :
         choice === "" || Number(choice) >= n ? usual :
                                                [Number(choice), Number(choice) + 1]);
const layersOf = (map, layer) =>
    (map.kept_layers < map.layers ? [0, 1] : range(layer, map.kept_layers, [map.kept_layers - 1, map.kept_layers]));
const headsOf = (map, head) => (map.kept_heads < map.heads ? [0, 1] : range(head, map.kept_heads, [0, map.kept_heads]));

/* Returns one picture of @map: for one layer and head, or for means of them. */
const pictureOf = (map, layer, head) => {
  const [l0, l1] = layersOf(map, layer), [h0, h1] = headsOf(map, head);
  const values = new Float32Array(map.cells), part = map.largest / 255 / ((l1 - l0) * (h1 - h0));

  for (let l = l0; l < l1; l++)
    for (let h = h0; h < h1; h++)
      for (let i = 0, from = (l * map.kept_heads + h) * map.cells; i < map.cells; i++)
        values[i] += map.steps[from + i] * part;
  return {
    title: map.title,
    short: map.name.replace(/\.effective$/, ""),
    rows: map.rows,
    columns: map.columns,
    of: map.of,
    values
  };
};

const choiceOf = (map, layer, head) => {
  const [l0, l1] = layersOf(map, layer), [h0, h1] = headsOf(map, head), words = [];

  if (map.layers > 0)
    words.push(
        map.kept_layers < map.layers ? `layer ${map.layers - 1}` :
            l1 - l0 > 1 ? `mean of ${l1 - l0} layers` :
                          `layer ${l0}`);
  if (map.heads > 0)
    words.push(map.kept_heads < map.heads || h1 - h0 > 1 ? `mean of ${map.heads} heads` : `head ${h0}`);
  if (map.heaviest > 0) words.push(`the ${map.heaviest} heaviest of ${map.columns.length}`);
  return words.join(", ");
};

const isContexts = (map) => map.group === "attention" && map.name === "contexts";
const isEffective = (map) => map.group === "attention" && map.name.endsWith(".effective");
const ownOf = (json) => json.maps.filter((map) => map.group === "attention" && !isContexts(map) && !isEffective(map));

/* Returns how much each source contributes to each target token in kept layer @l. Computes it from the
 * attention to contexts, or from a joint attention. Null if each source has its own softmax, or if there is one source. */
const sharesOf = (json, l) => {
  const contexts = json.maps.find(isContexts), own = ownOf(json), rows = json.targets.length;

  if (contexts) {
    const layer = contexts.kept_layers < contexts.layers ? "" : String(l);
    return {sources: contexts.columns, values: pictureOf(contexts, layer, "").values, layers: contexts.kept_layers};
  }
  const values = new Float32Array(rows * own.length);
  own.forEach((map, s) => {
    for (let r = 0; r < rows; r++)
      values[r * own.length + s] = (map.masses[Math.min(l, map.kept_layers - 1) * rows + r] * map.largest_mass) / 255;
  });
  for (let r = 0; r < rows; r++) {
    const sum = own.reduce((total, _, s) => total + values[r * own.length + s], 0);

    if (sum > 1.1) return null;
    for (let s = 0; s < own.length && sum > 0; s++) values[r * own.length + s] /= sum;
  }
  return own.length > 1 ? {sources: own.map((map) => map.name), values, layers: own[0].kept_layers} : null;
};

const entropy = (x) => (x > 0 ? -x * Math.log2(x) : 0);

/* Returns the mean Jensen-Shannon divergence, in bits, between the rows of two sentences @a and @b; NaN if their tokens
 * differ. */
const divergence = (a, b, layer, head) => {
  let sum = 0, n = 0;

  if (!a || !b || a.targets.join("\n") !== b.targets.join("\n")) return NaN;
  for (const map of ownOf(a)) {
    const other = ownOf(b).find((candidate) => candidate.name === map.name);

    if (!other || map.columns.join("\n") !== other.columns.join("\n")) continue;
    const p = pictureOf(map, layer, head).values, q = pictureOf(other, layer, head).values,
          columns = map.columns.length;
    for (let from = 0; from < p.length; from += columns) {
      const total = (values) => values.subarray(from, from + columns).reduce((x, y) => x + y, 0), ps = total(p),
            qs = total(q);

      if (!(ps > 0 && qs > 0)) continue;
      for (let i = from; i < from + columns; i++)
        sum += entropy((p[i] / ps + q[i] / qs) / 2) - (entropy(p[i] / ps) + entropy(q[i] / qs)) / 2;
      n++;
    }
  }
  return n > 0 ? Math.max(sum / n, 0) : NaN;
};

/* Returns the text that the tokens @labels form. If some have a word mark, tokens are pieces of words; else each token
 * is a word. Labels after </s> are rows of higher levels, not tokens. */
const textOf = (labels) => {
  const end = labels.indexOf("</s>");
  const tokens = (end < 0 ? labels : labels.slice(0, end)).filter((label) => label !== "<s>" && !label.includes(" … "));
  const pieces = tokens.some((token) => /^[▁Ġ]/.test(token));

  return tokens.join(pieces ? "" : " ").replace(/[▁Ġ]/g, " ").trim();
};
