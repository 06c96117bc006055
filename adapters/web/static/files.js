// Files beside the question box: chosen, dropped or pasted, shown, and taken back.

const FILES = "files";

/** Looks after the files of a form. Gives what the form's sending needs. */
export function withFiles(form, tell) {
  const input = form.querySelector("input[type=file]");
  const box = form.querySelector("#files");
  const { largest, tooLarge, remove, without } = box.dataset;
  let refused = []; // why the files that were taken out again cannot be read

  function set(files) {
    const chosen = new DataTransfer();
    for (const file of files) chosen.items.add(file);
    input.files = chosen.files;
    show();
  }

  function add(files) {
    const known = [...input.files];
    for (const file of files) {
      if (file.size > Number(largest)) {
        refused.push(tooLarge.replace("{name}", file.name));
        tell(refused.at(-1));
      } else if (!known.some((one) => one.name === file.name && one.size === file.size)) known.push(file);
    }
    set(known);
  }

  function show() {
    for (const old of box.querySelectorAll("[data-new]")) old.remove();
    for (const file of input.files) addChip(file.name, "file", () => set([...input.files].filter((one) => one !== file)));
    for (const reason of refused) {
      addChip(reason, "file refused", () => {
        refused = refused.filter((one) => one !== reason);
        show();
      });
    }
    box.hidden = !box.querySelector(".file");
  }

  function addChip(words, className, takeOut) {
    const chip = Object.assign(document.createElement("span"), { className });
    chip.dataset.new = "";
    const name = Object.assign(document.createElement("span"), { textContent: words });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    button.setAttribute("aria-label", remove.replace("{name}", words));
    button.addEventListener("click", () => {
      takeOut();
      form.question.focus();
    });
    chip.append(name, button);
    box.append(chip);
  }

  let chosenBefore = [];
  input.addEventListener("click", () => (chosenBefore = [...input.files]));
  input.addEventListener("change", () => {
    const chosen = [...input.files];
    set(chosenBefore);
    add(chosen);
    form.question.focus();
  });

  form.question.addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    add(event.clipboardData.files);
  });

  const drop = document.querySelector(".drop");
  const brings = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    drop.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    drop.hidden = true;
    add(event.dataTransfer.files);
    form.question.focus();
  });

  return {
    /** The form's content: in parts where there are files. */
    body(submitter) {
      const data = new FormData(form, submitter);
      if (input.files.length) return data;
      data.delete(FILES);
      return new URLSearchParams(data);
    },
    /** A file cannot be read: its chip says why, and the next try goes without it. */
    refuse(number, reason) {
      refused.push(reason);
      set([...input.files].filter((_, at) => at !== number));
      tell(without);
    },
    /** The question was taken: what came with it can be read for the next one too. */
    sent(files) {
      const known = [...box.querySelectorAll("[name=again]")].map((one) => one.value);
      refused = [];
      set([]);
      for (const file of files) {
        if (known.includes(file.url)) continue;
        const label = Object.assign(document.createElement("label"), { className: "file" });
        const tick = Object.assign(document.createElement("input"), {
          type: "checkbox",
          name: "again",
          value: file.url,
          checked: true,
        });
        label.append(tick, Object.assign(document.createElement("span"), { textContent: file.name }));
        box.append(label);
      }
      show();
    },
  };
}
