// The page of a run: opens what a link leads into, and follows a run that is being worked on.

import "./refresh.js";

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target?.closest("details"); box; box = box.parentElement.closest("details")) {
    box.open = true;
  }
  // A quoted passage is easier to find in the middle, also of the box that its page scrolls in.
  if (target?.matches(".anchor")) target.nextElementSibling.scrollIntoView({ block: "center" });
}

addEventListener("hashchange", openTarget);
if (location.hash) openTarget();
