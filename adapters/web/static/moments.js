// Moments in the reader's own time zone and words; without scripts they are in UTC.

const { lang, dataset } = document.documentElement;
const browser = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";

// The server counts days as the reader does, from the next page on.
document.cookie = `footnote_offset=${new Date().getTimezoneOffset()}.${browser}; Path=/; Max-Age=31536000; SameSite=Lax`;

/** A way to write moments, in the zone that was chosen in the preferences or the browser's. */
export function form(style) {
  return new Intl.DateTimeFormat(lang, { timeZone: dataset.zone || undefined, ...style });
}

export function showLocally(place = document) {
  const [moments, days] = [form({ dateStyle: "medium", timeStyle: "short" }), form({ dateStyle: "medium" })];
  for (const moment of place.querySelectorAll(":is(main, .panel) time[datetime]:not(.local, .day)")) {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(moment.textContent);
    moment.classList.add("local");
    if (isDay) moment.title = `${moment.title} ${moments.format(new Date(moment.dateTime))}`.trim();
    moment.textContent = (isDay ? days : moments).format(new Date(moment.dateTime));
  }
}
