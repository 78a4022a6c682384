"use strict";
// Pages are whole without this: it shows news of a run as they come.
(() => {
  const live = document.body.dataset.live;
  if (!live || !window.EventSource) return;
  const news = document.getElementById("news");
  const address = live === "*" ? "/live" : "/live?run=" + encodeURIComponent(live);
  let busy = false;
  let again = false;

  // Somebody is at work in the page: it is not exchanged under their hands.
  const isBusy = () => {
    const focus = document.activeElement;
    const typing = focus && focus.matches("main input, main select, main button");
    return typing || String(window.getSelection()) !== "";
  };

  const places = (root) => [...root.querySelectorAll("details")];
  const name = (details) => (details.querySelector("summary") || details).textContent;

  async function refresh() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      const response = await fetch(location.href, { headers: { "X-Studio-News": "1" } });
      if (!response.ok || response.redirected) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const next = page.getElementById("main");
      if (!next) return;
      if (isBusy()) {
        news.textContent = "the page has changed: reload it to see the news";
        return;
      }
      const main = document.getElementById("main");
      const open = new Map(places(main).map((one) => [name(one), one.open]));
      for (const one of places(next)) {
        if (open.has(name(one))) one.open = open.get(name(one));
      }
      const scrolled = [...main.querySelectorAll(".scroll, .wide")].map(
        (one) => [one.scrollLeft, one.scrollTop]);
      main.replaceChildren(...next.childNodes);
      [...main.querySelectorAll(".scroll, .wide")].forEach((one, at) => {
        if (scrolled[at]) [one.scrollLeft, one.scrollTop] = scrolled[at];
      });
      news.textContent = "updated " + new Date().toISOString().slice(11, 19);
    } catch (error) {
      news.textContent = "no response from the studio";
    } finally {
      busy = false;
      if (again) {
        again = false;
        setTimeout(refresh, 500);
      }
    }
  }

  const source = new EventSource(address);
  source.addEventListener("changed", refresh);
  source.addEventListener("ended", () => {
    source.close();
    refresh();
  });
  window.addEventListener("pagehide", () => source.close());
})();
