// Footnote marks: looking at one, or coming to it by keyboard, shows the words that it rests on.

const SHOW_AFTER = 120; // milliseconds, so that passing over a mark opens nothing
const HIDE_AFTER = 250; // time to move onto the card
const QUOTES = 2; // on a card; all of them are in the list of sources

let card = null;
let mark = null;
let timer = 0;

/** The quotes that a mark rests on; where it does not say which, the first of its source. */
export function quotesOf(of) {
  const within = of.closest(".answered")?.querySelector(`.quoted[data-n="${CSS.escape(of.dataset.n)}"]`);
  const quotes = [...(within?.querySelectorAll("blockquote") ?? [])];
  const named = (of.dataset.q ?? "").split(" ").filter(Boolean);
  const found = quotes.filter((quote) => named.some((name) => quote.dataset.q.split(" ").includes(name)));
  return (found.length ? found : quotes).slice(0, QUOTES);
}

function show(of) {
  const source = of.closest(".answered")?.querySelector(`.source[data-n="${CSS.escape(of.dataset.n)}"]`);
  if (!source || mark === of || document.body.classList.contains("reading")) return; // the panel says more
  hide();
  mark = of;
  card = document.createElement("div");
  card.className = "card-of-mark";
  card.id = "card-of-mark";
  card.setAttribute("role", "tooltip");
  card.append(...[...source.children].map((node) => node.cloneNode(true)));
  card.querySelector(".mark").remove();
  card.append(...quotesOf(of).map((quote) => quote.cloneNode(true)));
  document.getElementById("main").append(card);
  mark.setAttribute("aria-describedby", card.id);
  place();
}

function place() {
  if (!mark.isConnected) return hide();
  const at = mark.getBoundingClientRect();
  const left = Math.min(Math.max(at.left - 24, 16), document.documentElement.clientWidth - card.offsetWidth - 16);
  const roof = (document.querySelector(".bar") ?? document.querySelector(".top")).getBoundingClientRect().bottom; // what nothing may lie over
  const below = at.bottom + 8 + card.offsetHeight < innerHeight || at.top - roof < card.offsetHeight + 16;
  const top = below ? at.bottom + 8 : at.top - card.offsetHeight - 8;
  // Set by script, which the content security policy lets style.
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${top + scrollY}px`;
}

function hide() {
  clearTimeout(timer);
  mark?.removeAttribute("aria-describedby");
  card?.remove();
  card = mark = null;
}

function later(milliseconds, act) {
  clearTimeout(timer);
  timer = setTimeout(act, milliseconds);
}

export function showCards() {
  addEventListener("resize", () => card && place());
  document.addEventListener("pointerover", (event) => {
    const over = event.target.closest?.(".mark");
    if (event.pointerType === "touch") return;
    if (over) later(SHOW_AFTER, () => show(over));
    else if (event.target.closest?.(".card-of-mark")) clearTimeout(timer);
    else later(HIDE_AFTER, hide);
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.(".mark:focus-visible")) show(event.target);
  });
  document.addEventListener("focusout", (event) => {
    if (event.target === mark) later(HIDE_AFTER, hide);
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.(".card-of-mark")) hide();
  });
}
