// The page of a run: opens what a link leads into, and follows a run that is being worked on.

import "./menus.js";
import { showLocally } from "./moments.js";

const PAUSE = 1500; // ms between looks at a run that works
const PATIENCE = 20; // looks in a row that may fail

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target?.closest("details"); box; box = box.parentElement.closest("details")) {
    box.open = true;
  }
  // A quoted passage is easier to find in the middle, also of the box that its page scrolls in.
  if (target?.matches(".anchor")) target.nextElementSibling.scrollIntoView({ block: "center" });
}

function opened() {
  return [...document.querySelectorAll("details[data-keep][open]")].map((box) => box.dataset.keep);
}

// How what has the focus is found again on a page that replaced its own.
function focused() {
  const element = document.activeElement;
  if (!element?.closest("main") || element.id === "main") return "";
  const box = element.closest("details[data-keep]");
  if (element.matches("summary") && box) {
    return `details[data-keep="${CSS.escape(box.dataset.keep)}"] > summary`;
  }
  const link = element.getAttribute("href");
  if (link) return `main a[href="${CSS.escape(link)}"]`;
  return element.id ? `#${CSS.escape(element.id)}` : "";
}

let last = "";

async function look() {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.statusText);
  const html = await answer.text();
  if (html === last) return;
  last = html;
  const page = new DOMParser().parseFromString(html, "text/html");
  const [kept, held] = [opened(), focused()];
  document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
  showLocally();
  for (const name of kept) {
    document.querySelector(`details[data-keep="${CSS.escape(name)}"]`)?.setAttribute("open", "");
  }
  if (held) document.querySelector(held)?.focus({ preventScroll: true });
}

async function follow() {
  for (let failed = 0; failed < PATIENCE; ) {
    const state = document.querySelector(".trace")?.dataset.state;
    if (state !== "accepted" && state !== "running") return;
    await new Promise((done) => setTimeout(done, PAUSE));
    if (document.hidden) continue;
    try {
      await look();
      failed = 0;
    } catch {
      failed += 1;
    }
  }
}

showLocally();
addEventListener("hashchange", openTarget);
if (location.hash) openTarget();
follow();
