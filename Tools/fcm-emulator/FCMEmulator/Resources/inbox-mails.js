// The mails, and the codes in them.
import { $, copy, keepPlace, make, makeText, makeTime } from "./inbox-page.js";

const MAX_MAILS = 50;
/** A code of six digits; a longer number is not a code. */
const CODE = /(?<!\d)(\d{6})(?!\d)/;

/** Appends a text with its codes set apart. */
function appendText(element, text) {
  for (const part of text.trimEnd().split(CODE)) {
    element.append(/^\d{6}$/.test(part) ? make("span", "code", part) : part);
  }
}

function render(mail) {
  const element = make("details", "mail");
  element.dataset.number = mail.number;
  const summary = make("summary");
  const line = make("div", "line");
  line.append(makeText("span", "to", "to " + mail.to.join(", ")), makeTime(mail.received_at));
  summary.append(makeText("div", "subject", mail.subject || "(no subject)"), line);
  const text = make("div", "text");
  text.dir = "auto";
  appendText(text, mail.text);
  element.append(summary, text);
  return element;
}

/** Shows the codes of a mail at the beginning of the page; a mail without one leaves it as it is. */
function showCodes(mail) {
  const codes = [...new Set(mail.text.split(CODE).filter((part) => /^\d{6}$/.test(part)))];
  if (!codes.length) return;
  const items = codes.map((code) => {
    const button = make("button", "", "Copy");
    button.type = "button";
    button.setAttribute("aria-label", "Copy the code " + code);
    button.addEventListener("click", () => copy(code, button));
    const item = make("div", "code-line");
    item.append(make("span", "code", code), button);
    return item;
  });
  const line = make("div", "line");
  line.append(makeText("span", "to", "to " + mail.to.join(", ")), makeTime(mail.received_at));
  $("codes").replaceChildren(make("h2", "", codes.length === 1 ? "Latest code" : "Latest codes"), ...items, line);
  $("codes").hidden = false;
}

/** Shows a mail on top, and opens it, as it is what one has been waiting for. */
export function showMail(mail, isNew = true) {
  const list = $("mails");
  if (list.querySelector(`[data-number="${mail.number}"]`)) return;
  keepPlace(() => {
    list.querySelector(".empty-line")?.remove();
    // One that is being read stays open.
    if (list.scrollTop === 0) for (const element of list.querySelectorAll("[open]")) element.open = false;
    const element = render(mail);
    element.open = true;
    element.classList.toggle("new", isNew);
    list.prepend(element);
    if (list.children.length > MAX_MAILS) list.lastElementChild.remove();
    showCodes(mail);
  });
  $("mails-tab").textContent = list.querySelectorAll(".mail").length;
}

/** Shows these mails and no others; those that are shown already stay as they are. */
export function showMails(mails) {
  const numbers = new Set(mails.map((mail) => String(mail.number)));
  for (const element of $("mails").querySelectorAll(".mail")) if (!numbers.has(element.dataset.number)) element.remove();
  for (const mail of mails) showMail(mail, false);
  if (mails.length) return;
  $("mails").replaceChildren(make("div", "empty-line", "None yet."));
  $("mails-tab").textContent = "0";
  $("codes").hidden = true;
}
