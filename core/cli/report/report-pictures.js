/* SPDX-License-Identifier: MIT */

/* Draws the heatmaps of a report as SVG, in the colours of report.css. */

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);

  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on"))
      made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null)
      made.setAttribute(name, value === true ? "" : value);
  made.append(...children);
  return made;
};

const shape = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);

  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

/* Returns a sample of the colour of a run's curve. From the ninth run on, the sample has dashes like the curve. */
const swatch = (run) => {
  const dashes = Math.floor(run / 8) % 12, stroke = `stroke:var(--c${run % 8})`;

  return dashes === 0 ?
      element("span", {class: "swatch", style: `background:var(--c${run % 8})`}) :
      shape("svg", {class: "curve", viewBox: "0 0 30 10"}, shape("path", {class: `d${dashes}`, style: stroke, d: "M0 5h30"}));
};

const SHADES = 32;
const MAX_COLUMNS = 300; /* maximum number of columns that are drawn of one heatmap */
const MAX_SENTENCES = 5; /* maximum number of sentences that are drawn of a long document */
const MAX_LABEL_LENGTH = 18; /* maximum number of characters of a label */

const cut = (label) => {
  const characters = [...label.replace(/\s/g, " ")];

  return characters.length > MAX_LABEL_LENGTH ? characters.slice(0, MAX_LABEL_LENGTH - 1).join("") + "…" :
                                             characters.join("");
};
const widthOf = (labels) => Math.max(0, ...labels.map((label) => [...cut(label)].length)) * 7.2 + 6;
const rounded = (value, digits = 1) => Number(value.toFixed(digits)).toString();
const shown = (value) => (value < 0.0005 && value > 0 ? "<0.001" : value.toFixed(3));

/* Returns the cells of a heatmap as a few SVG paths, one for each shade. The unit is a cell. */
const shades = (values, rows, columns, largest, levels) => {
  const paths = Array.from({length: levels + 1}, () => []);

  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const level = Math.round((Math.min(values[r * columns + c], largest) / largest) * levels);

      if (level > 0) paths[level].push(`M${c} ${r + 0.5}h.96`);
    }
  return paths.flatMap(
      (path, level) => path.length > 0 ?
          [shape("path", {class: "stroke", "stroke-opacity": rounded(level / levels, 2), d: path.join("")})] :
          []);
};

/* Returns a heatmap without labels, for use on a button. */
const thumbnail = (map, largest) => {
  const rows = map.rows.length, columns = map.columns.length, cell = Math.max(1.5, Math.min(12, 110 / columns));
  const ground = shape("rect", {class: "ground", width: columns, height: rows});

  return shape(
      "svg", {
        width: rounded(columns * cell),
        height: rounded(rows * cell),
        viewBox: `0 0 ${columns} ${rows}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true"
      },
      ground, ...shades(map.values, rows, columns, largest, 12));
};

/* Reduces a wide heatmap to the columns with the largest weights. For a document, first keeps only the tokens of the
 * heaviest sentences. */
const narrowed = (map) => {
  const columns = map.columns.length;

  if (columns <= MAX_COLUMNS) return map;
  const sums = map.columns.map((_, c) => map.rows.reduce((sum, _label, r) => sum + map.values[r * columns + c], 0));
  const heaviest = (weights, n) =>
      [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, n).sort((a, b) => a - b);
  const keep = (kept, what) => ({
    ...map,
    note: `${map.short}: ${what}`,
    columns: kept.map((c) => map.columns[c]),
    of: undefined,
    values: Float32Array.from(
        {length: map.rows.length * kept.length},
        (_, i) => map.values[Math.floor(i / kept.length) * columns + kept[i % kept.length]])
  });

  if (!map.of) return keep(heaviest(sums, MAX_COLUMNS), `the ${MAX_COLUMNS} heaviest of ${columns} columns`);
  const weights = [];
  map.of.forEach((sentence, c) => (weights[sentence] = (weights[sentence] ?? 0) + sums[c]));
  const read = heaviest(Array.from(weights, (weight) => weight ?? 0), MAX_SENTENCES);
  return narrowed(keep(
      [...map.of.keys()].filter((c) => read.includes(map.of[c])),
      `the heaviest sentences: ${read.join(", ")}`));
};

const tip = element("div", {class: "tip", hidden: true});

/* Shows the text of the cell that the pointer or the arrow keys select. @find returns the cell [row, column] at a point
 * of the picture, or null. @tell returns the text of a cell and moves @mark over it. */
const ask = (picture, rows, columns, find, tell, mark) => {
  const status = element("output", {class: "unseen-text", "aria-live": "polite"});
  let at = null;
  const show = (cell, x, y) => {
    at = cell;
    tip.hidden = !cell;
    if (!cell) mark.setAttribute("visibility", "hidden");
    if (!cell) return;
    const text = tell(cell);
    tip.textContent = text;
    status.textContent = text;
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 18}px`;
  };
  const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(), view = picture.viewBox.baseVal;

    show(
        find(
            ((event.clientX - box.left) * view.width) / box.width,
            ((event.clientY - box.top) * view.height) / box.height),
        event.clientX, event.clientY);
  });
  picture.addEventListener("pointerleave", () => show(null));
  picture.addEventListener("blur", () => show(null));
  picture.addEventListener("keydown", (event) => {
    const step = steps[event.key];

    if (event.key === "Escape") show(null);
    if (!step) return;
    event.preventDefault();
    const next = at ?
        [Math.max(0, Math.min(rows - 1, at[0] + step[0])), Math.max(0, Math.min(columns - 1, at[1] + step[1]))] :
        [0, 0];
    tell(next);
    const box = mark.getBoundingClientRect();
    show(next, box.right, box.bottom);
  });
  return status;
};

