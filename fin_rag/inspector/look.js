"use strict";
/* Shared by the pages. Text only ever enters the page as text, never as HTML. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

function shown(value) {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function pairs(record, keys) {
  const table = element("table");
  for (const key of keys || Object.keys(record)) {
    const value = shown(record[key]);
    if (value === "") continue;
    const row = element("tr");
    row.append(element("th", key.replaceAll("_", " ")), element("td", value));
    table.append(row);
  }
  return table;
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const typing = (event) =>
  event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);

if (byId("theme")) byId("theme").addEventListener("click", switchTheme);
