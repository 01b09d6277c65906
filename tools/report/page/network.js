/* SPDX-License-Identifier: GPL-2.0-only */
/* Draw the graph of hosts that exchange messages. */
"use strict";

/* If there are more hosts than this, names are rotated around the circle. */
const MAX_LEVEL = 16;
/* If there are more pairs than this, lines are thin, and the keyboard cannot select them. */
const MAX_THICK = 60;

function placeHosts(size, radius) {
	return HOSTS.map((host, i) => {
		const angle = 2 * Math.PI * (i / HOSTS.length) - Math.PI / (HOSTS.length === 2 ? 1 : 2);

		return { host, angle, x: size.x / 2 + radius.x * Math.cos(angle),
			y: size.y / 2 + radius.y * Math.sin(angle) };
	});
}

/* Draw the name of a host outside the circle, so that no line crosses it. */
function nameOfHost({ host, angle, x, y }) {
	const name = host.name.length > 22 ? host.name.slice(0, 21) + "…" : host.name;
	const level = HOSTS.length <= MAX_LEVEL, cos = Math.cos(angle), sin = Math.sin(angle);
	const anchor = level && Math.abs(cos) < 0.3 ? "middle" : cos < 0 ? "end" : "start";

	if (level)
		return draw("text", { x: x + 16 * cos, y: y + 20 * sin + 5, "text-anchor": anchor }, name);
	return draw("text", {
		x: cos < 0 ? -12 : 12, y: 4, "text-anchor": anchor,
		transform: `translate(${x} ${y}) rotate(${angle * 180 / Math.PI - (cos < 0 ? 180 : 0)})`,
		style: HOSTS.length > 40 ? "font-size: 11px" : null,
	}, name);
}

function sayPair(pair) {
	return `${pair.name}: ${plural(pair.messages[0] + pair.messages[1], "message")}, ${pair.quality}`;
}

function edgeOf(pair, places, most, choose) {
	const [a, b] = pair.hosts.map((host) => places[host]);
	const ends = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
	const sum = pair.messages[0] + pair.messages[1], many = PAIRS.length > MAX_THICK;
	const thickest = PAIRS.length > 10 ? many ? 2 : 4 : 8;
	const known = QUALITIES[pair.quality] ? pair.quality : "absent";
	const edge = draw("line", {
		...ends, "stroke-width": 1 + (thickest - 1) * Math.log(1 + sum) / Math.log(1 + most),
		stroke: `var(--${known})`, "stroke-dasharray": QUALITIES[known].dash,
		"stroke-opacity": many ? 0.5 : 0.85, class: many ? "pick" : null,
	});
	/* A wider line is easier to hit. */
	const target = many ? edge : draw("line", { ...ends, "stroke-width": 16,
		stroke: "transparent", class: "pick", role: "button", tabindex: 0,
		"aria-label": sayPair(pair) });
	const say = () => byId("network-readout").textContent = sayPair(pair);

	for (const event of ["pointerenter", "focus"])
		target.addEventListener(event, say);
	if (choose)
		target.addEventListener("click", () => choose(pair));
	if (choose && !many)
		target.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				choose(pair);
			}
		});
	return many ? edge : draw("g", {}, edge, target);
}

function showNetwork(choose) {
	const level = HOSTS.length <= MAX_LEVEL;
	const longest = Math.min(22, Math.max(...HOSTS.map((host) => host.name.length)));
	const size = level ? { x: 420 + 16 * longest, y: HOSTS.length < 3 ? 80 : 400 } : { x: 760, y: 760 };
	const radius = HOSTS.length === 1 ? { x: 0, y: 0 } :
		level ? { x: 190, y: 165 } : { x: 270, y: 270 };
	const places = placeHosts(size, radius);
	const most = Math.max(1, ...PAIRS.map((pair) => pair.messages[0] + pair.messages[1]));
	const nodes = places.map((place) => draw("g", {},
		draw("circle", { cx: place.x, cy: place.y, r: level ? 8 : 5, fill: "var(--paper)",
			"stroke-width": 3, stroke: `var(--${QUALITIES[place.host.quality] ?
				place.host.quality : "absent"})` },
			draw("title", {}, `${place.host.name}: ${place.host.quality}`)),
		nameOfHost(place)));

	byId("network-graph").replaceChildren(draw("svg", {
		viewBox: `0 0 ${size.x} ${size.y}`, width: size.x, role: "group",
		"aria-label": `Graph of ${plural(HOSTS.length, "host")} and ${plural(PAIRS.length, "pair")}`,
	}, ...PAIRS.map((pair) => edgeOf(pair, places, most, choose)), ...nodes));
}
