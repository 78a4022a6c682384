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

  const fields = () => [...document.querySelectorAll("#main [id]")].filter((one) => "value" in one);
  const contents = () => new Map(fields().map((one) => [one.id, one.value]));
  const carried = new Set();

  // The page that the studio sends takes the place of this one; the focus stays where it is, and so
  // does what was typed since the form was sent.
  async function show(response, sent) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    await released();
    const next = page.getElementById("main");
    if (!next) {
      location.reload();
      return;
    }
    // Not into the text, which has what the form changed, nor into the form of another resource.
    const typed = fields().filter((one) => one.id !== "yaml" && sent.has(one.id) && one.value !== sent.get(one.id));
    const about = (one) => one.form && ["resource", "section"].map((name) => (one.form.elements[name] || {}).value).join();
    const focus = document.activeElement;
    const id = focus && focus.id;
    const at = focus && focus.selectionStart;
    const scrolls = [...document.querySelectorAll("#yaml")].map((one) => one.scrollTop);
    document.getElementById("main").replaceChildren(...next.childNodes);
    document.title = page.title;
    history.replaceState(null, "", response.url);
    [...document.querySelectorAll("#yaml")].forEach((one, place) => { one.scrollTop = scrolls[place] || 0; });
    carried.clear();
    for (const one of typed) {
      const place = document.getElementById(one.id);
      if (place && place.name === one.name && about(place) === about(one)) {
        place.value = one.value;
        carried.add(one.id);
      }
    }
    const again = id && document.getElementById(id);
    if (again) {
      again.focus({ preventScroll: true });
      if (typeof at === "number" && again.setSelectionRange) again.setSelectionRange(at, at);
    }
  }

  function send(form, action) {
    const values = new URLSearchParams(new FormData(form));
    if (action) values.set("action", action);
    const sent = contents();
    const address = form.getAttribute("action"); // form.action is its buttons of that name
    queue = queue.then(async () => {
      // An earlier form has moved the draft on: this one belongs to the same person and window.
      const newest = document.querySelector("#main input[name=revision]");
      if (newest) values.set("revision", newest.value);
      try {
        const response = await fetch(address, { method: "POST", body: values });
        const inside = new URL(response.url).pathname === "/design/edit";
        if (inside) await show(response, sent);
        else location.assign(response.url);
      } catch (error) {
        document.getElementById("news").textContent = "no response from the studio";
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

  function take(field) {
    const form = field.form;
    if (!isForm(form)) return;
    if (form.classList.contains("resource")) {
      const own = form.querySelector("button[name=action]");
      if (own && !field.name.startsWith("new_key")) send(form, own.value);
    } else if (field.id === "yaml") send(form, "text");
  }

  document.addEventListener("change", (event) => {
    carried.delete(event.target.id);
    take(event.target);
  });
  // A browser does not see a change where the page has put back what was typed.
  document.addEventListener("focusout", (event) => {
    if (event.target.isConnected && carried.delete(event.target.id)) take(event.target);
  });
})();
