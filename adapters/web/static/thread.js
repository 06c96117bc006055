// The conversation page: follows its thread's events, sends forms without leaving the page.

import { withFiles } from "./files.js";
import { changed } from "./history.js";
import { closeMenu } from "./menus.js";
import { patch } from "./patch.js";
import { follow } from "./stream.js";
import { tell } from "./toast.js";

const turns = document.getElementById("turns");
const status = document.getElementById("status");
const ask = document.getElementById("ask");
const words = turns.dataset;

function article(run) {
  return document.getElementById(`run-${run}`);
}

/** For those who cannot look; the page shows it already. */
function say(sentence) {
  clearTimeout(saying);
  if (status.textContent !== sentence) status.textContent = sentence;
  said = Date.now();
}

const CALM = 5000; // milliseconds between two words on what is being done
let said = 0;
let saying = 0;

/** Says what is being done now, not all of it: whoever listens wants to follow. */
function murmur(sentence) {
  if (!sentence) return; // between two steps
  clearTimeout(saying);
  saying = setTimeout(say, Math.max(0, said + CALM - Date.now()), sentence);
}

const files = ask ? withFiles(ask, tell) : null;

function dress(place) {
  if (place.querySelector("time")) import("./moments.js").then(({ showLocally }) => showLocally());
}

/** The script for graphs is loaded with the first of them. */
let nodes = null;
function withNodes() {
  if (!nodes && document.querySelector(".subquestions")) nodes = import("./nodes.js").then(({ showFindings }) => showFindings());
}

// ---------------------------------------------------------------- what the server tells

function title(run) {
  return article(run).querySelector(".question h2");
}

function change(run, part, html) {
  const box = article(run)?.querySelector(part);
  if (!box) return;
  const held = box.contains(document.activeElement);
  patch(box, html);
  dress(box);
  // Who pressed what is there no more stays with the question.
  if (held && !box.contains(document.activeElement)) title(run).focus({ preventScroll: true });
}

/** An answer begins below the folded plan, so that nothing moves at its end; not while one looks. */
function fold(run) {
  const plan = article(run)?.querySelector(".working > .worked");
  const isBegun = plan?.parentElement.querySelector(".growing").hasChildNodes();
  const used = ":hover, :focus-within, :has(.shown, details:not([data-id=graph])[open])";
  if (plan && !isBegun && !plan.matches(used)) plan.open = false;
}

/** Seconds at work, counted on from what the server said. */
function count() {
  for (const one of turns.querySelectorAll("[data-seconds]")) {
    const now = performance.now() / 1000;
    if (one.said !== one.dataset.seconds) [one.said, one.from] = [one.dataset.seconds, now];
    one.textContent = one.textContent.replace(/\d+/, Math.floor(Number(one.said) + now - one.from));
  }
}

const bar = document.querySelector(".bar");

/** Brings the title bar up to date; its menus stay open, and the focus in them. */
async function refreshBar() {
  const answer = bar && (await fetch(bar.dataset.bar).catch(() => null));
  if (!answer?.ok) return;
  const menu = document.activeElement.closest(".bar details");
  patch(bar, await answer.text());
  dress(bar);
  if (menu && !menu.contains(document.activeElement)) menu.querySelector("summary").focus();
}

function ready(run) {
  say(article(run).querySelector(".answer.failed") ? words.failed : words.ready);
  refreshBar(); // an answer can be watched
  watchForNewest();
}

