"use strict";
// Puts a filter above every table of many rows: words, and verdicts where they differ.
for (const box of document.querySelectorAll(".table")) {
  const rows = [...box.querySelectorAll("tbody tr")].filter((row) => !row.querySelector("[scope=rowgroup]"));
  if (rows.length < 8) continue;
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()).join("\n"));
  // The last one: the one before may be that of the run before.
  const verdict = (row) => [...row.querySelectorAll("td.w")].at(-1)?.textContent ?? "";
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
