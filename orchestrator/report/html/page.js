
"use strict";
// The page is whole without this: it filters, and it tells about a cell of the matrix.
(() => {
  const details = JSON.parse(document.getElementById("details").textContent);
  const form = document.getElementById("filter");
  const panel = document.getElementById("cell");
  const table = document.querySelector("table.matrix");
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const names = {
    rows: rows.map((row) => row.cells[0].dataset.name),
    columns: heads.map((head) => head.dataset.name),
  };
  const byHost = details.rows_are_hosts;

  const wanted = () => ({
    host: form.elements.host.value.trim().toLowerCase(),
    resource: form.elements.resource.value.trim().toLowerCase(),
    outcomes: new Set(
      [...form.querySelectorAll("input[name=outcome]:checked")].map((box) => box.value)),
  });

  const has = (text, part) => text.toLowerCase().includes(part);

  function filterMatrix(want) {
    const [rowPart, columnPart] = byHost ? [want.host, want.resource] : [want.resource, want.host];
    const all = want.outcomes.size === form.querySelectorAll("input[name=outcome]").length;
    const matching = names.columns.map((name) => has(name, columnPart));
    const shownColumns = new Set();
    let shownRows = 0;
    rows.forEach((row, at) => {
      let left = false;
      const fits = has(names.rows[at], rowPart);
      for (let column = 0; fits && column < matching.length; column++) {
        const cell = row.cells[column + 1];
        const on = all || want.outcomes.has(cell.classList[0]);
        cell.classList.toggle("off", !on && cell.textContent !== "");
        if (on && matching[column]) {
          left = true;
          shownColumns.add(column);
        }
      }
      row.hidden = !fits || !left;
      shownRows += row.hidden ? 0 : 1;
    });
    names.columns.forEach((_, column) => {
      const gone = !shownColumns.has(column);
      if (heads[column].hidden !== gone) {
        heads[column].hidden = gone;
        rows.forEach((row) => { row.cells[column + 1].hidden = gone; });
      }
    });
    document.getElementById("nothing").hidden = shownRows > 0;
    table.parentElement.hidden = shownRows === 0;
    const [hosts, resources] = byHost
      ? [shownRows, shownColumns.size] : [shownColumns.size, shownRows];
    form.querySelector("output").textContent =
      `${hosts} of ${byHost ? rows.length : heads.length} hosts, ` +
      `${resources} of ${byHost ? heads.length : rows.length} resources`;
  }

  function filterLists(want) {
    for (const finding of document.querySelectorAll(".finding")) {
      const hosts = finding.dataset.hosts.split(" ");
      finding.hidden = !want.outcomes.has(finding.dataset.status) ||
        !has(finding.dataset.resource, want.resource) ||
        !hosts.some((host) => has(host, want.host));
    }
    for (const row of document.querySelectorAll("tr[data-host]")) {
      row.hidden = !has(row.dataset.host, want.host);
    }
    for (const row of document.querySelectorAll("tr[data-resource]")) {
      const hosts = row.dataset.hosts === undefined ? [] : row.dataset.hosts.split(" ");
      row.hidden = !has(row.dataset.resource, want.resource) ||
        (hosts.length > 0 && !hosts.some((host) => has(host, want.host)));
    }
    for (const section of document.querySelectorAll("section")) {
      const items = [...section.querySelectorAll(".finding, tr[data-host], tr[data-resource]")];
      section.hidden = items.length > 0 && items.every((item) => item.hidden);
    }
  }

  function apply() {
    const want = wanted();
    filterMatrix(want);
    filterLists(want);
    const boxes = [...form.querySelectorAll("input[name=outcome]")];
    const state = new URLSearchParams();
    if (want.host) state.set("host", want.host);
    if (want.resource) state.set("resource", want.resource);
    if (want.outcomes.size < boxes.length) state.set("outcome", [...want.outcomes].join(","));
    // The filter is part of the address, so that a link shows what its sender saw.
    try {
      history.replaceState(null, "", "#" + state.toString());
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  }

  function fromAddress() {
    const state = new URLSearchParams(location.hash.slice(1));
    form.elements.host.value = state.get("host") || "";
    form.elements.resource.value = state.get("resource") || "";
    const outcomes = state.has("outcome") ? new Set(state.get("outcome").split(",")) : null;
    for (const box of form.querySelectorAll("input[name=outcome]")) {
      box.checked = outcomes === null || outcomes.has(box.value);
    }
    apply();
  }

  function make(tag, text, kind) {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }

  function tellChange(change) {
    if (change.diff.includes("\n")) {
      const diff = make("pre", "", "diff");
      for (const line of change.diff.split("\n")) {
        const kinds = { "+": "added", "-": "removed", "@": "place" };
        diff.append(make("span", line, kinds[line[0]] || "same"), "\n");
      }
      return diff;
    }
    return make("p", `${change.what}: ` +
      (change.diff || [...new Set([change.before, change.after])].filter(Boolean).join(" → ")) +
      (change.diff || change.after ? "" : " removed"));
  }

  function tell(cell) {
    const row = rows.indexOf(cell.parentElement);
    const column = cell.cellIndex - 1;
    const [number, milliseconds] = details.cells[`${row},${column}`];
    const entry = details.entries[number];
    const host = byHost ? names.rows[row] : names.columns[column];
    const close = make("button", "Close");
    close.type = "button";
    close.addEventListener("click", shut);
    const took = milliseconds < 10000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
    panel.replaceChildren(close, make("h3", `${entry.resource} on ${host}`),
      make("p", `${entry.status === "stable" ? "unchanged" : entry.status}, ${took}`));
    const told = [entry.message, entry.uncertainty].filter(Boolean).join(", ");
    if (told) panel.append(make("p", told));
    if (entry.unmet.length) panel.append(make("p", "requires " + entry.unmet.join(", ")));
    for (const text of entry.errors) panel.append(make("pre", text));
    if (entry.output) panel.append(make("pre", entry.output));
    for (const { name, status, output } of entry.health) {
      panel.append(make("pre", `${name} ${status}${output && `: ${output}`}`));
    }
    for (const change of entry.changes) panel.append(tellChange(change));
    panel.hidden = false;
  }

  function shut() {
    panel.hidden = true;
    current.focus();
  }

  // One cell is in the order of the Tab key, the arrow keys lead from it to the others.
  function enter(cell) {
    current.tabIndex = -1;
    current = cell;
    current.tabIndex = 0;
  }

  const steps = {
    ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0],
  };

  function move(cell, [down, right]) {
    let row = rows.indexOf(cell.parentElement) + down;
    let column = cell.cellIndex + right;
    while (rows[row]?.cells[column] && column > 0) {
      const next = rows[row].cells[column];
      if (!next.hidden && !rows[row].hidden && next.classList.contains("told")) {
        enter(next);
        next.focus();
        return;
      }
      row += down;
      column += right;
    }
  }

  function told(event) {
    const cell = event.target.closest("td.told");
    if (!cell) return;
    const open = event.type === "click" || event.key === "Enter" || event.key === " ";
    if (!open && !(event.key in steps)) return;
    event.preventDefault();
    enter(cell);
    if (open) tell(cell);
    else move(cell, steps[event.key]);
  }

  for (const place of Object.keys(details.cells)) {
    const [row, column] = place.split(",").map(Number);
    const cell = rows[row].cells[column + 1];
    cell.classList.add("told");
    cell.tabIndex = -1;
  }
  let current = table.querySelector("td.told") || table;
  if (current !== table) {
    table.setAttribute("role", "grid");
    enter(current);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) shut();
  });
  table.addEventListener("click", told);
  table.addEventListener("keydown", told);
  for (const card of document.querySelectorAll(".cards button")) {
    card.addEventListener("click", () => {
      form.reset();
      for (const box of form.querySelectorAll("input[name=outcome]")) {
        box.checked = box.value === card.value;
      }
      apply();
    });
  }
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  window.addEventListener("hashchange", fromAddress);
  form.hidden = false;
  document.querySelector("#matrix .hint").hidden = false;
  fromAddress();
})();
