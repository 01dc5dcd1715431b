// Starts the page, and shows what the emulator's stream brings.
import { showCard, showCards } from "./inbox-cards.js";
import { showMail, showMails } from "./inbox-mails.js";
import { $, addressWith, appName, refreshTimes, token } from "./inbox-page.js";
import { showChosen, showPhones, showRequests, startPhones } from "./inbox-phones.js";

function tick() {
  const now = new Date();
  const time = now.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  $("time").textContent = time;
  $("small-time").textContent = time;
  $("date").textContent = now.toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
  refreshTimes();
}

function state(name, text) {
  $("live").dataset.state = name;
  $("live-text").textContent = text;
}

function connect() {
  const source = new EventSource("/control/stream" + (token ? "?token=" + encodeURIComponent(token) : ""));
  const on = (name, show) => source.addEventListener(name, (event) => show(JSON.parse(event.data)));
  source.addEventListener("open", () => state("open", "Live"));
  source.addEventListener("error", () => {
    state("lost", "Connection lost, trying again…");
    // A refusal ends a source; a connection that breaks does not.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
  });
  on("snapshot", ({ cards, messages }) => showCards(cards, messages));
  on("card", showCard);
  on("cleared", () => showCards([], 0));
  on("mail", (mail) => showMail(mail));
  on("mails", (mails) => {
    showMails(mails);
    document.body.dataset.ready = "true";
  });
}

/** What no stream brings. */
function poll() {
  if (document.hidden) return;
  showRequests();
  showPhones();
  showChosen();
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
}

function startTheme() {
  const wantsDark = matchMedia("(prefers-color-scheme: dark)");
  const asked = new URLSearchParams(location.search).get("theme");
  const isFixed = asked === "dark" || asked === "light";
  theme(isFixed ? asked : wantsDark.matches ? "dark" : "light");
  if (!isFixed) wantsDark.addEventListener("change", (event) => theme(event.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => {
    theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    history.replaceState(null, "", addressWith("theme", document.documentElement.dataset.theme));
  });
}

/** Whether an emoji looks different from a character that no font has. */
function showsEmoji() {
  const draw = (text) => {
    const context = Object.assign(document.createElement("canvas"), { width: 32, height: 32 }).getContext("2d");
    context.font = getComputedStyle(document.body).font;
    context.fillText(text, 2, 24);
    return context.getImageData(0, 0, 32, 32).data.join();
  };
  return draw("\u{1F3A8}") !== draw("\u{10FFFD}");
}

startTheme();
startPhones();
$("app-name").textContent = appName;
$("no-emoji").hidden = showsEmoji();
$("clear").addEventListener("click", () => {
  for (const path of ["/control/messages", "/control/mails"]) fetch(path, { method: "DELETE" });
});
tick();
setInterval(tick, 5000);
poll();
setInterval(poll, 2000);
document.addEventListener("visibilitychange", poll);
connect();
