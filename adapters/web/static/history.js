// The list of conversations: follows other tabs, and names days as its reader does.

const channel = "BroadcastChannel" in self ? new BroadcastChannel("footnote-history") : null;
const list = document.getElementById("threads");
const lang = document.documentElement.lang;

// The server groups by the reader's days from the next page on.
document.cookie = `footnote_offset=${new Date().getTimezoneOffset()}; Path=/; Max-Age=31536000; SameSite=Lax`;

function dress(place) {
  const day = new Intl.DateTimeFormat(lang, { dateStyle: "full", timeZone: "UTC" });
  const moment = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
  for (const time of place?.querySelectorAll("time[datetime]") ?? []) {
    time.textContent = (time.className === "day" ? day : moment).format(new Date(time.dateTime));
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
