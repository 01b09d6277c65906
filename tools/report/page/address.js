/* SPDX-License-Identifier: GPL-2.0-only */
/* The address of the page leads to a view of it, and a time there: "#VIEW&from=&to=". */
"use strict";

const ADDRESSED = new Map();

function tellAddress(section, from, to) {
	history.replaceState(null, "", `#${section}&from=${from}&to=${to}`);
}

function readAddress() {
	const [section, ...rest] = location.hash.slice(1).split("&");
	const told = new URLSearchParams(rest.join("&"));
	const from = parseFloat(told.get("from")), to = parseFloat(told.get("to"));
	const look = ADDRESSED.get(section);

	if (!look || !(from < to))
		return;
	look(from, to);
	byId(section).scrollIntoView();
}

/* What is to be shown of a view from then to then. */
function onAddress(section, look) {
	ADDRESSED.set(section, look);
}

window.addEventListener("hashchange", readAddress);
