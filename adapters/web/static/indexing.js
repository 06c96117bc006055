// The line on how far the documents are indexed follows them, and goes when they all are.

const PAUSE = 2000; // milliseconds between two looks
const line = document.querySelector(".indexing");

async function look() {
  if (document.hidden) return setTimeout(look, PAUSE);
  try {
    const answer = await fetch(line.dataset.progress, { headers: { Accept: "application/json" } });
    const { told, counts } = await answer.json();
    if (told) line.textContent = told;
    for (const [id, count] of Object.entries(counts)) {
      const shown = document.querySelector(`[data-count="${CSS.escape(id)}"]`);
      if (shown) shown.textContent = count;
    }
    if (answer.ok && !told) return line.remove();
  } catch {
    // A server that restarts is asked again.
  }
  setTimeout(look, PAUSE);
}

setTimeout(look, PAUSE);
