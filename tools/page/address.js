/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address of the page specifies a view, a selection in that view, and a time:
 * "#VIEW&pair=web,db&from=12.5&to=13", in seconds on the axes. The address of a view
 * without a time is only its name.
 */
"use strict";

/* Browsers refuse to change an address more often than about 100 times in 30 s. */
const TELL_MS = 300;

const ADDRESSED = new Map();
let telling = null;

/*
 * Register how an address refers to a view. view.look(from, to) displays that time.
 * view.window() returns [from, to], or null if the view displays everything.
 * view.choose(told) selects what URLSearchParams specify. view.chosen() returns the
 * selection as an object. All functions except look and window are optional.
 */
function onAddress(section, view) {
	ADDRESSED.set(section, view);
}

function addressOf(section) {
	const view = ADDRESSED.get(section);
	const told = new URLSearchParams(view.chosen ? view.chosen() : {});
	const seen = view.window();

	if (seen) {
		told.set("from", Number(seen[0].toFixed(10)));
		told.set("to", Number(seen[1].toFixed(10)));
	}
	return "#" + section + (told.size ? "&" + told : "");
}

/* Update the address after the user has changed what a view displays. */
function tellAddress(section) {
	if (!ADDRESSED.has(section))
		return;
	clearTimeout(telling);
	telling = setTimeout(() => history.replaceState(null, "", addressOf(section)), TELL_MS);
}

/* Return the view that contains an element. */
function viewOf(element) {
	return element.closest("section").id;
}

function readAddress() {
	const [section, ...rest] = location.hash.slice(1).split("&");
	const told = new URLSearchParams(rest.join("&"));
	const from = parseFloat(told.get("from")), to = parseFloat(told.get("to"));
	const view = ADDRESSED.get(section), element = byId(section);

	if (!element || element.tagName !== "SECTION" || element.hidden)
		return;
	if (view && view.choose)
		view.choose(told);
	if (view && from < to)
		view.look(from, to);
	/* A pending update would store an outdated view. */
	clearTimeout(telling);
	element.scrollIntoView();
}

window.addEventListener("hashchange", readAddress);
