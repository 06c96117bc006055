// Each piece of code of an answer or a page can be copied.

import { write } from "./clipboard.js";

const panel = document.getElementById("source");

function offer(code) {
  if (code.parentElement.matches(".copied-from") || code.closest(".growing")) return;
  const box = Object.assign(document.createElement("div"), { className: "copied-from" });
  code.replaceWith(box);
  box.append(code, document.getElementById("copy-code").content.cloneNode(true));
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
