/* SPDX-License-Identifier: GPL-2.0-only */
/* Draw the space-time diagram, with hosts as lines and messages as arrows between them. */
"use strict";

/* Maximum number of arrows. More would be unreadable. */
const MAX_ARROWS = 300;

const spacetime = { from: 0, length: 1, messages: null };

function allMessages() {
	if (!spacetime.messages)
		spacetime.messages = WAYS.filter((way) => way.corrected).flatMap((way) =>
			pointsOf(way).map((p) => ({ way, send: p.time, recv: p.time + p.after / 1e9 })))
			.sort((a, b) => a.send - b.send);
	return spacetime.messages;
}

/* Choose an interval in which arrows can be distinguished: the busiest 20 messages in a row. */
function usualInterval() {
	const messages = allMessages();
	const number = Math.min(20, messages.length);
	let best = 0, least = Infinity;

	if (!number)
		return;
	for (let i = 0; i + number <= messages.length; i++) {
		const length = messages[i + number - 1].send - messages[i].send;

		if (length < least) {
			least = length;
			best = i;
		}
	}
	const seen = messages.slice(best, best + number);
	const end = Math.max(...seen.map((m) => m.recv)), length = end - seen[0].send || 1e-6;

	spacetime.from = seen[0].send - length * 0.05;
	spacetime.length = length * 1.1;
}

function arrowsIn(from, to) {
	const messages = allMessages();
	const inside = messages.filter((m) => Math.max(m.send, m.recv) >= from &&
		Math.min(m.send, m.recv) <= to);

	if (inside.length <= MAX_ARROWS)
		return { arrows: inside, all: inside.length };
	return { all: inside.length, arrows: inside.filter((m, i) =>
		Math.floor(i * MAX_ARROWS / inside.length) !==
		Math.floor((i - 1) * MAX_ARROWS / inside.length)) };
}

function arrow(message, x, y) {
	const { way } = message;
	const x1 = x(message.send), x2 = x(message.recv), y1 = y(way.from), y2 = y(way.to);
	const angle = Math.atan2(y2 - y1, x2 - x1), name = y2 > y1 ? "there" : "back";
	const wing = (turn) => `L${x2 - 8 * Math.cos(angle + turn)} ${y2 - 8 * Math.sin(angle + turn)}`;
	const text = `${HOSTS[way.from].name} → ${HOSTS[way.to].name}: sent at ` +
		`${formatSeconds(message.send, 1e-9)} s, ${formatDuration((message.recv - message.send) * 1e9)}`;
	const say = () => byId("spacetime-readout").textContent = text;
	const path = draw("path", {
		d: `M${x1} ${y1}L${x2} ${y2}${wing(0.4)}M${x2} ${y2}${wing(-0.4)}`,
		stroke: `var(--${name})`, "stroke-width": 1.5, fill: "none",
	}, draw("title", {}, text));

	path.addEventListener("pointerenter", say);
	return path;
}

function axisOf(width, height, left, x) {
	const to = spacetime.from + spacetime.length;
	const shift = niceStep(spacetime.length, 1) * 10;
	const origin = Math.floor(spacetime.from / shift) * shift;
	const ticks = durationTicks((spacetime.from - origin) * 1e9, (to - origin) * 1e9,
		Math.max(2, Math.floor((width - left) / 110)));

	return draw("g", { class: "axis" },
		draw("text", { x: left, y: height - 4 }, `after ${formatSeconds(origin, shift / 10)} s`),
		...ticks.flatMap(({ v, label }) => {
			const at = x(origin + v / 1e9);

			return [draw("line", { x1: at, x2: at, y1: 8, y2: height - 40, stroke: "var(--grid)" }),
				draw("text", { x: at, y: height - 24, "text-anchor": "middle" }, label)];
		}));
}

