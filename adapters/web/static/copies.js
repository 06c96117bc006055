// Each piece of code of an answer or a page can be copied.

import { write } from "./clipboard.js";

const panel = document.getElementById("source");

function offer(code) {
  if (code.parentElement.matches(".copied-from") || code.closest(".growing")) return;
  const box = document.createElement("div");
  box.className = "copied-from";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "⧉";
  button.title = panel.dataset.offer;
  button.setAttribute("aria-label", panel.dataset.offer);
  code.replaceWith(box);
  box.append(code, button);
}

function offerAll(place) {
  for (const code of place.querySelectorAll(":is(.answered, .page-text) pre")) offer(code);
}

async function copy(button) {
  await write(button.parentElement.querySelector("pre").textContent);
  document.getElementById("source-said").textContent = panel.dataset.copied;
  button.textContent = "✓";
  setTimeout(() => (button.textContent = "⧉"), 1500);
}

export function offerCopies() {
  offerAll(document);
  new MutationObserver(() => offerAll(document)).observe(document.body, {
    childList: true,
    subtree: true,
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".copy");
    if (button) copy(button);
  });
}
