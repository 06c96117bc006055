// The list of conversations: follows other tabs, and names days as its reader does.

import "./menus.js";
import { form } from "./moments.js";

const channel = "BroadcastChannel" in self ? new BroadcastChannel("footnote-history") : null;
const list = document.getElementById("threads");

function dress(place) {
  const moment = form({ dateStyle: "medium", timeStyle: "short" });
  const day = { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" }; // of a date, not a moment
  const year = String(new Date().getFullYear());
  for (const time of place?.querySelectorAll("time[datetime]:not([title])") ?? []) {
    const isPast = !time.dateTime.startsWith(year); // the year is said of other years only
    const shape = time.className === "day" ? form(isPast ? { ...day, year: "numeric" } : day) : moment;
    time.textContent = shape.format(new Date(time.dateTime));
  }
}

let asking = null;

/** Brings the list up to date, and with it the title of the page. */
async function refresh() {
  if (!list || document.hidden) return;
  asking?.abort();
  asking = new AbortController();
  const url = `${list.dataset.list}?current=${encodeURIComponent(list.dataset.current)}`;
  const answer = await fetch(url, { signal: asking.signal }).catch(() => null);
  if (!answer?.ok) return;
  const html = await answer.text().catch(() => "");
  if (!html || list.contains(document.activeElement)) return;
  list.innerHTML = html;
  dress(list);
  const title = list.querySelector("[aria-current] span")?.textContent;
  if (!title) return;
  document.title = `${title} · Footnote`;
  const heading = document.querySelector("main > h1");
  if (heading) heading.textContent = title;
}

/** Something was asked, edited, answered or deleted here: other tabs want to know it too. */
export function changed() {
  refresh();
  channel?.postMessage("");
}

channel?.addEventListener("message", refresh);
document.addEventListener("visibilitychange", refresh);
dress(list ?? document.querySelector("main"));
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
if (location.hash === "#about") document.getElementById("about")?.setAttribute("open", "");
if (!list || list.dataset.current) channel?.postMessage(""); // this page may be what a form led to
