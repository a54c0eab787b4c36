const said = byId("said");
let asked = null;

async function call(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.message);
  return value;
}

function tell(message, failed) {
  said.textContent = message;
  said.classList.toggle("failed", Boolean(failed));
}

function place(index, docId, spans) {
  return `/document?${new URLSearchParams({ index, doc: docId, spans })}`;
}

/* --- what the indexes hold --- */
function listDocuments() {
  const held = byId("held");
  held.replaceChildren();
  for (const index of DATA.indexes) {
    held.append(element("h2", `${index.name}: ${index.documents.length} documents, ${index.chunks} chunks`));
    const table = element("table");
    for (const one of index.documents) {
      const row = element("tr");
      const cell = element("td");
      cell.append(element("a", one.title || one.doc_id, { href: place(index.name, one.doc_id, ""), target: "_blank" }));
      row.append(cell);
      for (const key of ["issuer", "doc_type", "fiscal_year", "lang", "chunks"]) row.append(element("td", shown(one[key])));
      table.append(row);
    }
    held.append(table);
  }
}

function listSides() {
  const first = DATA.indexes[0].name;
  const choices = [["nothing", null]];
  for (const index of DATA.indexes.slice(1)) choices.push([`index ${index.name}`, { index: index.name }]);
  choices.push(["the same without the plan", { index: first, plan: false }]);
  for (const part of DATA.parts) choices.push([`the same without ${part}`, { index: first, without: [part] }]);
  for (const [label, side] of choices)
    byId("beside").append(element("option", label, { value: side ? JSON.stringify(side) : "" }));
}

/* --- one side of a search --- */
function chips(plan) {
  const box = element("p", null, { class: "chips" });
  const add = (name, value) => {
    if (!shown(value)) return;
    const chip = element("span");
    chip.append(element("b", `${name} `), shown(value));
    box.append(chip);
  };
  add("searched", plan.search);
  add("language", plan.lang);
  add("issuer", plan.mentions.map((one) => one.entities.join(" or ")));
  add("not held", plan.missing);
  add("period", plan.periods.map((one) => (one.day ? one.day : `${one.part} ${one.year}`)));
  add("kind", [...plan.named_kinds, ...plan.hinted_kinds.map((one) => `${one}?`)]);
  add("metric", plan.metrics.map((one) => one.metric));
  add("topic", plan.topics.map((one) => one.topic));
  add("statement", plan.statements);
  add("item", plan.items);
  add("answer is a", plan.shape);
  add("identifier", plan.identifiers);
  add("compared", plan.compared);
  add("clause", plan.clauses);
  return box;
}

function heat(index, hit, box) {
  box.addEventListener(
    "toggle",
    async () => {
      if (!box.open || box.dataset.done) return;
      box.dataset.done = "1";
      try {
        const found = await call("/api/lines", { index, question: asked.question, doc_id: hit.doc_id, spans: hit.spans });
        const table = element("table", null, { class: "lines" });
        for (const line of found.lines) {
          const row = element("tr", null, { title: line.terms.join(", ") });
          row.style.background = `rgba(255, 140, 0, ${(0.85 * line.score).toFixed(2)})`;
          const where = line.page ? `p. ${line.page}, l. ${line.line}` : `l. ${line.line}`;
          row.append(element("td", where), element("td", line.score.toFixed(2)), element("td", line.text));
          table.append(row);
        }
        box.append(element("small", `best line ${found.maximum.toFixed(2)}, density ${found.density.toFixed(2)}`), table);
      } catch (error) {
        box.append(element("small", error.message));
      }
    },
    { passive: true },
  );
}

function item(index, hit, full) {
  const made = element("li", null, { "data-id": hit.id || "" });
  const pages = hit.page ? ` · p. ${hit.page}` : "";
  made.append(
    element("a", hit.context_header || hit.section_path || hit.title || hit.doc_id, {
      class: "where",
      href: place(index, hit.doc_id, hit.spans),
      target: "_blank",
    }),
  );
  const more = full && hit.reason ? ` · ${hit.reason}` : "";
  made.append(element("small", `${hit.score === undefined ? "" : hit.score.toFixed(3)}${pages}${hit.size ? ` · ${hit.size} tokens` : ""}${more}`));
  if (full) {
    const text = element("details");
    text.append(element("summary", `text (${hit.spans})`), element("pre", hit.text));
    const lines = element("details", null, { class: "heat" });
    lines.append(element("summary", "lines that carry it"));
    heat(index, hit, lines);
    made.append(text, lines);
  }
  return made;
}

function list(index, hits, full) {
  const made = element("ol", null, { class: "hits" });
  made.append(...hits.map((hit) => item(index, hit, full)));
  return made;
}

function gauge(side) {
  const bar = element("div", null, { class: "gauge", role: "img", "aria-label": `${side.used} of ${side.budget} tokens` });
  for (const hit of side.packed) {
    const part = element("i", null, { title: `${hit.size} tokens` });
    part.style.width = `${(100 * hit.size) / side.budget}%`;
    bar.append(part);
  }
  return bar;
}

