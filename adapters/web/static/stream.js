// A thread's events, with another try whenever the connection is lost.
//
// Only while somebody looks: over HTTP/1.1 a browser has six connections to a host for all of its
// tabs, and with as many open streams no page could be loaded and nothing be sent. A tab that comes
// back into view asks for what it missed.

const RETRY = [1000, 2000, 4000, 8000]; // milliseconds
const AWAY = 2000; // after which a tab that is out of view lets go of its connection

export function follow(path, since, handlers, { lost, found }) {
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
      if (source.readyState === EventSource.CLOSED && !document.hidden) {
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
    if (document.hidden) timer = setTimeout(close, AWAY);
    else if (source?.readyState !== EventSource.OPEN) open();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && !document.hidden && open());
  if (!document.hidden) open();
}