const handlers = {
  turn({ run, html, over, now }) {
    const known = article(run);
    if (known) known.outerHTML = html;
    else turns.insertAdjacentHTML("beforeend", html);
    dress(article(run));
    if (mine.delete(run)) show(run);
    else if (!known) watchForNewest();
    withNodes();
    if (over) ready(run);
    else murmur(now);
  },
  plan({ run, html, now }) {
    change(run, "[data-part=plan]", html);
    if (now) article(run).querySelector("[data-part=now]").textContent = now; // else between two steps
    withNodes();
    murmur(now);
  },
  text({ run, html }) {
    fold(run);
    change(run, "[data-part=text]", html);
  },
  reply({ run, question, length, html, over, now }) {
    if (over) fold(run);
    change(run, ".reply", html);
    if (article(run) && title(run).textContent !== question) {
      title(run).textContent = question;
      title(run).className = length;
      const box = article(run).querySelector(".edit textarea");
      box.defaultValue = box.value = question;
      changed();
    }
    if (over) ready(run);
    else murmur(now);
  },
  gone({ run }) {
    const held = article(run)?.contains(document.activeElement);
    article(run)?.remove();
    changed();
    // Nothing is left of the conversation: to a new one.
    if (!turns.querySelector("article")) location.assign(document.querySelector(".brand").href);
    if (held) (ask?.question ?? document.getElementById("main")).focus();
  },
};

const newest = document.getElementById("newest");
const lookout = new IntersectionObserver((entries) => {
  newest.hidden = entries.at(-1).isIntersecting;
  if (newest.hidden) lookout.disconnect();
});

/** Something new came: where it is out of view, a button leads there. */
function watchForNewest() {
  lookout.disconnect();
  lookout.observe(turns.lastElementChild);
}

newest.addEventListener("click", () => turns.lastElementChild.scrollIntoView({ block: "start" }));

let trouble = 0;

const connection = {
  lost() {
    // A server that restarts is back within a moment; that is not worth a word.
    trouble ||= setTimeout(() => tell(words.lost), 3000);
  },
  found() {
    clearTimeout(trouble);
    trouble = 0;
  },
};

// ---------------------------------------------------------------- what people do

const mine = new Set(); // runs asked for here, which are to be shown when they come

function show(run) {
  article(run).scrollIntoView({ block: "start" });
}

/** Shows a turn that was asked for here: now, or when its event comes. */
function expectTurn(run) {
  if (article(run)) show(run);
  else mine.add(run);
}

async function send(form, submitter) {
  const body = form === ask ? files.body(submitter) : new URLSearchParams(new FormData(form, submitter));
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  const told = await answer.json().catch(() => ({}));
  if (answer.status === 401) location.reload(); // to sign in again; what was written stays
  if (!answer.ok) throw Object.assign(new Error(told.error || words.unsent), { file: told.file, status: answer.status });
  return told;
}

const PATIENCE = 30_000; // milliseconds; a restart takes ten seconds at most

/** Sends a question, again while nobody takes it: it has the same id each time, and is asked once. */
async function sendUntilTaken(submitter) {
  for (const end = Date.now() + PATIENCE; ; ) {
    try {
      return await send(ask, submitter);
    } catch (error) {
      if (error.status < 502 || Date.now() > end) throw error; // no status: no connection
      tell(words.resending, true);
      await new Promise((next) => setTimeout(next, 1000));
    }
  }
}

/** A button that is at work; it keeps the focus, which one that is disabled would lose. */
function occupy(button, atWork) {
  button.ariaDisabled = atWork ? "true" : null;
}

async function sendQuestion(submitter) {
  const button = ask.querySelector(".send");
  if (button.ariaDisabled) return;
  occupy(button, true);
  ask.question.readOnly = true; // what is sent is what is shown
  tell("");
  try {
    const { thread, run, files: kept } = await sendUntilTaken(submitter);
    tell("");
    if (!words.events) {
      sessionStorage.removeItem(draft);
      location.assign(`${thread}#run-${run}`);
      return;
    }
    ask.question.value = "";
    if (matchMedia("(pointer: coarse)").matches) ask.question.blur(); // its keyboard hides the answer
    keepDraft();
    files.sent(kept);
    ask.event.value = crypto.getRandomValues(new BigUint64Array(1))[0]; // sent twice, it is asked once
    expectTurn(run);
  } catch (error) {
    if (error.file === undefined) tell(error instanceof TypeError ? words.unsent : error.message, true);
    else files.refuse(error.file, error.message);
  }
  ask.question.readOnly = false;
  occupy(button, false);
}

