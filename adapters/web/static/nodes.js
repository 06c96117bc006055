// Graphs of sub-questions: looking at a node, or coming to it by keyboard, shows what it has found;
// pressing it keeps that shown. Without scripts a node leads to the same element.

let kept = ""; // the id of the finding that was pressed

function finding(node) {
  return document.getElementById(node.getAttribute("href").slice(1));
}

function show(one) {
  for (const other of document.querySelectorAll(".finding.shown")) {
    if (other !== one) other.classList.remove("shown");
  }
  one?.classList.add("shown");
}

function nodeOf(event) {
  return event.target.closest?.(".subquestions a.node[href^='#found-']");
}

export function showFindings() {
  document.addEventListener("pointerover", (event) => {
    const node = nodeOf(event);
    if (node && event.pointerType !== "touch") show(finding(node));
    else if (!event.target.closest?.(".finding")) show(document.getElementById(kept));
  });
  document.addEventListener("focusin", (event) => {
    const node = nodeOf(event);
    if (node) show(finding(node));
  });
  document.addEventListener("click", (event) => {
    const node = nodeOf(event);
    if (!node) return;
    event.preventDefault();
    const one = finding(node);
    kept = kept === one.id ? "" : one.id;
    show(one);
    one.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    kept = "";
    show(null);
  });
}
