// The list of conversations: follows other tabs, searches as one types, names days as its reader does.

import "./menus.js";
import { form, showLocally } from "./moments.js";

const channel = "BroadcastChannel" in self ? new BroadcastChannel("footnote-history") : null;
const list = document.getElementById("threads");
const find = document.getElementById("find");
const CALM = 250; // milliseconds without a key before it searches

function dress(place) {
  const moment = form({ dateStyle: "medium", timeStyle: "short" });
  const day = { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" }; // of a date, not a moment
  const year = String(new Date().getFullYear());
  for (const time of place?.querySelectorAll("time[datetime]:not(.local)") ?? []) {
    const isPast = !time.dateTime.startsWith(year); // the year is said of other years only
    const shape = time.className === "day" ? form(isPast ? { ...day, year: "numeric" } : day) : moment;
    time.textContent = shape.format(new Date(time.dateTime));
  }
}

let asking = null;

/** Brings the list up to date, and with it the title of the page. */
async function refresh() {
  if (document.hidden) return;
  asking?.abort();
  asking = new AbortController();
  const url = `${list.dataset.list}?${new URLSearchParams({ current: list.dataset.current, q: find.value })}`;
  const answer = await fetch(url, { signal: asking.signal }).catch(() => null);
  if (!answer?.ok) return;
  const html = await answer.text().catch(() => "");
  if (!html || list.contains(document.activeElement)) return;
  list.innerHTML = html;
  dress(list);
  const title = list.querySelector("[aria-current] span")?.textContent;
  if (!title) return;
  document.title = `${title} · Footnote`;
  const heading = document.getElementById("title");
  if (heading) heading.textContent = title;
}

/** Something was asked, edited, answered or deleted here: other tabs want to know it too. */
export function changed() {
  refresh();
  channel?.postMessage("");
}

channel?.addEventListener("message", refresh);
document.addEventListener("visibilitychange", refresh);
document.querySelector("[data-all]")?.addEventListener("click", (event) => {
  event.preventDefault();
  const boxes = [...document.querySelectorAll("[form=bulk]")];
  const isEvery = boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = !isEvery;
});

let typing = 0;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(refresh, CALM);
});

dress(list);
dress(document.querySelector(".history"));
showLocally();
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) import("./clipboard.js").then(({ copy }) => copy(button));
  if (event.target.closest("[data-print]")) print();
});
if (list.dataset.current || document.querySelector(".history")) channel?.postMessage(""); // this page may be what a form led to
