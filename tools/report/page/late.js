/* SPDX-License-Identifier: GPL-2.0-only */
/* Late messages with their places in the traces, and flows. */
"use strict";

const PROTOCOLS = { 1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP" };
/* Time for which a button reports that it has copied, ms. */
const COPIED_MS = 1500;
/*
 * Maximum number of characters of a file's path, of which the end is displayed. Chosen:
 * leaves space for the rest.
 */
const PATH_LENGTH = 24;

const late = { marked: null };

function isLater(delay, other) {
	return delay < 0 || other < 0 ? delay < other : delay > other;
}

/*
 * Return the late messages of both directions: inversions first, then the messages with
 * the largest delays.
 */
function lateOf(pair) {
	if (!pair.late)
		pair.late = pair.ways.flatMap((way) => (way && way.late || []).map((json) => ({
			...json, way,
			after: Number(json.after), before: Number(json.before),
			send: secondsOf(big(json.time)),
			recv: secondsOf(big(json.time) + big(json.after)),
		}))).sort((a, b) => isLater(a.after, b.after) ? -1 : isLater(b.after, a.after) ? 1 : 0);
	return pair.late;
}

function flowsOf(pair) {
	return pair.ways.flatMap((way) => (way && way.flows || []).map((flow) => ({ ...flow, way })))
		.sort((a, b) => b.messages - a.messages);
}

/* ---- packets as text ------------------------------------------------------ */

function endOf(address, port) {
	if (port === undefined)
		return address;
	return (address.includes(":") ? `[${address}]` : address) + ":" + port;
}

function protocolOf(packet) {
	return PROTOCOLS[packet.protocol] || (packet.protocol ? "IP protocol " + packet.protocol : "");
}

function endsOf(packet) {
	return packet.saddr === undefined ? "" :
		endOf(packet.saddr, packet.sport) + " → " + endOf(packet.daddr, packet.dport);
}

function nameOfWay(way) {
	return HOSTS[way.from].name + " → " + HOSTS[way.to].name;
}

/*
 * Return a display filter of Wireshark for a flow, or for one of its packets, if the
 * packet can be identified.
 */
function filterOf(packet) {
	if (packet.saddr === undefined)
		return null;
	const ip = packet.saddr.includes(":") ? "ipv6" : "ip";
	const name = { 6: "tcp", 17: "udp", 132: "sctp" }[packet.protocol];
	const is = (field, value) => value === undefined ? [] : [`${field} == ${value}`];

	return [
		...is(ip + ".src", packet.saddr), ...is(ip + ".dst", packet.daddr),
		...(name ? is(name + ".srcport", packet.sport) : []),
		...(name ? is(name + ".dstport", packet.dport) : []),
		...({ 1: ["icmp"], 58: ["icmpv6"] }[packet.protocol] || []),
		...is("tcp.seq_raw", packet.seq), ...is("sctp.data_tsn_raw", packet.tsn),
		...is(packet.protocol === 58 ? "icmpv6.echo.sequence_number" : "icmp.seq",
		      packet.icmp_seq),
		...is("ip.id", packet.ip_id),
	].join(" && ");
}

/* Return the directory that contains all files, with its "/". */
function commonFolder(paths) {
	const folders = paths.map((path) => path.split("/").slice(0, -1));
	const [first, ...others] = folders;
	let num = 0;

	while (first && num < first.length && others.every((folder) => folder[num] === first[num]))
		num++;
	return first && num ? first.slice(0, num).join("/") + "/" : "";
}

/*
 * Return the path of a file relative to the directory that contains all files, truncated
 * at its start.
 */
function shortPath(file) {
	const path = DATA.files[file].slice(commonFolder(DATA.files).length);

	return path.length > PATH_LENGTH ? "…" + path.slice(1 - PATH_LENGTH) : path;
}

/* ---- copying -------------------------------------------------------------- */

/*
 * Copy text with the older method, for browsers in which pages from files may not use the
 * clipboard.
 */
function copyOld(text) {
	const box = make("textarea", { class: "copied" });

	box.value = text;
	document.body.append(box);
	box.select();
	const done = document.execCommand("copy");

	box.remove();
	return done;
}

async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch (error) {
		return copyOld(text);
	}
}

function copyButton(name, text) {
	const button = make("button", { type: "button", class: "copy", title: "copy: " + text,
		"data-copy": text }, name);

	button.addEventListener("click", async () => {
		button.textContent = await copyText(text) ? "copied" : text;
		setTimeout(() => button.textContent = name, COPIED_MS);
	});
	return button;
}

/* ---- late messages -------------------------------------------------------- */

function lines(...parts) {
	return make("div", { class: "lines" }, ...parts.filter((part) => part)
		.map((part) => make("div", {}, part)));
}

/* Return a time and its unit, as viewers of the trace print it, or as in a text file. */
function timeIn(place) {
	return place.file < DATA.first_text ? [formatBig(big(place.time)).replace(MINUS, "-"), "s"] :
		[String(place.time), "ns"];
}

/* Return a cell with the frames of a capture, or with times in other traces. */
function placesCell(places) {
	const files = [...new Set(places.map((place) => place.file))];

	return files.length ? lines(...files.flatMap((file) => {
		const inside = places.filter((place) => place.file === file);
		const frames = inside.filter((place) => place.frame !== undefined);

		return [make("span", { title: DATA.files[file] }, shortPath(file)), frames.length ?
			copyButton("frame " + frames.map((place) => place.frame).join(" or "),
				   frames.map((place) => "frame.number == " + place.frame).join(" || ")) :
			copyButton(timeIn(inside[0]).join(" "), timeIn(inside[0])[0])];
	})) : "–";
}

