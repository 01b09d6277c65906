/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys, buttons, mouse and touch input of a Gantt chart. */
"use strict";

function moveGantt(gantt, what) {
	const { from, to, whole } = gantt, length = to - from, middle = gantt.middle();

	({
		back: () => gantt.look(from - length / 4, to - length / 4),
		on: () => gantt.look(from + length / 4, to + length / 4),
		in: () => gantt.look(middle - length / 4, middle + length / 4),
		out: () => gantt.look(middle - length, middle + length),
		all: () => gantt.look(...whole),
	})[what]();
}

/* Select a span, and scroll to it. */
function showSpan(gantt, row, at) {
	const begin = gantt.rows[row].begin[at], length = gantt.to - gantt.from;

	if (begin < gantt.from || begin > gantt.to)
		gantt.look(begin - length / 2, begin + length / 2);
	gantt.box.scrollTop = Math.min(Math.max(gantt.box.scrollTop,
		(row + 2) * ROW + AXIS - gantt.box.clientHeight), row * ROW);
	gantt.choose([row, at]);
}

/* Select the state before or after the selected one, or a state in another row. */
function stepGantt(gantt, rows, spans) {
	const [row, at] = gantt.chosen || [0, -1];
	const next = Math.min(Math.max(row + rows, 0), gantt.rows.length - 1);
	const of = gantt.rows[next];

	if (!of)
		return;
	if (spans && gantt.chosen && gantt.data.follow) {
		const [row, span] = gantt.data.follow(of, at, spans);

		showSpan(gantt, gantt.places.get(row), span);
		return;
	}
	const there = rows || at < 0 ? firstAfter(of, gantt.from) : at + spans;

	showSpan(gantt, next, Math.min(Math.max(there, 0), of.size - 1));
}

function listenToKeys(gantt) {
	const keys = {
		ArrowLeft: () => moveGantt(gantt, "back"), ArrowRight: () => moveGantt(gantt, "on"),
		ArrowUp: () => stepGantt(gantt, -1, 0), ArrowDown: () => stepGantt(gantt, 1, 0),
		n: () => stepGantt(gantt, 0, 1), p: () => stepGantt(gantt, 0, -1),
		"+": () => moveGantt(gantt, "in"), "=": () => moveGantt(gantt, "in"),
		"-": () => moveGantt(gantt, "out"), 0: () => moveGantt(gantt, "all"),
	};

	gantt.box.addEventListener("keydown", (event) => {
		if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		keys[event.key]();
		event.preventDefault();
	});
}

function listenToPointer(gantt, readout) {
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
				readout.textContent =
					gantt.data.describe(gantt.rows[found[0]], found[1]);
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
	box.addEventListener("dblclick", () => moveGantt(gantt, "all"));
}

/*
 * Connect the buttons, each of which names its action in data-move. The readout describes
 * the span under the mouse.
 */
function listenToGantt(gantt, buttons, readout) {
	for (const button of buttons)
		button.addEventListener("click", () => moveGantt(gantt, button.dataset.move));
	listenToKeys(gantt);
	listenToPointer(gantt, readout);
}
