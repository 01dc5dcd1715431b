// The picker of phones, and the newest requests.
import { $, addressWith, copy, get, make, makeText, makeTime, token } from "./inbox-page.js";

const MAX_PHONES = 50;
/** Of the last list, to write only what has changed. */
let shownText = "";
/** Counts the lists that were asked for, because answers may overtake each other. */
let asked = 0;

/** The two ends of a token, which tell it from others. */
const short = (text) => text.length > 15 ? text.slice(0, 8) + "…" + text.slice(-6) : text;

function marks(phone) {
  const texts = [];
  if (!phone.alive) texts.push("dead");
  if (!phone.online) texts.push("offline" + (phone.waiting ? ", " + phone.waiting + " waiting" : ""));
  return texts.map((text) => make("span", "mark", text));
}

function row(phone) {
  const link = make("a", "phone-row");
  link.href = addressWith("token", phone.token);
  link.title = phone.token;
  if (phone.token === token) link.setAttribute("aria-current", "true");
  const count = make("b", "count", phone.accepted.toLocaleString());
  count.title = phone.accepted + (phone.accepted === 1 ? " push" : " pushes");
  const name = make("span", "name", phone.name);
  name.append(...marks(phone));
  const last = make("span", "last");
  if (phone.last) last.append(makeText("bdi", "", phone.last.title || "silent push"), " · ", makeTime(phone.last.received_at));
  else last.textContent = "nothing yet";
  link.append(name, count, last, make("span", "short", short(phone.token)));
  const item = make("li");
  item.append(link);
  return item;
}

function allPhones() {
  const link = make("a", "phone-row");
  link.href = addressWith("token", "");
  if (!token) link.setAttribute("aria-current", "true");
  link.append(make("span", "name", "All phones"));
  const item = make("li");
  item.append(link);
  return item;
}

/** Shows the phones that match the search, those with the newest pushes first. */
export async function showPhones() {
  if (!$("phones").open) return;
  const number = ++asked;
  const search = $("search").value.trim();
  const answer = await get("tokens?count=" + MAX_PHONES + (search ? "&search=" + encodeURIComponent(search) : ""));
  // The links keep the query.
  const text = location.search + JSON.stringify(answer);
  if (!answer || number !== asked || text === shownText) return;
  shownText = text;
  const focused = document.activeElement?.closest(".phone-row")?.href;
  const rows = answer.tokens.map(row);
  $("phone-list").replaceChildren(...(search ? [] : [allPhones()]), ...rows);
  for (const link of $("phone-list").querySelectorAll("a")) if (link.href === focused) link.focus();
  const rest = answer.total - rows.length;
  $("phone-note").textContent = search && !answer.total ? "No phone has a token or a name with this in it."
    : !answer.total ? "No phone has registered yet: make one here, or sign in with an app."
    : rest > 0 ? rest.toLocaleString() + " more: type a part of the token or of the name to find them." : "";
}

/** Shows which phone the page is about. */
export async function showChosen() {
  if (!token) return;
  const answer = await fetch("/control/tokens/" + encodeURIComponent(token)).catch(() => null);
  const phone = answer?.ok ? await answer.json() : null;
  if (phone) $("chosen").replaceChildren(phone.name, ...marks(phone));
  else if (answer?.status === 404) $("chosen").textContent = "Unknown phone";
  $("unknown").hidden = answer?.status !== 404;
}

/** The newest requests, whatever became of them: what was refused is no push, and would not be seen otherwise. */
export async function showRequests() {
  const answer = await get("requests?count=8" + (token ? "&token=" + encodeURIComponent(token) : ""));
  if (!answer) return;
  const items = answer.requests.reverse().map((record) => {
    const item = make("li");
    item.dataset.kind = [200, 250].includes(record.status) ? "accepted" : record.status && record.status < 500 ? "refused" : "failed";
    const target = record.endpoint === "mail" ? "mail to " + record.to : record.endpoint === "token" ? "access token" : record.token || "";
    const text = make("span", "", record.error || (record.fault ? "fault " + record.fault : target));
    text.title = text.textContent;
    item.append(make("b", "", record.status ?? "lost"), make("time", "", new Date(record.at).toLocaleTimeString("en-GB")), text);
    return item;
  });
  $("requests").replaceChildren(...(items.length ? items : [make("li", "empty-line", "None yet.")]));
}

async function mint(platform) {
  const answer = await fetch("/control/tokens", { method: "POST", body: JSON.stringify({ platform }) });
  location.href = addressWith("token", (await answer.json()).token);
}

/** Moves the focus among the search and the phones by the arrow keys; Enter in the search chooses the first. */
function move(event) {
  const stops = [$("search"), ...$("phone-list").querySelectorAll("a")];
  const index = stops.indexOf(document.activeElement);
  if (event.key === "Enter" && index === 0) $("phone-list").querySelector("a")?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || index < 0) return;
  stops[index + step]?.focus();
  event.preventDefault();
}

export function startPhones() {
  // Beside the phone there is room for the list; below one another it would push everything else down.
  $("phones").open = matchMedia("(min-width: 861px)").matches;
  $("phones").addEventListener("toggle", showPhones);
  $("phones").addEventListener("keydown", move);
  let timer;
  $("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(showPhones, 120);
  });
  $("mint-ios").addEventListener("click", () => mint("ios"));
  $("mint-android").addEventListener("click", () => mint("android"));
  $("copy").addEventListener("click", () => copy(token, $("copy")));
  $("token").textContent = token;
  for (const id of ["token", "copy"]) $(id).hidden = !token;
}
