// A thread's events, with another try whenever the connection is lost.

const RETRY = [1000, 2000, 4000, 8000]; // milliseconds
const AWAY = 60000; // after which a tab that nobody looks at lets go of its connection

export function follow(path, since, handlers, { lost, found, busy }) {
  let source = null;
  let failures = 0;
  let timer = 0;

  function open() {
    close();
    source = new EventSource(`${path}?since=${encodeURIComponent(since)}`);
    source.addEventListener("open", () => {
      failures = 0;
      found();
    });
    source.addEventListener("error", () => {
      lost();
      // Where the server refused, a browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) {
        timer = setTimeout(open, RETRY[Math.min(failures++, RETRY.length - 1)]);
      }
    });
    for (const [kind, apply] of Object.entries(handlers)) {
      source.addEventListener(kind, (event) => {
        apply(JSON.parse(event.data));
        if (event.lastEventId) since = event.lastEventId;
      });
    }
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => (busy() ? null : close()), AWAY);
    else if (!source || source.readyState === EventSource.CLOSED) open();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && open());
  open();
}
