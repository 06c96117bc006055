// Menus that open over the page: Escape closes one, and so does a click beside it.

const OPEN = "details.more[open]";

/** Closes a menu; who was in it is at its button then. */
export function closeMenu(menu) {
  const held = menu?.contains(document.activeElement);
  menu?.removeAttribute("open");
  if (held) menu.querySelector("summary").focus();
}

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(OPEN)) {
    if (!open.contains(event.target)) open.removeAttribute("open");
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenu(document.querySelector(OPEN));
});
