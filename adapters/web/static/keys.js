// The list of keys, in a dialog: its words are those of the page that stands for it without scripts.

let dialog = null;

export async function showKeys(path) {
  if (!dialog) {
    const answer = await fetch(path, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    dialog = Object.assign(document.createElement("dialog"), { className: "keys" });
    dialog.append(...page.querySelector("main section").childNodes);
    const heading = dialog.querySelector("h1");
    heading.id = "keys-title";
    dialog.setAttribute("aria-labelledby", heading.id);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
}
