"use strict";
for (const main of document.querySelectorAll("main")) {
  const map = main.querySelector(".map");
  const detail = map.querySelector(".detail");
  let held = null;
  const cells = map.querySelectorAll(".hall .c");
  for (const cell of cells) cell.setAttribute("role", "gridcell");
  for (const rack of map.querySelectorAll(".rack")) {
    rack.setAttribute("role", "row");
    rack.setAttribute("aria-label", `rack ${rack.dataset.rack}`);
  }
  for (const hall of map.querySelectorAll(".hall")) {
    hall.setAttribute("role", "grid");
    hall.setAttribute("aria-label", `hall ${hall.dataset.hall}`);
  }

  const add = (list, name, value) => {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    if (typeof value === "string") text.textContent = value;
    else text.append(...[...value.childNodes].map((node) => node.cloneNode(true)));
    list.append(term, text);
  };

  const show = (cell) => {
    const row = document.getElementById(`${main.id}-k${cell.dataset.k}`);
    const names = row.closest("table").querySelectorAll("th");
    const title = document.createElement("h3");
    const list = document.createElement("dl");
    title.textContent = cell.title;
    const rack = cell.closest(".rack");
    add(list, "place", `hall ${rack.parentElement.dataset.hall}, rack ${rack.dataset.rack}`);
    [...row.cells].slice(0, -1).forEach((value, index) => {
      add(list, index === 1 ? "equal hosts" : names[index].textContent, value);
    });
    detail.replaceChildren(title, list);
    for (const other of map.querySelectorAll(".alike")) other.classList.remove("alike");
    for (const other of map.querySelectorAll(`.hall .c[data-k="${cell.dataset.k}"]`)) other.classList.add("alike");
  };

  const hold = (cell) => {
    if (held) held.classList.remove("held");
    held = held === cell ? null : cell;
    if (held) held.classList.add("held");
    show(cell);
  };

  const move = (cell, key) => {
    const rack = cell.closest(".rack");
    const at = [...rack.children].indexOf(cell);
    const beside = (other) => other && other.querySelectorAll(".c")[Math.min(at, other.querySelectorAll(".c").length - 1)];
    const next = {
      ArrowUp: cell.previousElementSibling,
      ArrowDown: cell.nextElementSibling,
      ArrowLeft: beside(rack.previousElementSibling),
      ArrowRight: beside(rack.nextElementSibling),
      Home: rack.parentElement.querySelector(".c"),
      End: [...rack.parentElement.querySelectorAll(".c")].pop(),
    }[key];
    if (!next || !next.classList.contains("c")) return;
    for (const other of rack.parentElement.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };

  map.addEventListener("pointerover", (event) => {
    const cell = event.target.closest(".hall .c");
    if (cell && !held) show(cell);
  });
  map.addEventListener("focusin", (event) => {
    const cell = event.target.closest(".hall .c");
    if (cell && !held) show(cell);
  });
  map.addEventListener("click", (event) => {
    const cell = event.target.closest(".hall .c");
    if (cell) hold(cell);
  });
  map.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".hall .c");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") hold(cell);
    else if (event.key === "Escape" && held) hold(held);
    else if (/^(Arrow|Home$|End$)/.test(event.key)) move(cell, event.key);
    else return;
    event.preventDefault();
  });
}

const opened = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", opened);
opened();
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details:not([open])")) {
    fold.open = true;
    fold.dataset.printed = "";
  }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll("details[data-printed]")) {
    fold.open = false;
    delete fold.dataset.printed;
  }
});
document.documentElement.dataset.ready = "";
