"use strict";
// The player. It knows no rules: each step of an episode says which cards it moves, and where to.
(() => {
  // Places are numbered as in game/state.py: 19 a column, then the cells, then the foundations.
  const HEIGHT = 19, CELLS = 152, HOMES = 156;
  const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
  const NAMES = ["ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"];
  const SUITS = ["spades", "hearts", "diamonds", "clubs"];
  const SYMBOLS = "♠♥♦♣";
  const OUTCOMES = { won: "won", stuck: "stuck", illegal: "ended by an illegal action", truncated: "cut off at the step limit" };
  const VERDICTS = {
    true: "It could have been won: the solver found a win from the start.",
    false: "It could not be won: a search of every line of play found no win from the start.",
  };
  // What is proved of a position, or of the positions that a move leads to.
  const STANDINGS = { w: "can be won", l: "lost", u: "not decided" };
  const SIGNS = { w: "✓", l: "✕", u: "?" };
  const EFFECTS = { w: ["keeps the win", "keep the win"], l: ["loses it", "lose it"], u: ["not decided", "not decided"] };
  const KINDS = "wlu";
  // The table, in units of a hundredth of a card's width.
  const CARD = 100, TALL = 140, GAP = 9, FAN = 34, LEAST_FAN = 29, TOP = 36, COLUMNS_TOP = TOP + TALL + 40, MARGIN = 10;
  const WIDTH = 8 * CARD + 7 * GAP + 2 * MARGIN;

  const $ = (id) => document.getElementById(id);
  const svg = (name, attributes, text) => fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, text);
  const el = (name, attributes, text) => fill(document.createElement(name), attributes, text);
  function fill(node, attributes = {}, text = null) {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    return node;
  }
  const suitOf = (card) => Math.floor((card - 1) / 13);
  const rankOf = (card) => (card - 1) % 13;
  // A name cannot turn round the words beside it, nor crowd them out.
  const plain = (text) => (text.length > 100 ? `${text.slice(0, 100)}…` : text).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  const isolated = (text) => text && `\u2068${plain(text)}\u2069`;
  const name = (card) => `${NAMES[rankOf(card)]} of ${SUITS[suitOf(card)]}`;
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

  const episodes = JSON.parse($("data").textContent);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let game, positions, homes, fan, at = 0, timer = 0, cursors = [];

  // -- cards ---------------------------------------------------------------------------------------------------

  const X = [32, 50, 68], Y = [52, 70, 87, 104, 122];
  const PIPS = [
    [], [[1, 0], [1, 4]], [[1, 0], [1, 2], [1, 4]], [[0, 0], [2, 0], [0, 4], [2, 4]],
    [[0, 0], [2, 0], [1, 2], [0, 4], [2, 4]], [[0, 0], [2, 0], [0, 2], [2, 2], [0, 4], [2, 4]],
    [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2], [0, 4], [2, 4]],
    [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2], [1, 3], [0, 4], [2, 4]],
    [[0, 0], [2, 0], [0, 1.33], [2, 1.33], [1, 2], [0, 2.67], [2, 2.67], [0, 4], [2, 4]],
    [[0, 0], [2, 0], [1, .67], [0, 1.33], [2, 1.33], [0, 2.67], [2, 2.67], [1, 3.33], [0, 4], [2, 4]],
  ];
  const CROWNS = ["M38 66q12-14 24 0l-4 6H42z", "M34 58l6 8 10-12 10 12 6-8-4 15H38z", "M32 56l9 8 9-13 9 13 9-8-4 17H36z"];

  function face(card) {
    const suit = suitOf(card), rank = rankOf(card);
    const picture = svg("svg", { viewBox: `0 0 ${CARD} ${TALL}`, "aria-hidden": "true" });
    const pip = (x, y, size, turned) => picture.append(svg("use", {
      href: `#suit${suit}`, x: x - size / 2, y: y - size / 2, width: size, height: size,
      ...(turned ? { transform: `rotate(180 ${x} ${y})` } : {}),
    }));
    picture.append(svg("rect", { class: "paper", x: 2, y: 2, width: CARD - 4, height: TALL - 4, rx: 9 }));
    picture.append(svg("text", { x: 9, y: 28, "font-size": 31, ...(rank === 9 ? { textLength: 34, lengthAdjust: "spacingAndGlyphs" } : {}) }, RANKS[rank]));
    pip(79, 17, 22);
    if (rank >= 10) {
      picture.append(svg("rect", { class: "frame", x: 18, y: 44, width: 64, height: 86, rx: 5 }));
      pip(50, 100, 46);
      picture.append(svg("path", { class: "crown", d: CROWNS[rank - 10] }));
    } else if (rank === 0) {
      pip(50, 86, 56);
    }
    for (const [x, y] of PIPS[rank] || []) {
      const low = Math.floor(y), height = Y[low] + (y - low) * ((Y[low + 1] || 0) - Y[low]);
      pip(X[x], height, rank < 8 ? 19 : 17, y > 2);
    }
    const box = el("div", { class: `card ${suit === 1 || suit === 2 ? "red" : "black"}`, "data-card": card });
    box.style.width = `${100 * CARD / WIDTH}%`;
    box.append(picture);
    return box;
  }

  const cards = [null];
  for (let card = 1; card <= 52; card++) cards.push(face(card));

  // -- the table -----------------------------------------------------------------------------------------------

  const column = (i) => MARGIN + i * (CARD + GAP);
  function spot(place) {
    if (place >= HOMES) return [column(4 + place - HOMES), TOP];
    if (place >= CELLS) return [column(place - CELLS), TOP];
    return [column(Math.floor(place / HEIGHT)), COLUMNS_TOP + (place % HEIGHT) * fan];
  }

  const field = svg("svg", { "aria-hidden": "true" }), marks = svg("g");
  const won = el("div", { class: "won", "aria-hidden": "true" }, "Won");

  function layTable() {
    let tallest = 7;
    for (const position of positions) for (const place of position) if (place < CELLS) tallest = Math.max(tallest, place % HEIGHT + 1);
    // The index of a card that others lie on stays in sight.
    fan = Math.min(FAN, Math.max(LEAST_FAN, 460 / (tallest - 1)));
    const height = COLUMNS_TOP + (tallest - 1) * fan + TALL + MARGIN;
    const table = $("table");
    table.style.aspectRatio = `${WIDTH} / ${height}`;
    document.body.style.setProperty("--ratio", WIDTH / height);
    field.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
    field.replaceChildren();
    const label = (x, y, text) => field.append(svg("text", { class: "name", x: x + CARD / 2, y }, text));
    const outline = (x, y) => field.append(svg("rect", { class: "place", x: x + 3, y: y + 3, width: CARD - 6, height: TALL - 6, rx: 9 }));
    for (let i = 0; i < game.cells; i++) {
      outline(column(i), TOP);
      label(column(i), 26, "abcd"[i]);
    }
    for (let i = 0; i < 4; i++) {
      outline(column(4 + i), TOP);
      field.append(svg("use", { class: "ghost", href: `#suit${i}`, x: column(4 + i) + 25, y: TOP + 45, width: 50, height: 50 }));
    }
    field.append(svg("text", { class: "name", x: (column(4) + column(7) + CARD) / 2, y: 26 }, "home"));
    for (let i = 0; i < 8; i++) {
      outline(column(i), COLUMNS_TOP);
      label(column(i), COLUMNS_TOP - 12, i + 1);
    }
    field.append(marks);
    table.replaceChildren(field, ...cards.slice(1), won);
  }

  function draw(raise) {
    const position = positions[at];
    const moved = at ? changed(positions[at - 1], position) : [];
    const shifted = raise === null ? [] : changed(positions[raise], position);
    for (let card = 1; card <= 52; card++) {
      const place = position[card - 1], [x, y] = spot(place), box = cards[card];
      box.style.transform = `translate(${x}%, ${y * CARD / TALL}%)`;
      // Foundations lie in the order of their ranks, columns in that of their rows; cards on their way lie above.
      const order = place >= HOMES ? rankOf(card) : place >= CELLS ? 0 : place % HEIGHT;
      box.style.zIndex = order + (shifted.includes(card) ? 100 : 0);
      box.classList.toggle("moved", moved.includes(card));
      const mark = game.marks.find(([, marked]) => (marked ? marked[at] : moved).includes(card));
      box.classList.toggle("marked", mark !== undefined);
      if (mark) box.style.setProperty("--marked", mark[0]);
    }
    marks.replaceChildren();
    if (moved.length) {
      // The lowest of the cards that moved shows where they all left; all others stand on it.
      const places = moved.map((card) => positions[at - 1][card - 1]);
      const [x, y] = spot(Math.min(...places));
      marks.append(svg("rect", { class: "left", x: x + 4, y: y + 4, width: CARD - 8, height: TALL - 8, rx: 9 }));
    }
    won.hidden = !position.every((place) => place >= HOMES);
    $("table").setAttribute("aria-label", describe(position));
  }

  const changed = (before, after) => cards.map((_, card) => card).filter((card) => card && before[card - 1] !== after[card - 1]);

  function describe(position) {
    const lines = Array.from({ length: 8 }, () => []), cells = Array(game.cells).fill("empty"), home = SUITS.map((suit) => `no ${suit}`);
    for (let card = 1; card <= 52; card++) {
      const place = position[card - 1];
      if (place >= HOMES) home[place - HOMES] = name(card);
      else if (place >= CELLS) cells[place - CELLS] = name(card);
      else lines[Math.floor(place / HEIGHT)][place % HEIGHT] = name(card);
    }
    const columns = lines.map((line, i) => `Column ${i + 1}: ${line.join(", ") || "empty"}.`);
    return `Cells: ${cells.join(", ")}. Home: ${home.join(", ")}. ${columns.join(" ")}`;
  }

  // -- words, curves and moves ---------------------------------------------------------------------------------

  const outcome = () => OUTCOMES[game.outcome] || "not over";
  const refused = (step) => typeof step[1] === "string";

  function say() {
    const last = game.steps.length, step = at ? game.steps[at - 1] : null;
    const words = [step ? `Step ${at} of ${last}: ${step[0]}` : last ? `Start of ${plural(last, "step")}` : "No move yet"];
    if (step && refused(step)) words.push(`refused: ${step[1].replace(/^.*? is not legal: /, "")}`);
    if (step && game.rewards) words.push(`reward ${game.rewards[at - 1]}`);
    words.push(`score ${game.scores[at]}`, `${homes[at]} of 52 home`);
    if (last && at === last) words.push(outcome());
    if (game.proof && homes[at] < 52) words.push(STANDINGS[game.proof.positions[at]]);
    $("status").textContent = words.join(" · ");
  }

  /** What each legal move does to the win, by its text; nothing in a position that is lost, or where none is played. */
  function effects() {
    const groups = (game.proof && game.proof.moves[at]) || [];
    return new Map(groups.flatMap((texts, i) => texts.map((text) => [text, KINDS[i]])));
  }

  function prove() {
    const { proof } = game, box = $("proof");
    $("proving").hidden = !proof;
    box.replaceChildren();
    if (!proof) return;
    const kind = proof.positions[at], step = game.steps[at], over = at === game.steps.length;
    const now = homes[at] === 52 ? "won" : STANDINGS[kind];
    box.append(el("p", { class: `standing ${kind}` }, `${SIGNS[kind]} ${over ? "In the end" : `Before step ${at + 1}`}: ${now}`));
    const found = effects();
    if (found.size) {
      const list = el("dl");
      for (const each of KINDS) {
        const texts = [...found.keys()].filter((text) => found.get(text) === each);
        if (!texts.length) continue;
        const moves = el("dd", { class: each });
        for (const text of texts) moves.append(el("span", text === step[0] ? { class: "move played", title: "played" } : { class: "move" }, text));
        list.append(el("dt", { class: each }, `${texts.length} ${EFFECTS[each][Number(texts.length > 1)]}`), moves);
      }
      box.append(list);
    } else if (kind === "l" && !over) {
      box.append(el("p", {}, "No move wins from here."));
    }
    if (proof.mistakes.includes(at + 1)) {
      box.append(el("p", { class: "l" }, `${step[0]} ${at + 1 === proof.lost ? "lost the game" : "threw the win away, and was taken back"}.`));
    }
    if (proof.win && at + 1 === proof.lost) {
      const button = el("button", { type: "button", id: "watch" }, `Watch a win from here: ${plural(proof.win.steps.length, "step")}`);
      button.addEventListener("click", () => enter(episodes.indexOf(proof.win), 0));
      box.append(button);
    }
  }

  /** The band along the slider: each step in the colour of what it leads to. */
  function layBand() {
    const { proof } = game, last = game.steps.length, band = $("band");
    band.hidden = !proof;
    band.replaceChildren();
    if (!proof || !last) return;
    const picture = svg("svg", { viewBox: `0 0 ${last} 12`, preserveAspectRatio: "none", role: "img" });
    const runs = [];
    for (let step = 1; step <= last; step++) {
      const kind = proof.positions[step], run = runs[runs.length - 1];
      if (run && run.kind === kind) run.to = step;
      else runs.push({ kind, from: step, to: step });
    }
    // A win is a thick band, a loss a thin one: not everybody sees the colours.
    const heights = { w: 10, l: 4, u: 6 };
    for (const { kind, from, to } of runs) {
      const height = heights[kind];
      picture.append(svg("rect", { class: kind, x: from - 1, y: 6 - height / 2, width: to - from + 1, height }));
    }
    const words = runs.map(({ kind, from, to }) => `${from === to ? `step ${from}` : `steps ${from} to ${to}`} ${STANDINGS[kind]}`);
    picture.setAttribute("aria-label", `The win: ${words.join(", ")}`);
    picture.addEventListener("pointerdown", (event) => {
      const box = picture.getBoundingClientRect();
      go(Math.round(last * (event.clientX - box.left) / box.width));
    });
    const pins = el("div", { class: "pin" });
    for (const step of proof.mistakes) {
      const said = step === proof.lost ? "To the losing move" : "To a move that threw the win away", label = `${said}, step ${step}`;
      const pin = el("button", { type: "button", "aria-label": label, title: label }, "✕");
      pin.style.left = `${100 * (step - 0.5) / last}%`;
      pin.addEventListener("click", () => go(step - 1));
      pins.append(pin);
    }
    band.append(picture, pins);
  }

  function think() {
    const thought = game.thoughts && game.thoughts[at], box = $("thought");
    $("thinking").hidden = !game.thoughts;
    box.replaceChildren();
    if (!thought) {
      box.append(el("p", {}, at < game.steps.length ? "Nothing is noted before this step." : "The episode ends here."));
      return;
    }
    box.append(el("p", {}, `Before step ${at + 1}` + (thought.value === null ? "" : `: value ${thought.value}, ${plain(game.unit)}`)));
    if (thought.note) box.append(el("p", {}, thought.note));
    const found = effects();
    const rows = el("table", { "aria-label": "Likeliest actions and their probabilities" });
    for (const [text, probability, chosen] of thought.choices) {
      const effect = found.get(text);
      const row = el("tr", chosen ? { class: "chosen", "aria-label": "chosen" } : {});
      if (effect) row.classList.add(effect);
      const bar = el("div", { class: "bar" }), cell = el("td", { "aria-hidden": "true" });
      bar.style.width = `${100 * probability}%`;
      cell.append(bar);
      row.append(el("th", { scope: "row" }, text), cell, el("td", { class: "share" }, `${(100 * probability).toFixed(1)} %`));
      if (found.size) row.append(el("td", effect ? { class: "sign", title: EFFECTS[effect][0] } : {}, effect ? SIGNS[effect] : ""));
      rows.append(row);
    }
    if (thought.choices.length) box.append(rows);
  }

  function curve(title, values, low, high) {
    const known = values.map((value, i) => [i, value]).filter(([, value]) => value !== null);
    // Halves, as the difference of two huge numbers would be infinite.
    const steps = Math.max(1, game.steps.length), span = high / 2 - low / 2 || 1;
    const x = (i) => (100 * i / steps).toFixed(2), y = (value) => (38 - 36 * ((value / 2 - low / 2) / span)).toFixed(2);
    const line = known.map(([i, value], n) => `${n ? "L" : "M"}${x(i)} ${y(value)}`).join("");
    const picture = svg("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" });
    const cursor = svg("line", { class: "now", y1: 0, y2: 40 }), number = el("span");
    if (known.length) picture.append(svg("path", { class: "area", d: `${line}L${x(known[known.length - 1][0])} 38L${x(known[0][0])} 38z` }));
    const fatal = game.proof && game.proof.lost;
    if (fatal) picture.append(svg("line", { class: "fatal", x1: x(fatal), x2: x(fatal), y1: 0, y2: 40 }));
    picture.append(svg("line", { class: "base", x1: 0, x2: 100, y1: 38, y2: 38 }), svg("path", { class: "line", d: line }), cursor);
    picture.addEventListener("pointerdown", (event) => {
      const box = picture.getBoundingClientRect();
      stop();
      show(Math.round(steps * (event.clientX - box.left) / box.width));
    });
    const figure = el("figure", { class: "curve" }), caption = el("figcaption");
    caption.append(el("span", {}, title), number);
    figure.append(caption, picture);
    $("curves").append(figure);
    cursors.push(() => {
      cursor.setAttribute("x1", x(at));
      cursor.setAttribute("x2", x(at));
      number.textContent = values[at] === null || values[at] === undefined ? "" : values[at];
    });
  }

  function listMoves() {
    $("moves").replaceChildren(...game.steps.map((step, i) => {
      const kind = refused(step) ? { class: "refused", title: step[1] } : step[0] === "undo" ? { class: "undo" } : {};
      const button = el("button", { type: "button", "data-number": i + 1, tabindex: -1, ...kind }, step[0]), item = el("li");
      if (game.proof && game.proof.positions[i + 1] === "l") button.classList.add(game.proof.mistakes.includes(i + 1) ? "mistake" : "hopeless");
      button.addEventListener("click", () => { stop(); show(i + 1); });
      item.append(button);
      return item;
    }));
  }

  function markMove(before) {
    const list = $("moves"), buttons = list.children;
    const of = (step) => buttons[step - 1] && buttons[step - 1].firstChild;
    if (of(before)) fill(of(before), { tabindex: -1 }).removeAttribute("aria-current");
    const now = of(at) || of(1);
    if (!now) return;
    now.tabIndex = 0;
    if (at) now.setAttribute("aria-current", "step");
    // Only the list scrolls, never the page.
    const row = now.parentNode, top = row.offsetTop, bottom = top + row.offsetHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  // -- playing -------------------------------------------------------------------------------------------------

  function open(number, step) {
    stop();
    game = episodes[number];
    positions = [game.places];
    for (const [, moves] of game.steps) {
      const position = positions[positions.length - 1].slice();
      if (typeof moves !== "string") for (let i = 0; i < moves.length; i += 2) position[moves[i] - 1] = moves[i + 1];
      positions.push(position);
    }
    homes = positions.map((position) => position.filter((place) => place >= HOMES).length);
    const last = game.steps.length;
    $("title").textContent = game.title;
    const facts = [isolated(game.agent), isolated(game.strength), outcome(), `${homes[last]} of 52 home`, `score ${game.scores[last]}`, plural(last, "step")];
    $("facts").textContent = facts.filter(Boolean).join(" · ");
    // A game that was won, or that is still going on, needs no verdict, unless it has been diagnosed.
    const told = (game.outcome && game.outcome !== "won" && VERDICTS[game.solvable]) || "";
    $("verdict").textContent = game.proof ? game.proof.said : game.within === undefined ? told : `A win from before step ${game.from + 1} of the game.`;
    $("fatal").hidden = !(game.proof && game.proof.lost);
    $("leave").hidden = game.within === undefined;
    $("games").value = game.within ?? number;
    $("slider").max = last;
    document.body.classList.toggle("empty", !last);
    document.body.classList.toggle("diagnosed", Boolean(game.proof));
    for (const part of document.querySelectorAll(".controls, .side")) part.hidden = !last;
    cursors = [];
    $("curves").replaceChildren();
    const most = Math.max(...game.scores, 10), least = Math.min(...game.scores, 0);
    curve("Score", game.scores, least, most);
    curve("Cards home", homes, 0, 52);
    const values = game.thoughts ? [...game.thoughts.map((thought) => thought && thought.value), null] : [];
    const known = values.filter((value) => value !== null);
    if (known.length) curve(`Value, ${plain(game.unit)}`, values, Math.min(...known, 0), Math.max(...known, 0));
    listMoves();
    layBand();
    $("table").classList.add("still");
    layTable();
    at = Math.max(0, Math.min(step, last));
    refresh(null, 0);
    void $("table").offsetWidth;
    $("table").classList.remove("still");
  }

  function refresh(raise, before) {
    const last = game.steps.length;
    draw(raise);
    say();
    prove();
    think();
    markMove(before);
    cursors.forEach((move) => move());
    $("slider").value = at;
    $("slider").setAttribute("aria-valuetext", $("status").textContent);
    for (const id of ["first", "back"]) $(id).disabled = at === 0;
    for (const id of ["next", "last"]) $(id).disabled = at === last;
    document.body.dataset.step = at;
  }

  function show(step) {
    const before = at;
    at = Math.max(0, Math.min(step, game.steps.length));
    if (at !== before) refresh(Math.abs(at - before) === 1 ? before : null, before);
    try {
      history.replaceState(null, "", `#${episodes.indexOf(game) + 1}/${at}`);
    } catch { /* A frame without an address of its own. */ }
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    fill($("play"), { "aria-pressed": false, "aria-label": "Play" });
    $("status").setAttribute("aria-live", "polite");
  }

  function start() {
    if (at === game.steps.length) show(0);
    fill($("play"), { "aria-pressed": true, "aria-label": "Pause" });
    // Thirty moves a second are not to be read out.
    $("status").setAttribute("aria-live", "off");
    tick();
  }

  function tick() {
    timer = setTimeout(() => {
      show(at + 1);
      if (at === game.steps.length) stop();
      else tick();
    }, 1000 / Number($("speed").value));
  }

  const toggle = () => (timer ? stop() : start());
  const go = (target) => { stop(); show(target); };

  $("play").addEventListener("click", toggle);
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(at - 1));
  $("next").addEventListener("click", () => go(at + 1));
  $("last").addEventListener("click", () => go(game.steps.length));
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  const enter = (number, step) => { open(number, step); show(step); };
  $("games").addEventListener("change", () => enter(Number($("games").value), 0));
  $("fatal").addEventListener("click", () => go(game.proof.lost - 1));
  $("leave").addEventListener("click", () => enter(game.within, game.from));

  const KEYS = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(game.steps.length), " ": toggle, l: () => { if (game.proof && game.proof.lost) go(game.proof.lost - 1); } };
  document.addEventListener("keydown", (event) => {
    const inside = event.target.tagName;
    const theirs = inside === "SELECT" || (inside === "INPUT" && event.key !== " ") || (inside === "BUTTON" && event.key === " ");
    if (!KEYS[event.key] || theirs || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
    if (inside === "BUTTON" && event.target.parentNode.parentNode.id === "moves") $("moves").querySelector("[tabindex='0']").focus();
  });

  for (const [i, { title, agent, outcome: end, steps, proof }] of episodes.entries()) {
    const length = proof && proof.lost ? `lost at step ${proof.lost} of ${steps.length}` : plural(steps.length, "step");
    const text = [`${i + 1}. ${title}`, isolated(agent), OUTCOMES[end] || "not over", length].filter(Boolean).join(" · ");
    $("games").append(el("option", { value: i }, text));
  }
  $("choice").hidden = episodes.length < 2;
  // The wins that were missed come after the games.
  for (const [i, { proof }] of [...episodes.entries()]) {
    if (proof && proof.win) episodes.push(Object.assign(proof.win, { within: i, from: proof.lost - 1 }));
  }
  const [, wanted, step] = /^#(\d+)\/(\d+)$/.exec(location.hash) || [];
  const number = wanted && episodes[wanted - 1] ? wanted - 1 : 0;
  open(number, wanted ? Number(step) : episodes[number].at);
})();
