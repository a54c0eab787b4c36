const main = byId("text"), details = byId("details"), card = byId("card");
let chosen = -1;

function show(title, record, quote) {
  details.replaceChildren(element("h2", title), pairs(record));
  if (quote) details.append(element("blockquote", quote));
}

/* --- chunks --- */
function choose(number, jump) {
  document.querySelectorAll(".chosen").forEach((one) => one.classList.remove("chosen"));
  const chunk = DATA.chunks[number];
  if (!chunk) return;
  chosen = number;
  main.querySelectorAll(`[data-c~="${number}"]`).forEach((one) => one.classList.add("chosen"));
  const badge = byId(`c${number}`);
  badge.classList.add("chosen");
  const bar = document.querySelector(`.strip a[href="#c${number}"]`);
  if (bar) bar.classList.add("chosen");
  show(`Chunk ${number}`, chunk);
  if (jump) badge.scrollIntoView({ block: "center" });
}

/* --- marks --- */
function noteText(numbers) {
  return numbers.map((n) => DATA.notes[n].text).join("\n\n");
}

function lookUp(target) {
  const set = target.dataset;
  if (set.mark !== undefined) {
    const numbers = set.mark.split(" ");
    return { title: "Note", text: noteText(numbers), record: { marker: target.textContent }, notes: numbers };
  }
  if (set.ref !== undefined) {
    const record = DATA.references[set.ref.split(" ")[0]];
    const place = record.scope === "internal" ? record.targets : [record.act, ...record.provisions];
    return { title: "Reference", text: "→ " + place.filter(Boolean).join(", "), record };
  }
  if (set.fact !== undefined) {
    const record = DATA.facts[set.fact.split(" ").pop()];
    const value = [record.value, record.unit].filter(Boolean).join(" ");
    return { title: "Fact", text: `${record.concept}\n${value}\n${record.period}`, record };
  }
  if (set.note !== undefined) {
    const numbers = set.note.split(" ");
    const note = DATA.notes[numbers[0]];
    return { title: "Note", text: `called ${note.calls} times`, record: { marker: note.marker, calls: note.calls }, notes: numbers };
  }
  if (set.turn !== undefined) {
    const record = DATA.turns[set.turn.split(" ")[0]];
    return { title: "Turn", text: [record.speaker, record.role, record.firm].filter(Boolean).join("\n"), record };
  }
  if (set.lost !== undefined) return { title: "Marker", text: "No note answers to this marker.", record: { marker: set.lost } };
  return null;
}

const MARKS = "[data-mark],[data-ref],[data-fact],[data-note],[data-turn],[data-lost]";

function light(found) {
  document.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
  for (const number of (found && found.notes) || [])
    main.querySelectorAll(`[data-note~="${number}"],[data-mark~="${number}"]`).forEach((one) => one.classList.add("lit"));
}

function open(target) {
  const found = lookUp(target);
  if (!found) return;
  light(found);
  card.textContent = found.text;
  card.hidden = false;
  const box = target.getBoundingClientRect();
  const below = box.bottom + card.offsetHeight + 12 < innerHeight;
  card.style.top = `${below ? box.bottom + 6 : Math.max(6, box.top - card.offsetHeight - 6)}px`;
  card.style.left = `${Math.max(6, Math.min(box.left, innerWidth - card.offsetWidth - 12))}px`;
  show(found.title, found.record, found.title === "Note" ? found.text : "");
}

function close() {
  card.hidden = true;
  light(null);
}

main.addEventListener("mouseover", (event) => {
  const target = event.target.closest(MARKS);
  if (target) open(target);
  else close();
});
main.addEventListener("mouseleave", close);
main.addEventListener("focusin", (event) => {
  const target = event.target.closest(MARKS);
  if (target) open(target);
});
main.addEventListener("click", (event) => {
  const badge = event.target.closest(".badge");
  if (badge) return choose(Number(badge.dataset.chunk), false);
  if (event.target.closest("a")) return undefined;
  const read = event.target.closest("[data-c]");
  if (read && !String(getSelection())) choose(Number(read.dataset.c.split(" ")[0]), false);
  return undefined;
});

/* --- sections --- */
const links = [...document.querySelectorAll(".tree a")];
let here = -1;

function goTo(number) {
  const link = links[number];
  if (!link) return;
  here = number;
  links.forEach((one) => one.classList.toggle("here", one === link));
  for (let up = link.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
  link.scrollIntoView({ block: "nearest" });
  const target = byId(link.getAttribute("href").slice(1));
  if (target) target.scrollIntoView({ block: "start" });
}

links.forEach((link, number) =>
  link.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", link.getAttribute("href"));
    goTo(number);
  }),
);

byId("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  for (const item of [...document.querySelectorAll(".tree li")].reverse()) {
    const below = [...item.querySelectorAll("li")].some((one) => !one.hidden);
    const own = item.querySelector("a").textContent.toLowerCase().includes(wanted);
    item.hidden = !(own || below);
    const inner = item.querySelector("details");
    if (wanted && below && inner) inner.open = true;
  }
});

document.querySelectorAll(".strip a").forEach((bar) =>
  bar.addEventListener("click", (event) => {
    event.preventDefault();
    choose(Number(bar.getAttribute("href").slice(2)), true);
  }),
);

/* --- keys --- */
const switchTones = () => {
  const off = document.body.classList.toggle("no-tones");
  byId("tones").setAttribute("aria-pressed", String(!off));
};
byId("tones").addEventListener("click", switchTones);
byId("help-open").addEventListener("click", () => byId("help").showModal());
byId("filter").addEventListener("keydown", (event) => {
  if (event.key === "Escape") event.target.blur();
});
document.addEventListener("keydown", (event) => {
  if (typing(event)) return;
  const act = {
    j: () => choose(Math.min(chosen + 1, DATA.chunks.length - 1), true),
    k: () => choose(Math.max(chosen - 1, 0), true),
    n: () => goTo(Math.min(here + 1, links.length - 1)),
    p: () => goTo(Math.max(here - 1, 0)),
    "/": () => byId("filter").focus(),
    c: switchTones,
    d: switchTheme,
    "?": () => byId("help").showModal(),
    Escape: close,
  }[event.key];
  if (!act) return;
  if (event.key === "/") event.preventDefault();
  act();
});

const hit = byId("hit0");
if (hit) hit.scrollIntoView({ block: "center" });
