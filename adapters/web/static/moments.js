// Moments in the reader's own time zone and words; without scripts they are in UTC.

const { lang, dataset } = document.documentElement;
const browser = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";

// The server counts days as the reader does, from the next page on.
document.cookie = `footnote_offset=${new Date().getTimezoneOffset()}.${browser}; Path=/; Max-Age=31536000; SameSite=Lax`;

/** Writes times in the zone that was chosen in the preferences, or the browser's. */
export function showLocally(place = document) {
  const form = (style) => new Intl.DateTimeFormat(lang, { timeZone: dataset.zone || undefined, ...style });
  const [moments, dates] = [form({ dateStyle: "medium", timeStyle: "short" }), form({ dateStyle: "medium" })];
  for (const time of place.querySelectorAll("time[datetime]:not(.local)")) {
    const at = new Date(time.dateTime);
    const isDate = /^\d{4}-\d\d-\d\d$/.test(time.textContent);
    if (time.matches(".day")) time.textContent = ofDay(at);
    else time.textContent = (isDate ? dates : moments).format(at);
    if (isDate && !time.matches(".day")) time.title = `${time.title} ${moments.format(at)}`.trim();
    time.classList.add("local");
  }
}

/** A day of the list of conversations; the year is said of other years only. */
function ofDay(at) {
  const year = at.getUTCFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return at.toLocaleDateString(lang, { weekday: "long", day: "numeric", month: "long", year, timeZone: "UTC" });
}