function showSpacetime() {
	const element = byId("spacetime-chart");
	const { from, length } = spacetime;
	const { arrows, all } = arrowsIn(from, from + length);
	const used = HOSTS.length <= 16 ? HOSTS.filter((host) => host.known) :
		HOSTS.filter((host) => arrows.some(({ way }) => way.from === host.index ||
			way.to === host.index));
	const space = used.length > 4 ? used.length > 12 ? 26 : 40 : 72;
	const width = Math.max(280, element.clientWidth), height = used.length * space + 48;
	const left = Math.min(width * 0.3, 12 + 8 * Math.max(3, ...used.map((host) => host.name.length)));
	const x = (time) => left + (time - from) / length * (width - left - 12);
	const row = new Map(used.map((host, i) => [host.index, 8 + space / 2 + i * space]));
	const y = (host) => row.get(host);
	const clip = draw("clipPath", { id: "spacetime-clip" },
		draw("rect", { x: left, y: 0, width: width - left, height }));
	const lines = used.flatMap((host) => [
		draw("line", { x1: left, x2: width - 12, y1: y(host.index), y2: y(host.index),
			stroke: "var(--quiet)" }),
		draw("text", { x: left - 8, y: y(host.index) + 4, "text-anchor": "end" },
			host.name.length * 8 > left ? host.name.slice(0, Math.floor(left / 8) - 2) + "…" :
				host.name, draw("title", {}, host.name)),
	]);

	byId("spacetime-from").value = fixed(from, 9).replace(MINUS, "-");
	byId("spacetime-length").value = String(Number((length * 1e3).toPrecision(6)));
	byId("spacetime-say").textContent = `${plural(all, "message")} in this interval` +
		(arrows.length < all ? `, ${formatCount(arrows.length)} of which are drawn; zoom in for all` : "") +
		(allMessages().length < WAYS.reduce((sum, way) => sum + way.messages, 0) ?
			"; this page has only a selection, with the fastest and the slowest messages." : ".");
	element.dataset.arrows = arrows.length;
	element.dataset.from = from;
	element.dataset.length = length;
	element.replaceChildren(draw("svg", { width, height, role: "img",
		"aria-label": `Space-time diagram with ${plural(arrows.length, "message")}` },
		clip, axisOf(width, height, left, x), ...lines,
		draw("g", { "clip-path": "url(#spacetime-clip)" }, ...arrows.map((m) => arrow(m, x, y)))));
}

function showInterval(from, length) {
	if (!isFinite(from) || !(length >= 1e-9))
		return;
	spacetime.from = from;
	spacetime.length = Math.min(length, WHOLE[1] - WHOLE[0] + 1);
	showSpacetime();
}

function enterInterval(from, length) {
	showInterval(from, length);
	tellAddress("spacetime");
}

/* Display an interval of the same length with an instant in the middle. */
function showInstant(seconds) {
	showInterval(seconds - spacetime.length / 2, spacetime.length);
}

function scaleInterval(factor) {
	const middle = spacetime.from + spacetime.length / 2, length = spacetime.length * factor;

	showInterval(middle - length / 2, length);
}

/* Zoom into an interval when the user drags over it. */
function dragInterval(element) {
	let start = null;
	const timeAt = (event) => {
		const lines = element.querySelectorAll("svg > line");
		const box = element.firstChild.getBoundingClientRect();
		const x1 = Number(lines[0].getAttribute("x1")), x2 = Number(lines[0].getAttribute("x2"));

		return spacetime.from + (event.clientX - box.left - x1) / (x2 - x1) * spacetime.length;
	};

	element.addEventListener("pointerdown", (event) => {
		start = event.pointerType === "mouse" && element.querySelector("svg > line") ?
			timeAt(event) : null;
	});
	window.addEventListener("pointerup", (event) => {
		if (start === null)
			return;
		const end = timeAt(event);

		if (Math.abs(end - start) > spacetime.length * 0.02)
			enterInterval(Math.min(start, end), Math.abs(end - start));
		start = null;
	});
	element.addEventListener("dblclick", () => {
		usualInterval();
		showSpacetime();
		tellAddress("spacetime");
	});
}

function setUpSpacetime() {
	const element = byId("spacetime-chart");
	const moved = (share) => () => showInterval(spacetime.from + spacetime.length * share, spacetime.length);
	const moves = {
		out: { ...MOVES.out, move: () => scaleInterval(2) },
		in: { ...MOVES.in, move: () => scaleInterval(0.5) },
		earlier: { ...MOVES.earlier, move: moved(-0.25) },
		later: { ...MOVES.later, move: moved(0.25) },
		all: { ...MOVES.all, sign: "reset", say: "back to the first interval", move: () => {
			usualInterval();
			showSpacetime();
		} },
	};
	const entered = () => enterInterval(Number(byId("spacetime-from").value),
		Number(byId("spacetime-length").value) / 1e3);

	addMoves(document.querySelector('[data-chart="spacetime-chart"]'), element, moves);
	byId("spacetime-from").addEventListener("change", entered);
	byId("spacetime-length").addEventListener("change", entered);
	dragInterval(element);
	onAddress("spacetime", {
		look: (from, to) => showInterval(from, to - from),
		window: () => [spacetime.from, spacetime.from + spacetime.length],
	});
	usualInterval();
	showSpacetime();
	new ResizeObserver(showSpacetime).observe(element);
}
