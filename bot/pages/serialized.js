// Serializes the document as it is shown: the shadow trees of components are put where they are
// shown; scripts and <noscript> are left out. Only reads the document, since a copy would
// run the constructors of the page's own elements.
(most) => {
  const empty = new Set(
    "area base br col embed hr img input link meta param source track wbr".split(" "));
  const dropped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "IFRAME", "OBJECT"]);
  const out = [];
  let size = 0;
  const say = (text) => {
    size += text.length;
    if (size > most) throw new Error("too large");
    out.push(text);
  };
  const escaped = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const children = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node instanceof HTMLSlotElement) {
      const given = node.assignedNodes();
      if (given.length) return given;
    }
    return node.childNodes;
  };
  const isData = (node) => node.tagName === "SCRIPT" && /json/.test(node.type);
  // Without recursion: a page may nest deeper than the stack.
  const waiting = [document.documentElement];
  while (waiting.length) {
    const node = waiting.pop();
    if (typeof node === "string") { say(node); continue; }
    if (node.nodeType === Node.TEXT_NODE) {
      say(isData(node.parentNode) ? node.data : escaped(node.data));
      continue;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    if (dropped.has(node.tagName) && !isData(node)) continue;
    const name = node.localName;
    let tag = `<${name}`;
    for (const { name: key, value } of node.attributes) {
      if (value.length < 2000) tag += ` ${key}="${escaped(value).replace(/"/g, "&quot;")}"`;
    }
    say(`${tag}>`);
    if (empty.has(name)) continue;
    waiting.push(`</${name}>`);
    const within = children(node);
    for (let place = within.length - 1; place >= 0; place -= 1) waiting.push(within[place]);
  }
  return `<!doctype html>${out.join("")}`;
}
