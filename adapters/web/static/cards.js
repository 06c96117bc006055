// Footnote marks: looking at one, or coming to it by keyboard, shows what its source says.

const SHOW_AFTER = 120; // milliseconds, so that passing over a mark opens nothing
const HIDE_AFTER = 250; // time to move onto the card

const QUOTES = 2; // on a card; all of them are in the list of sources

let card = null;
let mark = null;
let timer = 0;

function source(of) {
  const turn = of.closest(".turn, .answered");
  return turn?.querySelector(`.sources li[data-n="${CSS.escape(of.dataset.n)}"]`);
}

function show(of) {
  const found = source(of);
  if (!found || mark === of) return;
  hide();
  mark = of;
  card = document.createElement("div");
  card.className = "card-of-mark source";
  card.id = "card-of-mark";
  card.setAttribute("role", "tooltip");
  card.append(...[...found.querySelector(".source").childNodes].map((node) => node.cloneNode(true)));
  keepClosest([...card.querySelectorAll("blockquote")], sentence(of));
  document.getElementById("main").append(card);
  mark.setAttribute("aria-describedby", card.id);
  mark.classList.add("shown");
  place();
}

/** What the answer says between the last full stop and a mark. */
function sentence(of) {
  const said = document.createRange();
  said.setStart(of.closest("p, li, td, th, blockquote, h3, h4, h5, h6") ?? of.parentElement, 0);
  said.setEndBefore(of);
  return said.toString().split(/[.!?。！？](?:\s|$)/).findLast((part) => part.trim()) ?? "";
}

/** The words of a text; characters, where words are not written apart. */
function words(text) {
  const found = text.toLowerCase().match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[\p{L}\p{N}]+/gu);
  return new Set(found);
}

/** Of many quotes of one source those are shown that have most of the sentence's words; a word
 * counts as much as it is long, for a common one is short. */
function keepClosest(quotes, said) {
  const wanted = words(said);
  const shared = (quote) => {
    const both = [...words(quote.textContent)].filter((word) => wanted.has(word));
    return both.reduce((sum, word) => sum + word.length, 0);
  };
  const ranked = quotes.map((quote) => [shared(quote), quote]);
  ranked.sort(([one], [other]) => other - one);
  for (const [place, [score, quote]] of ranked.entries()) {
    if (place < QUOTES && score >= ranked[0][0] / 2) quote.parentElement.append(quote);
    else quote.remove();
  }
}

function place() {
  if (!mark.isConnected) return hide();
  const at = mark.getBoundingClientRect();
  const wide = card.offsetWidth;
  const left = Math.min(Math.max(at.left - 24, 16), document.documentElement.clientWidth - wide - 16);
  const roof = document.querySelector(".top").offsetHeight; // what nothing may lie over
  const below = at.bottom + 8 + card.offsetHeight < innerHeight || at.top - roof < card.offsetHeight + 16;
  const top = below ? at.bottom + 8 : at.top - card.offsetHeight - 8;
  // Set by script, which the content security policy lets style.
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${top + scrollY}px`;
}

function hide() {
  clearTimeout(timer);
  mark?.removeAttribute("aria-describedby");
  mark?.classList.remove("shown");
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
    else if (card) later(HIDE_AFTER, hide);
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.(".mark:focus-visible")) show(event.target);
  });
  document.addEventListener("focusout", (event) => {
    if (event.target === mark) later(HIDE_AFTER, hide);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    else if (event.key === "Enter" && event.target.matches?.(".mark:not([href])")) event.target.click();
  });
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest?.(".mark");
    // A finger cannot hover: its first tap shows the card, which has the link.
    const touched = event.pointerType === "touch" || matchMedia("(hover: none)").matches;
    const leads = pressed?.hasAttribute("href");
    if (pressed && source(pressed) && (touched || !leads)) {
      if (mark !== pressed) event.preventDefault();
      show(pressed);
      if (!leads) source(pressed).scrollIntoView({ block: "nearest" });
    } else if (card && !event.target.closest?.(".card-of-mark")) {
      hide();
    }
  });
}