/* Draws heatmaps of the same target tokens next to each other. Each has title, rows, columns and values. */
const heatmaps = (given, largest, room) => {
  const maps = given.map(narrowed), rows = maps[0].rows, all = maps.reduce((sum, map) => sum + map.columns.length, 0);
  const least = maps.length > 1 ? 5 : 0; /* minimum number of columns under a title */
  const placed = maps.reduce((sum, map) => sum + Math.max(map.columns.length, least), 0);
  const left = widthOf(rows) + 4, gap = 16;
  const labels = Math.max(...maps.map((map) => widthOf(map.columns))), slant = labels * 0.5 + 4;
  const cell = Math.max(13, Math.min(24, Math.floor((room - left - slant - gap * (maps.length - 1)) / placed)));
  const top = labels * 0.87 + 10 + 18, width = left + slant + gap * (maps.length - 1) + placed * cell;
  const picture = shape("svg", {
    class: "sheet",
    role: "img",
    tabindex: 0,
    width: rounded(width),
    height: rounded(top + rows.length * cell + 4),
    viewBox: `0 0 ${rounded(width)} ${rounded(top + rows.length * cell + 4)}`,
    "aria-label": `${maps.map((map) => map.title).join("; ")}. Arrow keys select a cell.`
  });
  const mark = shape("rect", {class: "mark", width: cell, height: cell, visibility: "hidden"});
  const starts = [];
  let x = left;

  rows.forEach(
      (label, r) => picture.append(
          shape("text", {"text-anchor": "end", x: left - 6, y: rounded(top + r * cell + cell / 2 + 4)}, cut(label))));
  for (const map of maps) {
    const n = map.columns.length,
          cells = shape(
              "g", {class: "cells", transform: `translate(${rounded(x)} ${rounded(top)}) scale(${cell})`},
              shape("rect", {class: "ground", width: n, height: rows.length}),
              ...shades(map.values, rows.length, n, largest, SHADES));

    starts.push(x);
    picture.append(shape("text", {class: "name", x: rounded(x), y: 12}, map.short ?? ""), cells);
    map.columns.forEach(
        (label, c) => picture.append(shape(
            "text", {transform: `translate(${rounded(x + c * cell + cell / 2 + 3)} ${rounded(top - 5)}) rotate(-60)`},
            cut(label))));
    for (let i = 0; cell >= 20 && largest <= 1 && i < map.values.length; i++)
      if (map.values[i] >= 0.1)
        picture.append(shape(
            "text", {
              class: map.values[i] / largest > 0.7 ? "on" : "off",
              x: rounded(x + ((i % n) + 0.5) * cell),
              y: rounded(top + (Math.floor(i / n) + 0.5) * cell + 3)
            },
            Math.round(map.values[i] * 100).toString()));
    x += Math.max(n, least) * cell + gap;
  }
  picture.append(mark);
  /* Converts an index among the columns of all maps to the index of a map and of its column. */
  const placeOf = (column) => {
    let m = 0;

    for (; column >= maps[m].columns.length; m++) column -= maps[m].columns.length;
    return [m, column];
  };
  const find = (px, py) => {
    const r = Math.floor((py - top) / cell);

    for (let m = 0, before = 0; m < maps.length; before += maps[m++].columns.length) {
      const c = Math.floor((px - starts[m]) / cell);

      if (r >= 0 && r < rows.length && c >= 0 && c < maps[m].columns.length) return [r, before + c];
    }
    return null;
  };
  const tell = ([r, column]) => {
    const [m, c] = placeOf(column), map = maps[m];

    mark.setAttribute("x", starts[m] + c * cell);
    mark.setAttribute("y", top + r * cell);
    mark.setAttribute("visibility", "visible");
    return `${rows[r]} → ${map.short ? `${map.short}: ` : ""}${map.columns[c]}   ${
        shown(map.values[r * map.columns.length + c])}`;
  };
  const status = ask(picture, rows.length, all, find, tell, mark);
  const notes = maps.filter((map) => map.note).map((map) => element("p", {class: "dim small"}, map.note));
  return element("div", {class: "scroll"}, picture, status, ...notes);
};