function packetCell(packet) {
	const filter = filterOf(packet);
	const size = packet.len === undefined ? "" : plural(packet.len, "byte");

	return filter ? lines(endsOf(packet), make("span", {},
		[protocolOf(packet), size].filter((text) => text).join(", ") + " ",
		copyButton("filter", filter))) : "–";
}

function boundOf(message) {
	return message.bound === null ? "± unknown" : "± " + formatDuration(message.bound);
}

function goTo(message) {
	showInstant((message.send + message.recv) / 2);
	byId("spacetime").scrollIntoView();
	tellAddress("spacetime");
}

/* Redraw the plot of delays, with one message marked. */
function markLate(message) {
	const chart = CHARTS.get("delays-chart");

	late.marked = message;
	if (chart && chart.graph)
		chart.graph.updateOptions({});
}

function timeButton(message) {
	const button = make("button", { type: "button", class: "link",
		title: "show this message in the space-time diagram; sent at " + formatInstant(big(message.time)) },
		formatSeconds(message.send, 1e-6) + " s");

	button.addEventListener("click", () => goTo(message));
	return button;
}

function showLate(pair) {
	const rows = lateOf(pair);
	const inverted = rows.filter((message) => message.after < 0).length;
	const corrected = isCorrected(pair);

	byId("late-say").textContent = !corrected ?
		"These clocks could not be corrected, so it is unknown which messages were late." :
		!rows.length ? "This page contains only the messages of the busiest pairs." :
		inverted ? (inverted === 1 ? "One of these messages was received before it was sent, and comes first." :
			`${formatCount(inverted)} of these messages were received before they were sent, and come first.`) :
			"The slowest messages come first; none was received before it was sent.";
	byId("late-table").replaceChildren(...(rows.length ? [makeTable([
		{ head: "sent, received", number: true, cell: (m) => lines(timeButton(m),
			make("span", { class: "quiet" }, formatSeconds(m.recv, 1e-6) + " s")),
		  order: (m) => m.send },
		{ head: "delay", number: true,
		  cell: (m) => lines(formatDuration(m.after), make("span", { class: "quiet" }, boundOf(m))),
		  order: (m) => m.after },
		{ head: "direction", cell: (m) => nameOfWay(m.way) },
		...(rows.some((m) => m.saddr !== undefined) ?
			[{ head: "packet", cell: packetCell }] : []),
		{ head: "at the sender", cell: (m) => placesCell(m.sender) },
		{ head: "at the receiver", cell: (m) => placesCell(m.receiver) },
	], rows, {
		caption: "Late messages of " + pair.name,
		decorate: (line, message) => {
			line.classList.toggle("inverted", message.after < 0);
			line.addEventListener("pointerenter", () => markLate(message));
			line.addEventListener("pointerleave", () => markLate(null));
		},
	})] : []));
}

/* ---- flows ---------------------------------------------------------------- */

function showFlows(pair) {
	const rows = flowsOf(pair), corrected = isCorrected(pair);
	const delay = (head, key) => ({ head, number: true,
		cell: (flow) => formatDuration(flow[key]), order: (flow) => flow[key] });

	byId("flows-say").textContent = rows.length ? "" :
		`The addresses of the messages of ${pair.name} are unknown.`;
	byId("flows-table").replaceChildren(...(rows.length ? [makeTable([
		{ head: "flow", cell: endsOf },
		{ head: "protocol", cell: protocolOf },
		{ head: "direction", cell: (flow) => nameOfWay(flow.way) },
		{ head: "messages", number: true, cell: (flow) => formatCount(flow.messages),
		  order: (flow) => flow.messages },
		...(rows.some((flow) => flow.bytes !== undefined) ? [{ head: "payload", number: true,
		  cell: (flow) => flow.bytes === undefined ? "–" : formatBytes(flow.bytes),
		  order: (flow) => flow.bytes }] : []),
		...(corrected ? [delay("smallest", "min"), delay("median", "median"),
				 delay("largest", "max")] : []),
		{ head: "Wireshark", cell: (flow) => copyButton("filter", filterOf(flow)) },
	], rows, { caption: "Flows of " + pair.name })] : []));
}

/* ---- in the plot of delays ------------------------------------------------- */

/*
 * Should the message be marked? The list of late messages is never empty, and most of
 * them may be as fast as other messages.
 */
function isUnusual(message) {
	return message.after < 0 || message.after > Number(message.way.p99);
}

function drawRing(context, graph, message, mode) {
	const x = graph.toDomXCoord(message.send), y = graph.toDomYCoord(message[mode]);
	const marked = late.marked === message;

	if (!isFinite(x) || !isFinite(y) || !(marked || isUnusual(message)))
		return;
	context.lineWidth = marked ? 3 : 1;
	context.strokeStyle = colour(marked ? "accent" : "quiet");
	context.beginPath();
	context.arc(x, y, marked ? 9 : 5.5, 0, 2 * Math.PI);
	context.stroke();
	context.lineWidth = 1;
}

function drawRings(context, area, graph, pair, mode) {
	context.save();
	context.beginPath();
	context.rect(area.x, area.y, area.w, area.h);
	context.clip();
	for (const message of lateOf(pair))
		drawRing(context, graph, message, mode);
	context.restore();
}

/* Describe the message at a point of the plot, as text after its delay. */
function sayLate(pair, back, time, value, mode) {
	const found = lateOf(pair).find((message) => message.way === pair.ways[back] &&
		message[mode] === value && Math.abs(message.send - time) < 1e-9);
	const frame = (places) => places.length && places[0].frame !== undefined ?
		[`frame ${places[0].frame} of ${shortPath(places[0].file)}`] : [];

	return !found ? "" : " (" + [protocolOf(found) + " " + endsOf(found),
		...frame(found.sender), ...frame(found.receiver)]
		.filter((text) => text.trim()).join(", ") + ")";
}
