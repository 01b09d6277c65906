/* SPDX-License-Identifier: GPL-2.0-only */
/* Create elements of the page. Untrusted text (names) is only used in text nodes. */
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
	return document.getElementById(id);
}

/* Report an error, because a result that was edited can contain anything. */
window.addEventListener("error", (event) => {
	if (!event.error)
		return;
	byId("failure").hidden = false;
	byId("failure").textContent =
		"This page could not be drawn completely; its data may be damaged. " + event.error;
});

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

function make(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function draw(name, attributes, ...children) {
	return fill(document.createElementNS(SVG, name), attributes, children);
}

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* Appearance of the qualities. Their meaning is in the data. */
const QUALITIES = {
	accurate: { sign: "✓", dash: null },
	approximate: { sign: "≈", dash: "7 3" },
	incomplete: { sign: "◐", dash: "2 3" },
	absent: { sign: "✕", dash: "1 5" },
};

/* Mark a quality by a word, a sign, and a colour. */
function qualityMark(quality) {
	const known = QUALITIES[quality];

	return make("span", { class: "quality " + (known ? quality : "absent") },
		make("i", { "aria-hidden": "true" }, known ? known.sign : "?"), quality);
}

/* Call @changed with the value when the user chooses among adjacent buttons. */
function onSwitch(id, changed) {
	byId(id).addEventListener("change", (event) => changed(event.target.value));
}

function legend(id, entries) {
	byId(id).replaceChildren(...entries.map(([text, swatch]) => make("span", {}, swatch, text)));
}

/* Draw a sample of a mark in a plot. */
function swatch(kind, name) {
	const shape = {
		dot: () => draw("circle", { cx: 7, cy: 7, r: 3.5, fill: `var(--${name})` }),
		ring: () => draw("circle", { cx: 7, cy: 7, r: 5.5, fill: "none",
			stroke: `var(--${name})` }),
		box: () => draw("rect", { x: 3.5, y: 3.5, width: 7, height: 7, fill: `var(--${name})` }),
		line: () => draw("path", { d: "M0 7H14", stroke: `var(--${name})`, "stroke-width": 2 }),
		dash: () => draw("path", { d: "M7 0V14", stroke: `var(--${name})`, "stroke-width": 2,
			"stroke-dasharray": "4 2" }),
		band: () => draw("rect", { width: 14, height: 14, fill: `var(--${name})` }),
	}[kind]();

	return draw("svg", { width: 14, height: 14, "aria-hidden": "true" }, shape);
}
