// A sentence that is shown and said for a moment.

let fading = 0;

export function tell(sentence) {
  const toast = document.getElementById("toast");
  clearTimeout(fading);
  toast.textContent = sentence;
  fading = setTimeout(() => (toast.textContent = ""), 4000);
}
