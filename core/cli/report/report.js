/* SPDX-License-Identifier: MIT */

/* Shows any sentence of any run of a report, or of two runs together. */

const place = document.getElementById("look");

const start = async () => {
  const {json: index} = await unpack(packs.index);
  const splits =
      [...new Set([...index.texts.map((text) => text.split), ...index.attention.map((attention) => attention.split)])];
  const state = {
    run: "0",
    beside: "",
    split: splits.find(
               (split) =>
                   index.attention.some((attention) => attention.split === split && attention.sentences.length > 0)) ??
        splits[0],
    order: "",
    find: "",
    sentence: "",
    source: "",
    layer: "",
    head: "",
    weights: "own",
    scale: "greatest",
    word: "0"
  };
  /* Checks the text after # in the address, because it may come from a stranger. */
  const isNumber = (text) => /^(0|[1-9][0-9]{0,8})$/.test(text);
  const isRun = (text) => isNumber(text) && Number(text) < index.runs.length;
  const isPart = (text) => text === "" || text === "mean" || isNumber(text);
  const allowed = new Map([
    ["run", isRun], ["beside", (text) => text === "" || isRun(text)], ["split", (text) => splits.includes(text)],
    ["layer", isPart], ["head", isPart], ["weights", (text) => text === "effective"],
    ["scale", (text) => text === "one"], ["word", isNumber]
  ]);
  const remembered = () => {
    for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
      if (Object.hasOwn(state, key) && (allowed.get(key)?.(value) ?? true)) state[key] = value;
    if (!orders().some(([value]) => value === state.order)) state.order = "";
  };
  const usual = {...state};
  const remember = () => {
    const changed = Object.entries(state).filter(([key, value]) => value !== usual[key]);

    history.replaceState(null, "", `#${new URLSearchParams(changed)}`);
  };

  const textsOf = (split) =>
      index.texts.find((text) => text.split === split) ?? index.texts.find((text) => `${text.split}-forced` === split);
  const systemOf = (run) => textsOf(state.split)?.systems.find((system) => system.run === Number(run));
  const runs = () => (state.beside === "" ? [state.run] : [state.run, state.beside]);

  /* Returns all sentences of the split: those with text, with heatmaps, or with both. */
  const entries = () => {
    const attention = index.attention.find((candidate) => candidate.split === state.split)?.sentences ?? [];
    const named = new Map(attention.map(
        (sentence) => [sentence.name, {name: sentence.name, line: parseInt(sentence.name, 10), maps: sentence.maps}]));
    const lines = new Set([...named.values()].map((entry) => entry.line));
    const n = Math.max(0, ...(textsOf(state.split)?.systems.map((system) => system.hypotheses.length) ?? []));

    for (let line = 0; line < n; line++)
      if (!lines.has(line)) named.set(String(line), {name: String(line), line, maps: []});
    return [...named.values()].sort((a, b) => a.line - b.line);
  };
  const scoreOf = (run, entry, metric) => systemOf(run)?.scores[metric]?.values[entry.line] ?? null;
  const referenceOf = (entry) =>
      systemOf(state.run)?.references?.[entry.line] ?? textsOf(state.split)?.references[entry.line];
  const hypothesisOf = (run, entry) => systemOf(run)?.hypotheses[entry.line];

  const translationOf = async (run, entry) =>
      hypothesisOf(run, entry) ?? textOf((await heatmapsOf(entry.maps[run]))?.targets ?? []);

  /* Returns the texts in which a search looks for words. */
  const wordsOf = async (entry) => {
    const found = (await Promise.all(runs().map((run) => heatmapsOf(entry.maps[run])))).filter(Boolean);
    const translations = await Promise.all(runs().map((run) => translationOf(run, entry)));

    return [
      referenceOf(entry) ?? "", ...sourcesOf(entry).map(([_, text]) => text), ...translations,
      ...found.flatMap((json) => ownOf(json).map((map) => textOf(map.columns)))
    ];
  };

  /* Returns the names and texts of the sources that runs store. */
  const sourcesOf = (entry) => (textsOf(state.split)?.sources ?? [])
                                   .filter((source) => source.lines[entry.line] !== undefined)
                                   .map((source) => [source.name, source.lines[entry.line]]);

  const orders = () => {
    const found = [["", "in order"]], names = systemOf(state.run)?.scores ?? [];

    names.forEach(
        (score, m) =>
            found.push([`best.${m}`, `best ${score.name} first`], [`worst.${m}`, `worst ${score.name} first`]));
    if (state.beside === "") return found;
    names.forEach((score, m) => found.push([`gain.${m}`, `${score.name}: ${index.runs[state.run]} ahead most`], [
      `loss.${m}`, `${score.name}: ${index.runs[state.beside]} ahead most`
    ]));
    return [...found, ["attention", "attention differs most"]];
  };
  const ordered = async (list) => {
    const [kind, metric] = state.order.split("."),
                 sign = systemOf(state.run)?.scores[metric]?.larger === false ? -1 : 1;
    const values = new Map();

    if (kind === "") return [list, values];
    for (const entry of list) {
      const a = scoreOf(state.run, entry, metric), b = state.beside === "" ? 0 : scoreOf(state.beside, entry, metric);

      if (kind === "attention")
        values.set(
            entry,
            divergence(
                await heatmapsOf(entry.maps[state.run]), await heatmapsOf(entry.maps[state.beside]), state.layer,
                state.head));
      else
        values.set(
            entry,
            a === null || b === null ? NaN :
                                       sign *
                    (kind === "best"      ? a :
                         kind === "worst" ? -a :
                         kind === "gain"  ? a - b :
                                            b - a));
    }
    return [
      list.filter((entry) => !Number.isNaN(values.get(entry)))
          .sort((x, y) => values.get(y) - values.get(x) || x.line - y.line),
      values
    ];
  };

  /* The form. */
  const fields = {};
  const field = (name, title, control) => {
    fields[name] = control;
    control.id = `look-${name}`;
    control.addEventListener(control.type === "search" ? "input" : "change", () => {
      state[name] = control.value;
      if (name === "run" || name === "split" || name === "beside")
        state.order = orders().some(([value]) => value === state.order) ? state.order : "";
      update();
    });
    return element("label", { for: control.id
    }, element("span", {}, title), control);
  };
  const options = (name, list) => {
    const control = fields[name];

    if (!list.some(([value]) => value === state[name]))
      list = [...list, [state[name], state[name] === "" ? "–" : `${state[name]} (not here)`]];
    control.replaceChildren(
        ...list.map(([value, text]) => element("option", {value, selected: value === state[name]}, text)));
    control.parentElement.hidden = list.length < 2;
  };
  const list = element("div", {class: "sentences", role: "listbox", "aria-label": "Sentences", tabindex: 0});
  const told = element("p", {class: "dim small told", role: "status"});
  const shownSentence = element("div", {class: "shown"});
  const step = (by) => {
    const at = current.findIndex((entry) => entry.name === state.sentence),
          next = current[Math.max(0, Math.min(current.length - 1, at + by))];

    if (!next) return;
    state.sentence = next.name;
    update();
  };
  let current = [], drawn = 0;

  list.addEventListener("keydown", (event) => {
    const by = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9}[event.key];

    if (!by) return;
    event.preventDefault();
    step(by);
  });

  const drawList = (values) => {
    const metric = state.order.split(".")[1] ?? 0, name = systemOf(state.run)?.scores[metric]?.name;
    const at = current.findIndex((entry) => entry.name === state.sentence), first = Math.max(0, at - 100);

    list.replaceChildren(...current.slice(first, first + 200).map((entry) => {
      const numbers = runs().map((run) => scoreOf(run, entry, metric)?.toFixed(1) ?? "–").join(" / ");
      const chosen = entry.name === state.sentence, words = element("span", {dir: "auto"});

      translationOf(state.run, entry).then((text) => words.append(text));

      return element(
          "div", {
            role: "option",
            class: "line",
            "aria-selected": String(chosen),
            id: chosen ? "look-chosen" : false,
            onclick: () => {
              state.sentence = entry.name;
              update();
            }
          },
          element("span", {class: "dim"}, entry.name),
          element(
              "span", {class: "dim"},
              state.order === "attention" ? `${values.get(entry).toFixed(3)} bits` :
                  name ? numbers :
                         ""),
          words,
          element(
              "span", {class: "dim", title: "with attention"},
              entry.maps.some((number) => number !== null) ? "▦" : ""));
    }));
    list.setAttribute("aria-activedescendant", "look-chosen");
    const chosen = list.querySelector("#look-chosen");
    if (chosen)
      list.scrollTop += chosen.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
    told.textContent = `${current.length} ${current.length === 1 ? "sentence" : "sentences"}${
                           current.length > 200 ? "; 200 of them are listed" : ""}` +
        `${
                           name && state.order !== "attention" ? `; numbers are sentence-level ${name}` :
                                                                 ""}; ▦ marks those with attention.`;
  };

  const texts = (entry, found) => {
    const line = (title, text, run, more = "") => element(
        "tr", {},
        element(
            "th", {},
            run === undefined ? "" : swatch(run), title),
        element("td", {class: "text", dir: "auto"}, text), element("td", {class: "dim small"}, more));
    const lines = sourcesOf(entry).map(([name, text]) => line(name, text));
    const seen = new Set(sourcesOf(entry).map(([name]) => name));

    for (const json of found.filter(Boolean))
      for (const map of ownOf(json).filter(
               (candidate) => !candidate.sentences && !/[:<]/.test(candidate.name) && !seen.has(candidate.name))) {
        seen.add(map.name);
        lines.push(line(map.name, textOf(map.columns)));
      }
    if (referenceOf(entry) !== undefined) lines.push(line("reference", referenceOf(entry)));
    runs().forEach((run, i) => {
      const text = hypothesisOf(run, entry) ?? (found[i]?.targets.length > 0 ? textOf(found[i].targets) : undefined);
      const scores = systemOf(run)
                         ?.scores.map((score) => `${score.name} ${score.values[entry.line]?.toFixed(1) ?? "–"}`)
                         .join(", ");

      if (text !== undefined) lines.push(line(index.runs[run], text, Number(run), scores));
    });
    return element("div", {class: "scroll"}, element("table", {}, ...lines));
  };

  const figure = (title, dim, ...children) =>
      element("figure", {}, element("figcaption", {}, `${title} `, element("span", {class: "dim"}, dim)), ...children);

  const opened = new Set(); /* names of the heatmaps that show every head */

  /* Returns thumbnails of every layer and head of @map; the selected one is drawn large elsewhere. */
  const overview = (map, largest) => {
    const details = element(
        "details", {open: opened.has(map.name)},
        element("summary", {class: "small"}, `${map.name}: every layer and head`));
    const choose = (layer, head) => {
      Object.assign(state, {layer: String(layer), head: String(head), source: map.name});
      update();
    };
    const face = (layer, head) => element(
        "td", {},
        element(
            "button", {
              type: "button",
              class: "face",
              "aria-label": `layer ${layer}, ${head === "mean" ? "mean of heads" : `head ${head}`}`,
              "aria-pressed": String(String(layer) === state.layer && String(head) === state.head),
              onclick: () => choose(layer, head)
            },
            thumbnail(pictureOf(map, String(layer), String(head)), largest)));
    const heads = map.kept_heads > 1 ? [...Array(map.kept_heads).keys()] : [];

    details.addEventListener("toggle", () => {
      if (details.open)
        opened.add(map.name);
      else
        opened.delete(map.name);
      if (!details.open || details.children.length > 1) return;
      details.append(element(
          "div", {class: "scroll"},
          element(
              "table", {},
              element(
                  "tr", {}, element("th", {}), element("th", {}, "mean"),
                  ...heads.map((head) => element("th", {}, `head ${head}`))),
              ...[...Array(map.kept_layers).keys()].map(
                  (layer) => element(
                      "tr", {}, element("th", {}, `layer ${layer}`), face(layer, "mean"),
                      ...heads.map((head) => face(layer, head)))))));
    });
    return details;
  };

  const side = (run, json, largest, room) => {
    const parts = [element(
        "h3", {}, swatch(run), index.runs[run])];

    if (!json)
      return element(
          "div", {class: "side"}, ...parts,
          element("p", {class: "dim"}, "The page has no attention of this run for this sentence."));
    const own = ownOf(json).filter((map) => state.source === "" || map.name === state.source);
    const chosen = own.map(
        (map) => (state.weights === "effective" && json.maps.find((other) => other.name === `${map.name}.effective`)) ||
            map);
    if (chosen.length > 0) {
      const title = chosen.length === 1 ? chosen[0].title :
          chosen.some(isEffective)      ? "attention to all sources, with the second level" :
                                          "attention to all sources";

      parts.push(figure(
          title, choiceOf(chosen[0], state.layer, state.head),
          heatmaps(chosen.map((map) => pictureOf(map, state.layer, state.head)), largest, room)));
      if (chosen.some((map) => map.kept_heads < map.heads || map.kept_layers < map.layers))
        parts.push(element(
            "p", {class: "dim small"},
            "To keep the page small, it has only means for this sentence; plait show draws every layer and head."));
    }
    for (const map of own)
      if (map.kept_layers * map.kept_heads > 1) parts.push(overview(map, largest));
    const contexts = json.maps.find(isContexts), top = (contexts ?? own[0])?.kept_layers ?? 0;
    const layer = state.layer === "" || state.layer === "mean" || Number(state.layer) >= top ? top - 1 :
                                                                                               Number(state.layer),
          share = top > 0 ? sharesOf(json, layer) : null;
    if (share) {
      const name = contexts ? "contexts" : "sources";

      parts.push(figure(
          `Share of each source in a target token`, `layer ${layer}`,
          shares(json.targets, share.sources, share.values, room)));
      if (share.layers > 1)
        parts.push(figure(
            `Attention over ${name} by decoder layer`, "mean of heads",
            heatmaps(
                [...Array(share.layers).keys()].map((l) => {
                  const one = sharesOf(json, l);
                  return {
                    title: `layer ${l}`,
                    short: `layer ${l}`,
                    rows: json.targets,
                    columns: one.sources,
                    values: one.values
                  };
                }),
                1, room),
            colourBar(1)));
    } else if (ownOf(json).length > 1)
      parts.push(element(
          "p", {class: "dim small"},
          "Each source has a softmax of its own here: its weights sum to 1 for every target token."));
    for (const map of json.maps.filter(({group}) => group === "coverage" || group === "copy"))
      parts.push(figure(
          map.title, "", heatmaps([pictureOf(map, "", "")], map.largest || 1, room), colourBar(map.largest || 1)));
    for (const descent of json.descents) {
      const word = Math.min(Number(state.word) || 0, descent.targets.length - 1);

      parts.push(figure(descent.title, descent.choice, ...descentPicture(descent, word, (chosen) => {
                          state.word = String(chosen);
                          update();
                        })));
    }
    parts.push(...json.undrawn.map((text) => element("p", {class: "dim small"}, text)));
    return element("div", {class: "side"}, ...parts);
  };

  let turn = 0;
  const update = async () => {
    const mine = ++turn, all = entries(), find = state.find.toLowerCase(), matching = [];

    for (const entry of all)
      if (find === "" || entry.name === find ||
          (await wordsOf(entry)).some((text) => text.toLowerCase().includes(find)))
        matching.push(entry);
    const [sorted, values] = await ordered(matching);

    if (mine !== turn) return;
    current = sorted;
    if (!current.some((entry) => entry.name === state.sentence))
      state.sentence = (current.find(
                            (entry) => state.order === "" && entry.maps[state.run] !== null &&
                                entry.maps[state.run] !== undefined) ??
                        current[0])
                           ?.name ??
          "";
    const entry = current.find((candidate) => candidate.name === state.sentence);
    const found = entry ? await Promise.all(runs().map((run) => heatmapsOf(entry.maps[run]))) : [];
    if (mine !== turn) return;
    const present = found.filter(Boolean), own = present.flatMap(ownOf),
          most = (key) => Math.max(0, ...own.map((map) => map[key]));
    const numbers = (n, name) => [...Array(n).keys()].map((i) => [String(i), `${name} ${i}`]);
    options("run", index.runs.map((name, r) => [String(r), name]));
    options(
        "beside",
        [["", "no other"], ...index.runs.map((name, r) => [String(r), name]).filter(([r]) => r !== state.run)]);
    options("split", splits.map((split) => [split, split]));
    options("order", orders());
    options("source", [["", "all"], ...[...new Set(own.map((map) => map.name))].map((name) => [name, name])]);
    options("layer", [["", "last layer"], ["mean", "mean of layers"], ...numbers(most("layers"), "layer")]);
    options("head", [["", "mean of heads"], ...numbers(most("heads"), "head")]);
    options("weights", [
      ["own", "of each attention"],
      ...(present.some((json) => json.maps.some(isEffective)) ? [["effective", "with the second level"]] : [])
    ]);
    options("scale", [["greatest", "0 to the greatest shown"], ["one", "0 to 1"]]);
    fields.find.value = state.find;
    drawList(values);
    const shownMaps = present.flatMap(
        (json) => ownOf(json)
                      .filter((map) => state.source === "" || map.name === state.source)
                      .map(
                          (map) => pictureOf(
                              (state.weights === "effective" &&
                               json.maps.find((other) => other.name === `${map.name}.effective`)) ||
                                  map,
                              state.layer, state.head)));
    const greatest = shownMaps.reduce((largest, map) => map.values.reduce((x, y) => Math.max(x, y), largest), 0);
    const largest = state.scale === "one" || !(greatest > 0) ? 1 : greatest;
    const room = place.clientWidth / (runs().length > 1 && place.clientWidth > 900 ? 2 : 1) - 24;
    if (!entry)
      shownSentence.replaceChildren(element("p", {}, "No sentence matches the search."));
    else
      shownSentence.replaceChildren(
          element(
              "h3", {class: "walk"},
              element("button", {type: "button", "aria-label": "the sentence before", onclick: () => step(-1)}, "←"),
              entry.name.includes(".") ? ` document ${entry.name.replace(".", ", chunk ")} ` :
                                         ` sentence ${entry.name} `,
              element("button", {type: "button", "aria-label": "the next sentence", onclick: () => step(1)}, "→")),
          texts(entry, found),
          ...(present.length > 0 ?
                  [element(
                      "p", {class: "small dim"}, "Rows are target tokens, columns what they attend to; numbers are hundredths. One scale for all: ", colourBar(largest))] :
                  []),
          element("div", {class: "sides"}, ...runs().map((run, i) => side(Number(run), found[i], largest, room))));
    remember();
    place.dataset.drawn = String(++drawn);
  };

  place.append(
      element("h2", {}, "Sentences"),
      element(
          "form", {class: "choices", onsubmit: (event) => event.preventDefault()},
          field("run", "Run", element("select")), field("beside", "Beside it", element("select")),
          field("split", "Split", element("select")), field("order", "Order", element("select")),
          field("find", "Search", element("input", {type: "search", placeholder: "words or a number"}))),
      told, list,
      element(
          "form", {class: "choices", onsubmit: (event) => event.preventDefault()},
          field("source", "Source", element("select")), field("layer", "Layer", element("select")),
          field("head", "Head", element("select")), field("weights", "Weights", element("select")),
          field("scale", "Colours", element("select"))),
      shownSentence);
  document.body.append(tip);
  place.hidden = false;
  document.getElementById("fixed")?.removeAttribute("open");
  document.getElementById("unscripted").remove();
  remembered();
  addEventListener("hashchange", () => {
    Object.assign(state, usual);
    remembered();
    update();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) update();
    width = innerWidth;
  });
  await update();
};

if (packs && typeof DecompressionStream === "function") start();
