// The page of documents: shows times in the reader's zone.

import "./menus.js";
import { showLocally } from "./moments.js";

showLocally();