async function press(form, submitter) {
  if (submitter.ariaDisabled) return;
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) return;
  occupy(submitter, true);
  tell("");
  try {
    const { told, run } = await send(form, submitter);
    const turn = form.closest(".turn");
    if (turn && run && run !== turn.dataset.run) expectTurn(run); // it asked a question
    if (form.dataset.done) submitter.querySelector("span").textContent = form.dataset.done;
    const reason = submitter.ariaPressed && form.closest(".answered")?.querySelector(".reason");
    const asksWhy = reason && form.verdict?.value === "bad";
    if (asksWhy) say(told); // a toast would lie over the question why
    else if (told && !form.dataset.done) tell(told);
    if (submitter.ariaPressed) {
      for (const other of form.parentElement.querySelectorAll("[aria-pressed]")) {
        other.ariaPressed = String(other === submitter);
      }
      if (reason) reason.hidden = !asksWhy;
      if (asksWhy) reason.scrollIntoView({ block: "nearest" });
    }
    if (form.hasAttribute("data-closes")) form.hidden = true;
    if (form.dataset.press !== "stays") closeMenu(form.closest("details"));
    if (form.closest(".correct")) form.reset();
    if (bar?.contains(form)) {
      await refreshBar();
      changed();
    }
    occupy(submitter, Boolean(form.dataset.done));
  } catch (error) {
    tell(error instanceof TypeError ? words.unsent : error.message, true);
    occupy(submitter, false);
  }
}

// What is being written survives a reload, in this tab only.
const draft = `draft ${location.pathname}`;

function keepDraft() {
  if (ask.question.value) sessionStorage.setItem(draft, ask.question.value);
  else sessionStorage.removeItem(draft);
}

if (ask) {
  ask.question.value ||= sessionStorage.getItem(draft) ?? "";
  ask.question.addEventListener("input", keepDraft);
  const mic = ask.querySelector(".mic");
  mic.hidden = !(window.SpeechRecognition ?? window.webkitSpeechRecognition);
  mic.addEventListener("click", () => import("./voice.js").then(({ speak }) => speak(mic, ask.question, tell)));
}

document.addEventListener("submit", (event) => {
  if (event.target === ask) {
    event.preventDefault();
    const example = event.submitter?.name === "example" ? event.submitter.value : "";
    if (example) ask.question.value = example;
    if (ask.question.value.trim()) sendQuestion(event.submitter);
  } else if (event.target.matches(".press, [data-press]")) {
    event.preventDefault();
    press(event.target, event.submitter);
  }
});

// A question is edited, and an answer corrected, in its place; Escape leaves it as it was.
function begin({ target }) {
  if (!target.matches(".editing[open]")) return;
  const box = target.querySelector("textarea");
  target.scrollIntoView({ block: "nearest" });
  box.focus({ preventScroll: true });
  box.setSelectionRange(box.value.length, box.value.length);
}
turns.addEventListener("toggle", begin, true);
turns.addEventListener("reset", ({ target }) => closeMenu(target.closest(".editing")));

document.addEventListener("click", (event) => {
  const keys = event.target.closest("[data-keys]");
  if (keys) {
    event.preventDefault();
    import("./keys.js").then(({ showKeys }) => showKeys(keys.href));
  }
});

document.addEventListener("keydown", (event) => {
  const form = event.target.closest("#ask, .editing form");
  if (event.target.matches("textarea") && form && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit(form.querySelector(".send, [type=submit]"));
  } else if (event.key === "Escape") {
    event.target.closest(".editing form")?.reset();
  } else if (event.target.closest("input, textarea, select")) {
    return;
  } else if (event.key === "?") {
    document.querySelector("[data-keys]")?.click();
  } else if (event.key === "/") {
    event.preventDefault();
    ask?.question.focus();
  }
});

dress(document);
withNodes();
setInterval(count, 1000);
if (words.events) follow(words.events, words.since, handlers, connection);
