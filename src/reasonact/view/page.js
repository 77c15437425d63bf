"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  for (const button of all("button[data-open]")) {
    button.addEventListener("click", () => {
      for (const item of all("details.call")) item.open = button.dataset.open === "yes";
    });
  }

  // A link into something that is closed opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let item = target; item; item = item.parentElement) if (item.tagName === "DETAILS") item.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Each request stands in the page with its new messages alone; the others are those of the request it continues.
  const whole = new Map();
  const messagesOf = (id) => {
    if (!whole.has(id)) {
      const list = document.getElementById(id).querySelector(".messages");
      const before = list.dataset.base ? messagesOf(list.dataset.base) : [];
      const kept = Number(list.dataset.kept);
      const own = all(":scope > li:not(.unchanged)", list).map((item, index) => {
        const pre = item.querySelector("pre");
        const same = Number(pre.dataset.same || 0);
        const fresh = Array.from(pre.childNodes).filter((node) => node.className !== "same");
        const head = same ? before[kept + index].text.slice(0, same) : "";
        return { item, text: head + fresh.map((node) => node.textContent).join("") };
      });
      whole.set(id, [...before.slice(0, kept), ...own]);
    }
    return whole.get(id);
  };

  for (const button of all("button[data-whole]")) {
    button.addEventListener("click", () => {
      const request = document.getElementById(button.dataset.whole);
      const list = request.querySelector(".messages");
      const messages = messagesOf(request.id);
      const kept = Number(list.dataset.kept);
      const copies = messages.slice(0, kept).map(({ item, text }) => {
        const copy = item.cloneNode(true);
        copy.className = "unchanged";
        copy.querySelector("pre").textContent = text;
        return copy;
      });
      all(":scope > li:not(.unchanged)", list).forEach((item, index) => {
        const same = item.querySelector("pre > .same");
        if (!same) return;
        const length = Number(same.parentElement.dataset.same);
        same.textContent = messages[kept + index].text.slice(0, length);
      });
      list.prepend(...copies);
      button.remove();
    });
  }
})();
