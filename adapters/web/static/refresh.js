// A page outside of conversations: times are in the reader's zone, and while it waits for something
// (data-refresh), it is looked up again and becomes what it says.

import "./menus.js";
import { showLocally } from "./moments.js";
import { patch } from "./patch.js";

const PAUSE = 1000; // milliseconds between two looks
const main = document.getElementById("main");

async function look() {
  const waiting = main.querySelector("[data-refresh]");
  if (!waiting) return;
  if (!document.hidden) {
    try {
      const answer = await fetch(waiting.dataset.refresh, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = answer.ok && page.getElementById("main");
      if (found) patch(main, found.innerHTML);
      showLocally(main);
    } catch {
      // While the server restarts, ask again.
    }
  }
  setTimeout(look, PAUSE);
}

showLocally();
setTimeout(look, PAUSE);
