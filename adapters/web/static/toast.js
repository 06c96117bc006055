// A sentence that is shown and said for a moment; what went wrong, until somebody writes again.

let fading = 0;

export function tell(sentence, stays = false) {
  const toast = document.getElementById("toast");
  clearTimeout(fading);
  toast.textContent = sentence;
  if (!stays) fading = setTimeout(() => (toast.textContent = ""), 4000);
}

document.addEventListener("input", () => tell(""));
