"use strict";
// Tables can be sorted by each column, and those of many rows filtered by words and verdict.
const MIN_FILTERED_ROWS = 8;

// Puts a form above a table: words, and verdicts where they differ.
function addFilter(box, rows) {
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()).join("\n"));
  // The last one: the one before may be that of the run before. Qualifiers are words.
  const verdict = (row) => {
    const cell = [...row.querySelectorAll("td.w")].at(-1);
    return (cell?.querySelector("div") ?? cell)?.firstChild.textContent.trim() ?? "";
  };
  const verdicts = [...new Set(rows.map(verdict))].filter(Boolean).sort();
  const form = document.createElement("form");
  form.className = "filter";
  form.setAttribute("role", "search");
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Filter";
  input.setAttribute("aria-label", "Filter: " + box.getAttribute("aria-label"));
  const select = document.createElement("select");
  select.setAttribute("aria-label", "Verdict");
  select.append(new Option("any verdict", ""), ...verdicts.map((one) => new Option(one, one)));
  const count = document.createElement("output");
  form.append(input, ...(verdicts.length > 1 ? [select] : []), count);
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, at) => {
      const fits = words.every((word) => texts[at].includes(word)) && (!select.value || verdict(row) === select.value);
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = words.length || select.value ? `${shown} of ${rows.length}` : "";
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  box.before(form);
}

// Makes a button of a column's head, which sorts the rows of each group; those without a value are last.
function addSorting(table, head) {
  const at = [...head.parentElement.cells].indexOf(head);
  const isNumber = head.classList.contains("n");
  const key = (row) => {
    const text = row.cells[at].textContent.trim();
    return isNumber ? Number.parseFloat(text.replaceAll(",", "")) : text;
  };
  const isMissing = (value) => value === "" || Number.isNaN(value);
  const compare = (left, right) => (isNumber ? left - right : left.localeCompare(right, "en", { numeric: true }));
  const button = document.createElement("button");
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const sign = head.ariaSort === "ascending" ? -1 : 1;
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.ariaSort = sign > 0 ? "ascending" : "descending";
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => !row.querySelector("[scope=rowgroup]"));
      const sorted = rows.map((row) => [key(row), row]).sort(([left], [right]) =>
        isMissing(left) || isMissing(right) ? isMissing(left) - isMissing(right) : sign * compare(left, right));
      body.append(...sorted.map(([, row]) => row));
    }
  });
}

for (const box of document.querySelectorAll(".table")) {
  const rows = [...box.querySelectorAll("tbody tr")].filter((row) => !row.querySelector("[scope=rowgroup]"));
  if (rows.length >= MIN_FILTERED_ROWS) addFilter(box, rows);
  if (rows.length > 1) box.querySelectorAll("thead th").forEach((head) => addSorting(box.querySelector("table"), head));
}
