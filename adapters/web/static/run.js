// The page of a run: opens what a link leads into, and follows a run that is being worked on.

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

async function look() {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const kept = opened();
  document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
  showLocally();
  for (const name of kept) {
    document.querySelector(`details[data-keep="${CSS.escape(name)}"]`)?.setAttribute("open", "");
  }
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