function folded(title, open, ...content) {
  const made = element("details");
  made.open = open;
  const summary = element("summary");
  summary.append(element("b", title));
  made.append(summary, ...content);
  return made;
}

function drawSide(side, name) {
  const made = element("section", null, { class: "side", "aria-label": name });
  made.append(element("h2", name));
  if (side.plan.plan) {
    const reasons = element("ul", null, { class: "reasons" });
    reasons.append(...[...new Set(side.plan.reasons)].map((one) => element("li", one)));
    reasons.append(...side.plan.backed_off.map((one) => element("li", `given up: ${one}`, { class: "warn" })));
    made.append(element("h3", "Plan"), chips(side.plan.plan), reasons);
    const chosen = element("ul", null, { class: "reasons" });
    chosen.append(...side.documents.slice(0, 12).map((one) => element("li", `${one.weight.toFixed(2)} ${one.title || one.doc_id}`)));
    made.append(folded(`Documents searched (${side.documents.length})`, false, chosen));
  }
  const detectors = element("div", null, { class: "detectors" });
  for (const one of side.detectors) {
    const column = element("div");
    column.append(element("h4", one.name), list(side.index, one.hits, false));
    detectors.append(column);
  }
  const budget = side.budget ? `, ${side.used} of ${side.budget} tokens` : `, ${side.used} tokens`;
  made.append(
    folded("Detectors, each alone", true, detectors),
    folded(`Fused order (${side.fused.length})`, true, list(side.index, side.fused, true)),
    folded(`Parents (${side.parents.length})`, false, list(side.index, side.parents, true)),
    folded(`Packed context (${side.packed.length}${budget})`, true, ...(side.budget ? [gauge(side)] : []), list(side.index, side.packed, true)),
  );
  return made;
}

async function search(event) {
  if (event) event.preventDefault();
  try {
    const filter = byId("only").value.trim();
    const beside = byId("beside").value;
    asked = {
      question: byId("question").value,
      as_of: byId("as-of").value.trim() || null,
      filter: filter ? JSON.parse(filter) : null,
      k: Number(byId("k").value),
      max_tokens: Number(byId("budget").value),
      sides: [{ index: DATA.indexes[0].name }, ...(beside ? [JSON.parse(beside)] : [])],
    };
    tell("searching …");
    const { sides } = await call("/api/search", asked);
    const names = [DATA.indexes[0].name, byId("beside").selectedOptions[0].textContent];
    byId("sides").replaceChildren(...sides.map((side, at) => drawSide(side, names[at])));
    byId("held").hidden = true;
    byId("check").hidden = false;
    byId("verdicts").replaceChildren();
    tell(sides[0].plan.empty ? "The index holds nothing about what is asked." : `${sides[0].fused.length} results`);
  } catch (error) {
    tell(error.message, true);
  }
}

/* --- the same chunk in every list --- */
byId("sides").addEventListener("mouseover", (event) => {
  const over = event.target.closest("li[data-id]");
  document.querySelectorAll("li.same").forEach((one) => one.classList.remove("same"));
  if (!over || !over.dataset.id) return;
  for (const one of document.querySelectorAll("li[data-id]"))
    if (one.dataset.id === over.dataset.id) one.classList.add("same");
});

/* --- figures --- */
function figureLink(one, evidence, text) {
  const source = one.document === undefined ? null : evidence[one.document];
  const title = [one.verdict, one.label, one.reason, one.evidence_text].filter(Boolean).join(" · ");
  const name = `figure ${one.passed ? "ok" : "bad"}`;
  if (!source) return element("span", text, { class: name, title });
  const spans = one.source_span ? one.source_span.join("-") : source.spans;
  return element("a", text, { class: name, title, target: "_blank", href: place(asked.sides[0].index, source.doc_id, spans) });
}

byId("verify").addEventListener("click", async () => {
  const answer = byId("answer").value;
  const out = byId("verdicts");
  try {
    const report = await call("/api/verify", { ...asked, sides: asked.sides.slice(0, 1), answer });
    const text = element("p", null, { class: "checked" });
    const table = element("table");
    const points = [...answer];
    let at = 0;
    for (const one of report.figures) {
      text.append(points.slice(at, one.span[0]).join(""), figureLink(one, report.evidence, one.text));
      at = one.span[1];
      const row = element("tr");
      row.append(element("td", one.passed ? "✓" : "✗"), element("td", one.text), element("td", one.verdict.replaceAll("_", " ")));
      row.append(element("td", shown(one.label)), element("td", shown(one.reason)));
      table.append(row);
    }
    text.append(points.slice(at).join(""));
    const verdict = report.figures.length ? (report.ok ? "All figures hold." : "Not all figures hold.") : "No figures in the answer.";
    out.replaceChildren(element("p", verdict), text, table);
  } catch (error) {
    out.replaceChildren(element("p", error.message, { class: "warn" }));
  }
});

byId("ask").addEventListener("submit", search);
document.addEventListener("keydown", (event) => {
  if (typing(event)) return;
  if (event.key === "/") {
    event.preventDefault();
    byId("question").focus();
  } else if (event.key === "d") switchTheme();
});
listDocuments();
listSides();
