// Lets an element's content become what new HTML says, and keeps what stays as it is: so focus,
// scrolling and transitions outlast an update. Children that carry an id or a data-id are found
// again by it, the others by their place. An attribute that data-own names is the reader's: which
// lines are unfolded, what was chosen.

function key(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  return node.id || node.dataset.id || node.dataset.node || "";
}

export function patch(target, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  children(target, template.content);
}

function children(before, after) {
  const known = new Map();
  for (const child of before.childNodes) if (key(child)) known.set(key(child), child);
  let at = before.firstChild;
  for (const wanted of [...after.childNodes]) {
    const found = key(wanted) ? known.get(key(wanted)) : at && !key(at) ? at : null;
    if (found && alike(found, wanted)) {
      while (key(found) && at && at !== found && !key(at)) at = dropped(at); // what stays is not moved
      if (found === at) at = at.nextSibling;
      else before.insertBefore(found, at);
      become(found, wanted);
    } else {
      before.insertBefore(wanted, at);
    }
  }
  while (at) at = dropped(at);
}

function dropped(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName;
}

function become(node, wanted) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.data !== wanted.data) node.data = wanted.data;
    return;
  }
  const own = node.dataset.own;
  for (const { name } of [...node.attributes]) {
    if (name !== own && !wanted.hasAttribute(name)) node.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (name !== own && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  children(node, wanted);
}
