// A footnote's source beside the text: the stored page, at the quoted words. The mark keeps the
// focus, so that arrow keys walk on from it; Tab leads into the page and out of it again.

import { quotesOf } from "./cards.js";
import { showLocally } from "./moments.js";

const panel = document.getElementById("source");
const body = panel.querySelector(".panel-body");
const about = panel.querySelector(".about-page");
const title = panel.querySelector(".title");
const said = document.getElementById("source-said");
const narrow = matchMedia("(max-width: 68rem)");
const pages = new Map(); // by address, as they were fetched: a stored page does not change

let mark = null;
let isSheet = false; // on a phone, a step back closes what is open

/** The stored page that a mark leads to, as an element. */
function pageOf(of) {
  const address = of.href.split("#")[0];
  if (!pages.has(address)) {
    const found = fetch(address, { headers: { Accept: "text/html" } }).then(async (answer) => {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      return page.querySelector(".stored") ?? page.querySelector("main");
    });
    found.catch(() => pages.delete(address));
    pages.set(address, found);
  }
  return pages.get(address);
}

async function open(of) {
  const before = of.getBoundingClientRect().top;
  leave();
  mark = of;
  mark.setAttribute("aria-expanded", "true");
  mark.setAttribute("aria-controls", panel.id);
  if (panel.hidden && narrow.matches) {
    isSheet = true;
    history.pushState(null, "");
  }
  panel.hidden = false;
  document.body.classList.add("reading");
  // Beside a panel the text is narrower: what was clicked stays where it was.
  scrollBy({ top: mark.getBoundingClientRect().top - before, behavior: "instant" });
  panel.querySelector(".number").textContent = mark.dataset.n;
  try {
    const page = await pageOf(of);
    if (mark === of) fill(page.cloneNode(true));
  } catch {
    location.assign(of.href); // the server says what is wrong better than a panel does
  }
}

function fill(page) {
  const heading = page.querySelector("h1");
  heading?.querySelector(".number")?.remove();
  const textContent = heading?.textContent.trim() ?? "";
  title.replaceChildren(Object.assign(document.createElement("a"), { href: mark.href, textContent }));
  about.replaceChildren(...page.querySelectorAll(".where"));
  showLocally();
  body.replaceChildren(...page.querySelectorAll(".page-text"));
  if (!body.childNodes.length) body.append(...page.childNodes);
  const names = (mark.dataset.q ?? "").split(" ").filter(Boolean);
  const quoted = names.flatMap((name) => [...body.querySelectorAll(`mark[data-q~="${CSS.escape(name)}"]`)]);
  for (const one of quoted) one.classList.add("at");
  const place = quoted[0] ?? body.querySelector("mark");
  const room = narrow.matches ? 16 : body.clientHeight / 4;
  const top = place ? place.getBoundingClientRect().top - body.getBoundingClientRect().top - room : 0;
  body.scrollTop = Math.max(0, body.scrollTop + top);
  const words = quotesOf(mark).map((quote) => quote.innerText || quote.textContent).join(" … ");
  said.textContent = `${title.textContent}: ${words}`;
  keepInView();
}

/** A sheet from below must not lie over the mark that it belongs to. */
function keepInView() {
  if (!narrow.matches) return;
  const hidden = mark.getBoundingClientRect().bottom + 24 - panel.getBoundingClientRect().top;
  if (hidden > 0) scrollBy({ top: hidden });
}

function leave() {
  mark?.removeAttribute("aria-expanded");
  mark?.removeAttribute("aria-controls");
  mark = null;
}

/** Closes it as a person does: what was opened with a step of the history is closed with one back. */
function leaveBehind() {
  if (isSheet) history.back();
  else close();
}

function close() {
  isSheet = false;
  const [held, at] = [mark, mark?.getBoundingClientRect().top ?? 0];
  leave();
  panel.hidden = true;
  said.textContent = "";
  document.body.classList.remove("reading");
  if (!held?.isConnected) return;
  held.focus({ preventScroll: true });
  scrollBy({ top: held.getBoundingClientRect().top - at, behavior: "instant" });
}

/** The footnote before or after one, of all that the page shows. */
function neighbour(from, step) {
  const marks = [...document.querySelectorAll(".answer .mark, .passage .to-quote")].filter((one) => one.getClientRects().length);
  const at = marks.indexOf(from);
  return at < 0 ? marks.find((one) => one.dataset.n === from.dataset.n) : marks[at + step];
}

function goTo(next) {
  next.scrollIntoView({ block: "nearest", behavior: "instant" });
  if (mark) open(next);
}

/** Tab goes from the mark into the panel, and from either end of that back to the mark. */
function passOn(event) {
  const inside = [...panel.querySelectorAll("button, a[href], [tabindex='0']")];
  if (event.target === mark && !event.shiftKey) {
    event.preventDefault();
    body.focus();
  } else if (event.shiftKey && event.target === inside[0]) {
    event.preventDefault();
    mark.focus();
  } else if (!event.shiftKey && event.target === inside.at(-1)) {
    mark.focus(); // and from there on, as Tab does
  }
}

export function showSources() {
  addEventListener("popstate", () => isSheet && close());
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest?.(".mark, .to-quote");
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (pressed) {
      event.preventDefault();
      if (pressed === mark) leaveBehind();
      else open(pressed);
    } else if (event.target.closest?.("[data-close]")) {
      leaveBehind();
    } else if (mark && event.target.closest?.("[data-step]")) {
      const next = neighbour(mark, Number(event.target.closest("[data-step]").dataset.step));
      if (next) goTo(next);
    } else if (mark && narrow.matches && !panel.contains(event.target)) {
      leaveBehind();
    }
  });
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const from = event.target.closest?.(".mark");
    if (event.key === "Escape" && mark) leaveBehind();
    else if (event.key === "Tab" && mark) passOn(event);
    else if (step && from && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const next = neighbour(from, step);
      next?.focus({ preventScroll: true });
      if (next) goTo(next);
    }
  });
}
