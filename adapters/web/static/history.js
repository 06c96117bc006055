// The list of conversations: follows other tabs, searches as one types, names days as its reader does.

import "./menus.js";
import { showLocally } from "./moments.js";

const channel = "BroadcastChannel" in self ? new BroadcastChannel("footnote-history") : null;
const list = document.getElementById("threads");
const find = document.getElementById("find");
const CALM = 250; // milliseconds without a key before it searches

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
  showLocally(list);
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
let typing = 0;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(refresh, CALM);
});

showLocally();
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) import("./clipboard.js").then(({ copy }) => copy(button));
  if (event.target.closest("[data-print]")) print();
});
if (list.dataset.current || document.querySelector(".history")) channel?.postMessage(""); // this page may be what a form led to
