"use strict";
// Forms work without this. With it, what is typed is taken at once, and the page keeps its place.
(() => {
  let pressed = false;
  let queue = Promise.resolve();
  addEventListener("pointerdown", () => { pressed = true; }, true);
  addEventListener("pointerup", () => setTimeout(() => { pressed = false; }, 0), true);

  const released = async () => {
    while (pressed) await new Promise((done) => setTimeout(done, 20));
  };

  // The page that the studio sends takes the place of this one; the focus stays where it is.
  async function show(response) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    await released();
    const next = page.getElementById("main");
    if (!next) {
      location.reload();
      return;
    }
    const focus = document.activeElement;
    const id = focus && focus.id;
    const at = focus && focus.selectionStart;
    const scrolls = [...document.querySelectorAll("#yaml")].map((one) => one.scrollTop);
    document.getElementById("main").replaceChildren(...next.childNodes);
    document.title = page.title;
    history.replaceState(null, "", response.url);
    [...document.querySelectorAll("#yaml")].forEach((one, place) => { one.scrollTop = scrolls[place] || 0; });
    const again = id && document.getElementById(id);
    if (again) {
      again.focus({ preventScroll: true });
      if (typeof at === "number" && again.setSelectionRange) again.setSelectionRange(at, at);
    }
  }

  function send(form, action) {
    const fields = new URLSearchParams(new FormData(form));
    if (action) fields.set("action", action);
    const address = form.action;
    queue = queue.then(async () => {
      // An earlier form has moved the draft on: this one belongs to the same person and window.
      const newest = document.querySelector("#main input[name=revision]");
      if (newest) fields.set("revision", newest.value);
      try {
        const response = await fetch(address, { method: "POST", body: fields });
        const inside = new URL(response.url).pathname === "/design/edit";
        if (inside) await show(response);
        else location.assign(response.url);
      } catch (error) {
        document.getElementById("news").textContent = "the studio does not answer";
      }
    });
  }

  const isForm = (form) => form instanceof HTMLFormElement && form.method === "post" && form.closest("#main");

  document.addEventListener("submit", (event) => {
    if (!isForm(event.target)) return;
    event.preventDefault();
    const button = event.submitter;
    send(event.target, button && button.name === "action" ? button.value : "");
  });

  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (!isForm(form)) return;
    if (form.classList.contains("resource")) {
      const own = form.querySelector("button[name=action]");
      if (own && event.target.name !== "new_key") send(form, own.value);
    } else if (event.target.id === "yaml") send(form, "text");
  });
})();
