// The documents: moments in the reader's zone, and the page anew once the server has started with others.

import "./menus.js";
import { showLocally } from "./moments.js";

showLocally();

const starts = document.querySelector("[data-starts]");
if (starts) setTimeout(() => location.replace(starts.dataset.starts), 1000);
