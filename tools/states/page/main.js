/* SPDX-License-Identifier: GPL-2.0-only */
/* What the page does: choices, and its address. */
"use strict";

function byId(id) {
	return document.getElementById(id);
}

/* "#from=NS&to=NS", since the base, in which the window is. */
function readAddress(gantt) {
	const told = new URLSearchParams(location.hash.slice(1));
	const from = parseFloat(told.get("from")), to = parseFloat(told.get("to"));

	if (from < to)
		gantt.look(from, to);
}

function tell(data, gantt) {
	const box = byId("chart");

	box.dataset.from = gantt.from;
	box.dataset.to = gantt.to;
	byId("window").textContent = `${formatInstant(data, gantt.from)}, and ` +
		`${formatDuration(gantt.to - gantt.from)} from then on`;
	history.replaceState(null, "", `#from=${Math.round(gantt.from)}` +
		`&to=${Math.round(gantt.to)}`);
	if (gantt.chosen)
		byId("readout").textContent =
			data.describe(gantt.rows[gantt.chosen[0]], gantt.chosen[1]);
}

function listenToChoices(data, gantt) {
	const host = byId("host-choice"), name = byId("name-choice");
	const choose = () => {
		gantt.chosen = null;
		gantt.show(data.rows.filter((row) =>
			(!host.value || row.host === host.value) &&
			row.name.toLowerCase().includes(name.value.toLowerCase())));
	};

	host.append(new Option("all", ""), ...data.hosts.map((one) => new Option(one, one)));
	host.addEventListener("change", choose);
	name.addEventListener("input", choose);
}

function main() {
	const data = readStates(byId("data").textContent);
	const gantt = new Gantt(data, byId("chart"), byId("canvas"), byId("space"),
		() => tell(data, gantt));

	byId("title").textContent = "States of " + data.titles.join(", ");
	byId("headline").textContent = `${data.count} states of ${data.rows.length} rows, ` +
		`on the clock of ${data.reference}. Times on the axis are since ` +
		`${formatInstant(data, 0)}.`;
	gantt.explain(byId("legend"));
	listenToChoices(data, gantt);
	listenToGantt(gantt, document.querySelectorAll("[data-move]"), byId("readout"));
	addEventListener("hashchange", () => readAddress(gantt));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
		gantt.later());
	readAddress(gantt);
	gantt.draw();
	tell(data, gantt);
	document.body.dataset.ready = "true";
}

try {
	main();
} catch (error) {
	byId("failure").textContent = `This page cannot be drawn: ${error.message}`;
	byId("failure").hidden = false;
	throw error;
}
