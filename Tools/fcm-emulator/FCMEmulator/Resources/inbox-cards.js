// The pushes, as the phone shows them.
import { $, appName, keepPlace, make, makeText, makeTime, token } from "./inbox-page.js";

/** As many as the emulator keeps. */
const MAX_CARDS = 500;
const cards = new Map();
let arrived = 0;

function icon() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "app-icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", "#icon");
  svg.append(use);
  return svg;
}

function picture(url, className, card) {
  const image = make("img", className);
  image.alt = className === "picture" ? "Picture of the push" : "";
  image.referrerPolicy = "no-referrer";
  image.addEventListener("error", () => {
    image.remove();
    if (className === "picture") card.querySelector(".marks").append(make("span", "mark", "picture unreachable"));
    else card.querySelector(".row").classList.remove("with-picture");
  });
  image.src = url;
  return image;
}

function details(push) {
  const box = make("div", "details");
  const list = make("dl");
  const row = (name, value) => list.append(make("dt", "", name), makeText("dd", "", value));
  for (const [name, value] of Object.entries(push.data)) row(name, value);
  if (push.image) row("picture", push.image);
  if (push.category) row("category", push.category);
  if (push.thread) row("thread", push.thread);
  if (push.registration) row("token", push.registration);
  row("received", push.received_at);
  row("name", push.name.split("/").pop());
  box.append(list);
  for (const [title, value] of [["What Apple was handed", push.apns], ["Whole message", push.message]]) {
    if (!value) continue;
    const view = make("details");
    view.append(make("summary", "", title), make("pre", "", JSON.stringify(value, null, 2)));
    box.append(view);
  }
  return box;
}

function render(push) {
  const card = make("article", "card" + (push.silent ? " silent" : ""));
  const row = make("button", "row");
  row.type = "button";
  row.setAttribute("aria-expanded", "false");
  const text = make("div");
  const line = make("div", "app-line");
  line.append(makeText("span", "app", push.target ? appName + " · " + push.target : appName), makeTime(push.received_at));
  text.append(line);
  if (push.silent) text.append(make("p", "", "Wakes the app in the background"));
  else text.append(makeText("h2", "", push.title), makeText("p", "", push.body));
  const marks = make("div", "marks");
  if (push.replaced) marks.append(make("span", "mark", push.replaced === 1 ? "replaced an earlier one" : "replaced " + push.replaced + " earlier"));
  text.append(marks);
  row.append(icon(), text);
  row.addEventListener("click", () => row.setAttribute("aria-expanded", String(card.classList.toggle("open"))));
  card.append(row);
  if (push.image) {
    row.classList.add("with-picture");
    row.append(picture(push.image, "thumb", card));
    card.append(picture(push.image, "picture", card));
  }
  card.append(details(push));
  card.addEventListener("animationend", () => card.classList.remove("new", "replaced"));
  return card;
}

/** Puts a push among the cards, in the place of the one that it replaces; one that is shown already stays as it is. */
function put(push) {
  const old = cards.get(push.id);
  cards.delete(push.id);
  if (old?.push.name === push.name) return void cards.set(push.id, old);
  const element = render(push);
  if (old) {
    if (old.element.classList.contains("open")) element.querySelector(".row").click();
    old.element.remove();
  }
  cards.set(push.id, { push, element });
}

function removeOldest() {
  const [id, { element }] = cards.entries().next().value;
  element.remove();
  cards.delete(id);
}

/** Shows a push that has just arrived. The newest is on top, as on a phone. */
export function showCard(push) {
  arrived += 1;
  const isReplacement = cards.has(push.id);
  keepPlace(() => {
    put(push);
    const { element } = cards.get(push.id);
    element.classList.add("new");
    element.classList.toggle("replaced", isReplacement);
    $("list").querySelector(".spacer").after(element);
    if (cards.size > MAX_CARDS) removeOldest();
  });
  refresh();
}

/** Shows these pushes and no others, oldest first in the array, of `messages` that have arrived. */
export function showCards(pushes, messages) {
  arrived = messages;
  keepPlace(() => {
    const ids = new Set(pushes.map((push) => push.id));
    for (const [id, { element }] of [...cards]) {
      if (ids.has(id)) continue;
      element.remove();
      cards.delete(id);
    }
    for (const push of pushes) put(push);
    $("list").replaceChildren($("list").querySelector(".spacer"), ...[...cards.values()].map((card) => card.element).reverse());
  });
  refresh();
}

/** The icon shows what the last push of each phone said; over all phones, their sum. */
function badge() {
  const byPhone = new Map();
  for (const { push } of cards.values()) if (push.badge !== null) byPhone.set(push.registration, push.badge);
  return [...byPhone.values()].reduce((sum, value) => sum + value, 0);
}

function refresh() {
  const number = badge();
  const element = $("badge");
  const text = number > 99 ? "99+" : String(number);
  element.hidden = number === 0;
  if (element.textContent !== text) {
    element.textContent = text;
    // Put in again, it is animated.
    element.replaceWith(element);
  }
  $("empty").hidden = cards.size > 0;
  $("empty-text").textContent = token ? "No notifications for this phone" : "No notifications";
  $("shown").textContent = $("shown-tab").textContent = cards.size.toLocaleString();
  $("arrived").textContent = arrived.toLocaleString();
  $("replaced").textContent = [...cards.values()].reduce((sum, { push }) => sum + push.replaced, 0).toLocaleString();
  document.title = (number ? "(" + number + ") " : "") + "Inbox · " + appName;
}
