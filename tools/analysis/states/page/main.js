/* SPDX-License-Identifier: GPL-2.0-only */
/* Handle the controls of the page, and its address. */
"use strict";

function byId(id) {
	return document.getElementById(id);
}

function tell(data, gantt) {
	const box = byId("chart");

	box.dataset.from = gantt.from;
	box.dataset.to = gantt.to;
	byId("window").textContent = `${formatDuration(gantt.to - gantt.from)} from ` +
		`${formatInstant(data, gantt.from)} on`;
	tellAddress("states");
	if (gantt.chosen)
		byId("readout").textContent =
			data.describe(gantt.rows[gantt.chosen[0]], gantt.chosen[1]);
}

/* Show only rows of the chosen host, and rows whose names contain the given text. */
function listenToChoices(data, gantt) {
	const host = byId("host-choice"), name = byId("name-choice");
	const choose = () => {
		gantt.chosen = null;
		gantt.show(data.rows.filter((row) =>
			(!host.value || row.host === host.value) &&
			row.name.toLowerCase().includes(name.value.toLowerCase())));
	};
	const chosen = () => {
		choose();
		tellAddress("states");
	};

	host.append(new Option("all", ""), ...data.hosts.map((one) => new Option(one, one)));
	host.addEventListener("change", chosen);
	name.addEventListener("input", chosen);
	onAddress("states", {
		look: (from, to) => gantt.look(from * 1e9, to * 1e9),
		window: () => gantt.from === gantt.whole[0] && gantt.to === gantt.whole[1] ? null :
			[gantt.from / 1e9, gantt.to / 1e9],
		chosen: () => Object.assign({}, host.value && { host: host.value },
			name.value && { object: name.value }),
		choose: (told) => {
			host.value = data.hosts.includes(told.get("host")) ? told.get("host") : "";
			name.value = told.get("object") || "";
			choose();
		},
	});
}

function main() {
	const data = readStates(byId("data").textContent);
	const gantt = new Gantt(data, byId("chart"), byId("canvas"), byId("space"),
		() => tell(data, gantt));

	byId("title").textContent = "States of " + data.titles.join(", ");
	byId("headline").textContent = `${data.count} states in ${data.rows.length} rows, ` +
		`on the clock of ${data.reference}. Times on the axis are relative to ` +
		`${formatInstant(data, 0)}.`;
	gantt.explain(byId("legend"));
	listenToChoices(data, gantt);
	listenToGantt(gantt, document.querySelectorAll("[data-move]"), byId("readout"));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
		gantt.later());
	readAddress();
	gantt.draw();
	tell(data, gantt);
	document.body.dataset.ready = "true";
}

try {
	main();
} catch (error) {
	byId("failure").textContent = `This page could not be drawn: ${error.message}`;
	byId("failure").hidden = false;
	throw error;
}
