// The overview: a filter that was changed is applied at once.

import "./menus.js";

const form = document.querySelector("form.filters");
form?.addEventListener("change", (event) => {
  // What is chosen below depends on what is chosen above.
  const fields = [...form.querySelectorAll("select")].filter((field) => field.name !== "days");
  const place = fields.indexOf(event.target);
  if (place >= 0) for (const field of fields.slice(place + 1)) field.value = "";
  form.requestSubmit();
});
form?.querySelector("button")?.setAttribute("hidden", "");
