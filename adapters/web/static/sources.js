// The page of documents: shows times in the reader's zone, and reloads once the server has restarted.

import "./menus.js";
import { showLocally } from "./moments.js";

showLocally();

const starts = document.querySelector("[data-starts]");
if (starts) setTimeout(() => location.replace(starts.dataset.starts), 1000);
