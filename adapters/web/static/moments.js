// Moments in the reader's own time zone and words; without scripts they are in UTC.

function form(style) {
  return new Intl.DateTimeFormat(document.documentElement.lang, style);
}

export function showLocally(place = document) {
  const [moments, days] = [form({ dateStyle: "medium", timeStyle: "short" }), form({ dateStyle: "medium" })];
  for (const moment of place.querySelectorAll("main time[datetime]:not([title]), .reply time[datetime]:not([title])")) {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(moment.textContent);
    moment.title = isDay ? moments.format(new Date(moment.dateTime)) : moment.textContent;
    moment.textContent = (isDay ? days : moments).format(new Date(moment.dateTime));
  }
}
