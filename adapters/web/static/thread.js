// The conversation page: follows its thread's events, sends forms without leaving the page.

const turns = document.getElementById("turns");
const status = document.getElementById("status");

function say(words) {
  if (words && status.textContent !== words) status.textContent = words;
}

function article(run) {
  return document.getElementById(`run-${run}`);
}

const told = {
  turn({ run, html }) {
    const known = article(run);
    if (known) known.outerHTML = html;
    else turns.insertAdjacentHTML("beforeend", html);
  },
  plan({ run, html, now }) {
    const box = article(run)?.querySelector("[data-part=plan]");
    if (box) box.innerHTML = html;
    say(now);
  },
  text({ run, html }) {
    const box = article(run)?.querySelector("[data-part=text]");
    if (box) box.innerHTML = html;
  },
  reply({ run, html, over }) {
    const box = article(run)?.querySelector(".reply");
    if (box) box.innerHTML = html;
    if (over) say(turns.dataset.ready);
  },
  gone({ run }) {
    article(run)?.remove();
  },
};

function follow() {
  if (!turns.dataset.events) return;
  const source = new EventSource(`${turns.dataset.events}?since=${encodeURIComponent(turns.dataset.since)}`);
  for (const [kind, apply] of Object.entries(told)) {
    source.addEventListener(kind, (event) => apply(JSON.parse(event.data)));
  }
}

follow();
