/* SPDX-License-Identifier: MIT */

/* Draws the descent of one target word through the levels of a memory, with the top level above. The fill of a row
 * shows its share of its level; selected rows are outlined. */

const CELL = 26, HEIGHT = 24, LEFT = 58, LEVEL = 32;

/* Returns the rows that word @word weighed: [{row, weight, path, share, taken}]. */
const stepsOf = (descent, word) => {
  const view = new DataView(descent.bytes.buffer, descent.bytes.byteOffset, descent.bytes.byteLength);
  let at = 0;

  for (let w = 0;; w++) {
    const n = view.getUint16(at, true), steps = [];

    at += 2;
    for (let i = 0; w === word && i < n; i++) {
      const from = at + i * 6, part = (k) => view.getUint8(from + k) / 255;

      steps.push({row: view.getUint16(from, true), weight: part(2), path: part(3), share: part(4), taken: part(5)});
    }
    if (w === word) return steps;
    at += n * 6;
  }
};

const descentPicture = (descent, word, choose) => {
  const top = (level) => 2 + (descent.highest - level) * LEVEL;
  const leaves = descent.rows.filter((_, r) => descent.levels[r] === 0);
  const width = LEFT + leaves.length * CELL + 2, height = top(-1) + widthOf(leaves) * 0.87 + 8;
  const box = (r, attributes, text) => shape(
      "rect", {
        x: LEFT + descent.first[r] * CELL,
        y: top(descent.levels[r]),
        width: (descent.last[r] - descent.first[r] + 1) * CELL - 3,
        height: HEIGHT,
        rx: 3,
        ...attributes
      },
      shape("title", {}, `${descent.rows[r]}: ${text}`));
  const picture = shape("svg", {
    class: "sheet",
    role: "img",
    width,
    height: rounded(height),
    viewBox: `0 0 ${width} ${rounded(height)}`,
    "aria-label": `${descent.title}, descent of ${descent.targets[word]}`
  });

  for (let level = descent.highest; level >= 0; level--)
    picture.append(shape(
        "text", {class: "tick", "text-anchor": "end", x: LEFT - 8, y: top(level) + HEIGHT / 2 + 4},
        level > 0 ? `level ${level}` : "leaves"));
  descent.rows.forEach((label, r) => {
    picture.append(box(r, {class: "unseen"}, "not weighed"));
    if (descent.levels[r] === 0)
      picture.append(shape(
          "text", {
            "text-anchor": "end",
            transform: `translate(${LEFT + descent.first[r] * CELL + CELL / 2 + 3} ${top(-1) + 4}) rotate(-60)`
          },
          cut(label)));
  });
  for (const step of stepsOf(descent, word)) {
    const r = step.row, taken = Math.round(step.taken * descent.ways);
    const product = step.path !== step.weight ? `, ${shown(step.path)}` : "";

    picture.append(
        box(r, {class: `cell ${taken > 0 ? "way" : "aside"}`, "fill-opacity": rounded(0.06 + 0.94 * step.share, 2)},
            `${shown(step.weight)}${product}${descent.ways > 1 ? `; ${taken} of ${descent.ways}` : ""}`),
        shape(
            "text", {
              class: step.share > 0.7 ? "on" : "off",
              x: LEFT + (descent.first[r] + descent.last[r] + 1) * CELL / 2 - 1.5,
              y: top(descent.levels[r]) + HEIGHT / 2 + 3
            },
            Math.round(step.share * 100).toString()));
  }
  return [
    element(
        "p", {class: "words"},
        ...descent.targets.map(
            (target, w) => element(
                "button", {type: "button", "aria-pressed": String(w === word), onclick: () => choose(w)},
                cut(target)))),
    element("div", {class: "scroll"}, picture),
    element(
        "p", {class: "dim small"},
        "Select a word above. Each line of cells is a level, from the top. The colour and number of a cell are its share of " +
            "the level, in hundredths; selected cells are outlined. Point at a cell to see its weight among its siblings, " +
            "the product of weights from the top, and how many heads selected it.")
  ];
};
