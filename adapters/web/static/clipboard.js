// Puts text on the clipboard, and tells that it is there.

import { tell } from "./toast.js";

export async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy"); // where a page is not served over HTTPS
    area.remove();
  }
}

/** Copies what a button's data-copy names: a template, a field, or a path that gives a text. */
export async function copy({ dataset: { copy: name, said } }) {
  const box = document.getElementById(name);
  await write(box ? (box.value ?? box.content.textContent) : await (await fetch(name)).text());
  tell(said || document.getElementById("toast").dataset.copied);
}
