/* SPDX-License-Identifier: GPL-2.0-only */
/* Create tables of text. */
"use strict";

/*
 * Number of rows that are shown at first. A longer table takes long to draw, and is only
 * completed on demand.
 */
const FIRST_ROWS = 120;

/*
 * Create a table. @columns is a list of { head, number, cell(row), order(row) }. If a
 * column has an order, a click on its head sorts by it. @options can have a caption and
 * decorate(tr, row).
 */
function makeTable(columns, rows, options) {
	const body = make("tbody");
	const heads = columns.map((column) => make("th", {
		scope: "col", class: column.number ? "number" : null,
	}, column.order ? make("button", { type: "button" }, column.head) : column.head));
	let all = rows.length <= FIRST_ROWS;
	const lineOf = (row) => {
		const cells = columns.map((column, i) =>
			make(i ? "td" : "th", { class: column.number ? "number" : null,
				scope: i ? null : "row" }, column.cell(row)));
		const line = make("tr", {}, ...cells);

		if (options.decorate)
			options.decorate(line, row);
		return line;
	};
	const show = (list) => {
		body.replaceChildren(...(all ? list : list.slice(0, FIRST_ROWS)).map(lineOf));
		if (all)
			return;
		const button = make("button", { type: "button" }, `show all ${formatCount(list.length)}`);

		button.addEventListener("click", () => {
			all = true;
			show(list);
		});
		body.append(make("tr", {}, make("td", { colspan: columns.length }, button)));
	};

	columns.forEach((column, i) => {
		if (!column.order)
			return;
		heads[i].firstChild.addEventListener("click", () => {
			const down = heads[i].getAttribute("aria-sort") === "descending";
			const key = (row) => column.order(row) ?? -Infinity;
			const sorted = rows.slice().sort((a, b) =>
				(key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * (down ? 1 : -1));

			heads.forEach((head) => head.removeAttribute("aria-sort"));
			heads[i].setAttribute("aria-sort", down ? "ascending" : "descending");
			show(sorted);
		});
	});
	show(rows);
	const box = make("div", { class: "scroll", tabindex: 0, role: "region",
		"aria-label": options.caption },
		make("table", {}, options.visible ? make("caption", {}, options.caption) : null,
		     make("thead", {}, make("tr", {}, ...heads)), body));

	watchEdges(box);
	return make("div", { class: "edges" }, box);
}

/* ---- hosts ------------------------------------------------------------- */

function middleOf(host) {
	return host.first + (host.last - host.first) / 2n;
}

function showHosts() {
	const shifted = (host) => host.known && host.seen && !host.isReference;
	const skew = (host) => (segmentAt(host, middleOf(host)).rate - 1) * 1e6;
	const offset = (host) => offsetAt(host, middleOf(host));

	byId("hosts-table").replaceChildren(makeTable([
		{ head: "host", cell: (host) => host.name },
		{ head: "offset (mid-trace)", number: true,
		  cell: (host) => host.isReference ? "reference" : !shifted(host) ? "–" :
			withSign(offset(host), formatBig(offset(host)) + " s"),
		  order: (host) => shifted(host) ? Number(offset(host)) : null },
		{ head: "skew", number: true,
		  cell: (host) => shifted(host) ? formatPpm(skew(host), host.skewWithin) : "–",
		  order: (host) => shifted(host) ? skew(host) : null },
		...(HOSTS.some((host) => host.deviations.length) ? [
			{ head: "typical error", number: true,
			  cell: (host) => host.isReference ? "–" : formatDuration(host.deviation),
			  order: (host) => host.deviation }] : []),
		{ head: "bound, median", number: true,
		  cell: (host) => host.isReference ? "–" : formatDuration(host.bound.median),
		  order: (host) => host.bound.median },
		{ head: "bound, largest", number: true,
		  cell: (host) => host.isReference ? "–" : formatDuration(host.bound.max),
		  order: (host) => host.bound.max },
		...(HOSTS.some((host) => host.packets) ? [{ head: "packets", number: true,
		  cell: (host) => formatCount(host.packets), order: (host) => host.packets }] : []),
		{ head: "steps", number: true, cell: (host) => formatCount(host.steps.length),
		  order: (host) => host.steps.length },
		{ head: "quality", cell: (host) => qualityMark(host.quality),
		  order: (host) => host.quality },
	], HOSTS, { caption: "Hosts" }));
	for (const [quality, meaning] of Object.entries(DATA.qualities))
		if (HOSTS.concat(PAIRS).some((item) => item.quality === quality))
			byId("qualities").append(make("dt", {}, qualityMark(quality)),
				make("dd", {}, meaning));
}

/* ---- pairs ------------------------------------------------------------- */

function asymmetry(pair) {
	const [there, back] = pair.ways;

	return there && back && there.corrected && back.corrected &&
		there.median !== undefined && back.median !== undefined ?
		there.median - back.median : null;
}

function showPairs(choose) {
	const rows = PAIRS.flatMap((pair) => [0, 1].map((back) => ({
		pair, back,
		name: HOSTS[pair.hosts[back]].name + " → " + HOSTS[pair.hosts[1 - back]].name,
		messages: pair.messages[back],
		smallest: pair.smallest[back],
		way: pair.ways[back] && pair.ways[back].corrected ? pair.ways[back] : {},
	})));
	const chooser = (row) => {
		const button = make("button", { type: "button", class: "link",
			title: "show the messages of this pair" }, row.name);

		button.addEventListener("click", () => choose(row.pair));
		return button;
	};
	const delay = (row, key) => row.way[key] === undefined ? "–" : formatDuration(row.way[key]);
	const statistics = [["median", "median"], ["99 % within", "p99"], ["largest", "max"]]
		.map(([head, key]) => ({ head, number: true, cell: (row) => delay(row, key),
			order: (row) => row.way[key] }));
	const ofPair = (value) => (row) => row.back ? "" : value(row.pair);

	byId("pairs-table").replaceChildren(makeTable([
		{ head: "direction", cell: (row) => choose ? chooser(row) : row.name },
		{ head: "messages", number: true, cell: (row) => formatCount(row.messages),
		  order: (row) => row.messages },
		{ head: "smallest", number: true,
		  cell: (row) => row.smallest === null ? "–" : formatDuration(row.smallest),
		  order: (row) => row.smallest },
		...(HAS_MESSAGES ? statistics : []),
		...(HAS_MESSAGES ? [{ head: "asymmetry", number: true,
		  cell: ofPair((pair) => asymmetry(pair) === null ? "–" :
			withSign(asymmetry(pair), formatDuration(asymmetry(pair)))) }] : []),
		{ head: "received before sent", number: true,
		  cell: ofPair((pair) => formatCount(pair.before) + " → " + formatCount(pair.after)),
		  order: (row) => row.pair.before },
		{ head: "quality", cell: ofPair((pair) => qualityMark(pair.quality)),
		  order: (row) => row.pair.quality },
	], rows, {
		caption: "Pairs of hosts",
		decorate: (line, row) => line.dataset.pair = row.pair.index,
	}));
}

function markPair(pair) {
	for (const line of byId("pairs-table").querySelectorAll("tbody tr"))
		line.classList.toggle("chosen", Number(line.dataset.pair) === pair.index);
}

/* ---- steering and traces --------------------------------------------- */

function showSteering() {
	const rows = HOSTS.filter((host) => host.steering.points);
	const ppm = (key) => (host) => host.steering[key] === null ? "–" :
		withSign(host.steering[key], fixed(host.steering[key], 1)) + " ppm";

	if (!rows.length)
		return;
	byId("steering-table").replaceChildren(makeTable([
		{ head: "host", cell: (host) => host.name },
		{ head: "points", number: true, cell: (host) => formatCount(host.steering.points) },
		{ head: "slowest", number: true, cell: ppm("min_ppm") },
		{ head: "fastest", number: true, cell: ppm("max_ppm") },
		{ head: "unreported", number: true,
		  cell: (host) => formatDuration(host.steering.unknown_ns) },
	], rows, { caption: "Steering of clocks, relative to their oscillators", visible: true }));
}

function showStack() {
	const rows = HOSTS.flatMap((host) => ["out", "in"].map((way) =>
		({ host, way, ...host.stack[way] }))).filter((row) => row.packets);

	if (!rows.length)
		return;
	byId("stack-table").replaceChildren(makeTable([
		{ head: "host", cell: (row) => row.host.name },
		{ head: "way", cell: (row) => row.way },
		{ head: "packets", number: true, cell: (row) => formatCount(row.packets) },
		...[["smallest", "min"], ["median", "median"], ["99 % within", "p99"],
		    ["largest", "max"]].map(([head, key]) => ({
			head, number: true, cell: (row) => formatDuration(row[key]) })),
	], rows, { caption: "Time in the network stack of each host", visible: true }));
}

function showCounts() {
	const names = {
		packets: "recorded", matched: "also recorded on another host",
		nat: "matched, with translated addresses",
		unmatched: "recorded on one host only", ambiguous: "could belong to several packets",
		loopback: "packets that never left their host", unsupported: "unsupported protocols",
		evicted: "unmatched, and discarded to limit memory use",
	};
	const rows = Object.entries(names).filter(([key]) => RESULT.stats && RESULT.stats[key]);

	if (rows.length)
		byId("counts-table").replaceChildren(makeTable([
			{ head: "which", cell: (row) => row[1] },
			{ head: "number", number: true,
			  cell: (row) => formatCount(RESULT.stats[row[0]]) },
		], rows, { caption: "Packet events", visible: true }));
}

function showTraces() {
	const rows = HOSTS.flatMap((host) => host.traces.map((trace) => ({ host, trace })));

	if (rows.length)
		byId("traces-table").replaceChildren(makeTable([
			{ head: "host", cell: (row) => row.host.name },
			{ head: "trace", cell: (row) => make("code", {}, row.trace.path) },
			{ head: "shift", number: true, cell: (row) => formatDuration(Number(row.trace.shift_ns)) },
		], rows, { caption: "Traces", visible: true }));
}

function showSteps(host) {
	const rows = host.steps;

	byId("steps-table").replaceChildren(...(rows.length ? [makeTable([
		{ head: "step at", number: true,
		  cell: (step) => formatSeconds(stepTime(host, step), 1e-6) + " s" },
		{ head: "within", number: true, cell: (step) => formatDuration(Number(step.within_ns)) },
		{ head: "stepped by", number: true, cell: (step) => Number(step.offset_ns) ?
			withSign(Number(step.offset_ns), formatDuration(Number(step.offset_ns))) : "–" },
		{ head: "runs faster by", number: true, cell: (step) => formatPpm(step.skew_ppm) },
		...(rows.some((step) => step.known) ? [{ head: "found by",
		  cell: (step) => step.known ? "events" : "messages" }] : []),
	], rows, { caption: "Steps of the clock of " + host.name, visible: true })] : []));
}

function stepTime(host, step) {
	const time = big(step.time_ns);

	return secondsOf(time + offsetAt(host, time));
}
