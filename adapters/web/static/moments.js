// Moments in the reader's own time and words; without scripts they are in UTC.

export function showLocally() {
  const form = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  for (const moment of document.querySelectorAll("main time[datetime]")) {
    moment.title ||= moment.textContent;
    moment.textContent = form.format(new Date(moment.dateTime));
  }
}