/* Returns the opacity of the bar of source @s: after eight sources colours repeat, but weaker. */
const faded = (s) => rounded(0.6 ** Math.floor(s / 8), 2);

/* Draws for each target token a bar with the shares of its sources. @values is [row, source]; each row sums to 1. */
const shares = (rows, sources, values, room) => {
  const left = widthOf(rows) + 4, bar = 18, width = Math.max(120, Math.min(320, room - left - 8)), n = sources.length;
  const height = rows.length * bar;
  const picture = shape("svg", {
    class: "sheet",
    role: "img",
    tabindex: 0,
    width: left + width + 4,
    height: height + 2,
    viewBox: `0 0 ${left + width + 4} ${height + 2}`,
    "aria-label": "Share of each source in each target token. Arrow keys select a bar."
  });
  const mark = shape("rect", {class: "mark", height: bar - 3, visibility: "hidden"});
  const edges = (r) => {
    let sum = 0;

    return sources.map((_, s) => [sum, (sum += values[r * n + s])]);
  };

  rows.forEach((label, r) => {
    picture.append(shape("text", {"text-anchor": "end", x: left - 6, y: r * bar + 13}, cut(label)));
    edges(r).forEach(([from, to], s) => picture.append(shape("rect", {
      x: rounded(left + from * width),
      y: r * bar + 1,
      width: rounded((to - from) * width),
      height: bar - 3,
      style: `fill:var(--c${s % 8});opacity:${faded(s)}`
    })));
  });
  picture.append(mark);
  const status =
      ask(picture, rows.length, n,
          (x, y) => {
            const r = Math.floor(y / bar), part = (x - left) / width;
            const s = r >= 0 && r < rows.length ? edges(r).findIndex(([from, to]) => part >= from && part < to) : -1;

            return s >= 0 ? [r, s] : null;
          },
          ([r, s]) => {
            const [from, to] = edges(r)[s];

            mark.setAttribute("x", left + from * width);
            mark.setAttribute("y", r * bar + 1);
            mark.setAttribute("width", (to - from) * width);
            mark.setAttribute("visibility", "visible");
            return `${rows[r]}: ${sources[s]}   ${shown(to - from)}`;
          },
          mark);
  const key = element(
      "p", {class: "small"},
      ...sources.map(
          (name, s) => element(
              "span", {class: "key"}, element("span", {class: "swatch", style: `background:var(--c${s % 8});opacity:${faded(s)}`}), name)));
  return element("div", {class: "scroll"}, key, picture, status);
};

/* Draws the scale of all heatmaps that are compared. */
const colourBar = (largest) => element(
    "div", {class: "bar", role: "img", "aria-label": `Colours from 0 to ${rounded(largest, 3)}`},
    element("span", {}, "0"), element("span", {class: "ramp"}), element("span", {}, rounded(largest, 3)));
