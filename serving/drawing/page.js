"use strict";

/** The element `id`. */
const at = (id) => document.getElementById(id);

/** A new element. Text is only ever set as text. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const root = document.documentElement;
const themed = [];
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  root.dataset.theme = theme;
  for (const follow of themed) follow();
}
setTheme(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", () => setTheme(prefersDark.matches ? "dark" : "light"));
at("theme").addEventListener("click", () =>
  setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
