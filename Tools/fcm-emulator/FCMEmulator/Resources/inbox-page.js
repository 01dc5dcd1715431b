// What all parts of the page use.

export const $ = (id) => document.getElementById(id);
export const appName = document.documentElement.dataset.appName || "App";

/** The phone that the page is about; empty for all phones. */
export const token = new URLSearchParams(location.search).get("token") || "";

/** The address of this page with another value in its query; an empty one is left out. */
export function addressWith(name, value) {
  const query = new URLSearchParams(location.search);
  if (value) query.set(name, value);
  else query.delete(name);
  return location.pathname + (query.size ? "?" + query : "");
}

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A text of people, in the direction of its own script. */
export function makeText(tag, className, text) {
  const element = make(tag, className, text);
  element.dir = "auto";
  return element;
}

/** A time that stays current by `refreshTimes`. */
export function makeTime(iso) {
  const element = make("time", "when", ago(iso));
  element.dateTime = iso;
  element.title = new Date(iso).toLocaleString();
  return element;
}

function ago(iso) {
  const seconds = Math.max(0, (Date.now() - Date.parse(iso)) / 1000);
  if (seconds < 60) return "now";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h ago";
  return new Date(iso).toLocaleDateString();
}

export function refreshTimes() {
  for (const element of document.querySelectorAll(".when")) element.textContent = ago(element.dateTime);
}

/** Changes the page and keeps what is being read where it is: a list that is scrolled to its beginning shows what is new. */
export function keepPlace(change) {
  const scrollers = [$("list"), $("mails"), document.scrollingElement].filter((scroller) => scroller.scrollTop > 0);
  const places = scrollers.map((scroller) => {
    const top = scroller === document.scrollingElement ? 0 : scroller.getBoundingClientRect().top;
    const visible = [...scroller.querySelectorAll(".card, .mail, .box")].filter((element) => element.getBoundingClientRect().bottom > top);
    // Some, because the first may be the one that a new one replaces.
    return { scroller, anchors: visible.slice(0, 5).map((element) => [element, element.getBoundingClientRect().top]) };
  });
  change();
  for (const { scroller, anchors } of places) {
    const anchor = anchors.find(([element]) => element.isConnected && !element.classList.contains("new"));
    if (anchor) scroller.scrollTop += anchor[0].getBoundingClientRect().top - anchor[1];
  }
}

/** Copies a text, and says so on the button. */
export async function copy(text, button) {
  const label = button.textContent;
  // Browsers give the clipboard to pages of this machine and to HTTPS only.
  const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  button.textContent = isCopied ? "Copied" : "Select it to copy";
  setTimeout(() => { button.textContent = label; }, 1500);
}

/** Fetches JSON of the control API; null when there is no answer, or an error. */
export async function get(path) {
  const answer = await fetch("/control/" + path).catch(() => null);
  return answer?.ok ? answer.json().catch(() => null) : null;
}
