// Speaking a question, where the browser can hear: https://webaudio.github.io/web-speech-api/

const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
let listening = null;

/** Begins to listen, or ends it; what is heard goes where the text ends. */
export function speak(button, box, tell) {
  if (listening) return listening.stop();
  const before = box.value && `${box.value.trimEnd()} `;
  listening = new Recognition();
  listening.lang = document.documentElement.lang;
  listening.interimResults = true;
  listening.addEventListener("result", (event) => {
    box.value = before + [...event.results].map((one) => one[0].transcript).join("");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  listening.addEventListener("error", (event) => {
    if (event.error !== "aborted" && event.error !== "no-speech") tell(button.dataset.failed);
  });
  listening.addEventListener("end", () => {
    listening = null;
    button.setAttribute("aria-pressed", "false");
    box.focus();
  });
  button.setAttribute("aria-pressed", "true");
  listening.start();
}
