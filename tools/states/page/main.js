/* SPDX-License-Identifier: GPL-2.0-only */
/* What the page does: choices, keys, the mouse and fingers, and its address. */
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
		byId("readout").textContent = describe(data,
			gantt.rows[gantt.chosen[0]], gantt.chosen[1]);
}

function move(gantt, what) {
	const { from, to, whole } = gantt, length = to - from, middle = gantt.middle();

	({
		back: () => gantt.look(from - length / 4, to - length / 4),
		on: () => gantt.look(from + length / 4, to + length / 4),
		in: () => gantt.look(middle - length / 4, middle + length / 4),
		out: () => gantt.look(middle - length, middle + length),
		all: () => gantt.look(...whole),
	})[what]();
}

/* The state before or after the one that is chosen, or one in another row. */
function step(gantt, rows, spans) {
	const [row, at] = gantt.chosen || [0, -1];
	const next = Math.min(Math.max(row + rows, 0), gantt.rows.length - 1);
	const of = gantt.rows[next];

	if (!of)
		return;
	const there = rows || at < 0 ? firstAfter(of, gantt.from) : at + spans;
	const found = Math.min(Math.max(there, 0), of.size - 1);
	const length = gantt.to - gantt.from;

	if (of.begin[found] < gantt.from || of.begin[found] > gantt.to)
		gantt.look(of.begin[found] - length / 2, of.begin[found] + length / 2);
	gantt.box.scrollTop = Math.min(Math.max(gantt.box.scrollTop,
		(next + 2) * ROW + AXIS - gantt.box.clientHeight), next * ROW);
	gantt.choose([next, found]);
}

function listenToKeys(gantt) {
	const keys = {
		ArrowLeft: () => move(gantt, "back"), ArrowRight: () => move(gantt, "on"),
		ArrowUp: () => step(gantt, -1, 0), ArrowDown: () => step(gantt, 1, 0),
		n: () => step(gantt, 0, 1), p: () => step(gantt, 0, -1),
		"+": () => move(gantt, "in"), "=": () => move(gantt, "in"),
		"-": () => move(gantt, "out"), 0: () => move(gantt, "all"),
	};

	gantt.box.addEventListener("keydown", (event) => {
		if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		keys[event.key]();
		event.preventDefault();
	});
}

function listenToPointer(gantt) {
	const box = gantt.box;
	const place = (event) => {
		const at = box.getBoundingClientRect();

		return [event.clientX - at.left, event.clientY - at.top];
	};
	let start = null;

	box.addEventListener("pointerdown", (event) => {
		start = place(event)[0];
	});
	box.addEventListener("pointermove", (event) => {
		const [x, y] = place(event);

		if (start !== null && Math.abs(x - start) > 5) {
			gantt.drag = [start, x];
			gantt.later();
		} else if (start === null && event.pointerType === "mouse") {
			const found = gantt.find(x, y);

			if (found)
				byId("readout").textContent =
					describe(gantt.data, gantt.rows[found[0]], found[1]);
		}
	});
	addEventListener("pointerup", (event) => {
		const [x, y] = place(event);

		if (start !== null && gantt.drag)
			gantt.look(gantt.timeAt(Math.min(start, x)), gantt.timeAt(Math.max(start, x)));
		else if (start !== null && gantt.find(x, y))
			gantt.choose(gantt.find(x, y));
		start = gantt.drag = null;
		gantt.later();
	});
	addEventListener("pointercancel", () => {
		start = gantt.drag = null;
		gantt.later();
	});
	box.addEventListener("dblclick", () => move(gantt, "all"));
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
	for (const button of document.querySelectorAll("[data-move]"))
		button.addEventListener("click", () => move(gantt, button.dataset.move));
}

function main() {
	const data = readStates(byId("data").textContent);
	const gantt = new Gantt(data, byId("chart"), byId("canvas"), byId("space"),
		() => tell(data, gantt));

	byId("title").textContent = "States of " + data.titles.join(", ");
	byId("headline").textContent = `${data.count} states of ${data.rows.length} rows, ` +
		`on the clock of ${data.reference}. Times on the axis are since ` +
		`${formatInstant(data, 0)}.`;
	for (const [label, colour] of gantt.colours) {
		const entry = document.createElement("span"), box = document.createElement("i");

		box.style.background = colour;
		entry.append(box, label);
		byId("legend").append(entry);
	}
	listenToChoices(data, gantt);
	listenToKeys(gantt);
	listenToPointer(gantt);
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
