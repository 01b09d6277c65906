/* SPDX-License-Identifier: GPL-2.0-only */
/* The top of the page, and the pair that is displayed. */
"use strict";

function headline(messages, before, after) {
	if (!messages)
		return "No messages between these hosts were found.";
	if (!before && !after)
		return `All of ${plural(messages, "message")} were received after they were sent, ` +
			"before and after correction.";
	return `${formatCount(before)} of ${plural(messages, "message")} ` +
		`${before === 1 ? "was" : "were"} received before being sent, by the uncorrected clocks. ` +
		`After correction, ${after ? formatCount(after) + (after === 1 ? " is" : " are") : "none is"}.`;
}

function showTop() {
	const names = HOSTS.map((host) => host.name);
	const list = names.slice(0, -1).join(", ") + (names.length > 1 ? " and " : "") +
		names[names.length - 1];
	const title = "Clocks of " + (list.length <= 60 ? list : plural(names.length, "host"));
	const sum = (key) => PAIRS.reduce((all, pair) => all + pair[key], 0);
	const messages = PAIRS.reduce((all, pair) => all + pair.messages[0] + pair.messages[1], 0);
	const before = sum("before"), after = sum("after");
	const others = HOSTS.filter((host) => !host.isReference);
	const bounds = others.map((host) => host.bound.max);
	const bad = others.filter((host) => host.quality !== "accurate");
	const tile = (value, text) => make("div", { class: "tile" }, make("b", {}, value),
		make("span", {}, text));

	document.title = "netsync: " + title;
	byId("title").textContent = title;
	byId("headline").textContent = headline(messages, before, after);
	byId("tiles").replaceChildren(
		tile(formatCount(HOSTS.length), HOSTS.length === 1 ? "host" : "hosts"),
		tile(formatCount(messages), messages === 1 ? "message" : "messages"),
		tile(`${formatCount(before)} → ${formatCount(after)}`, "received before sent"),
		tile(bounds.some((b) => b === null || b === undefined) ? "unknown" :
			formatDuration(Math.max(0, ...bounds)), "largest error bound"),
		tile(bad.length ? `${formatCount(others.length - bad.length)} of ${formatCount(others.length)}` :
			"all", "hosts corrected accurately"));
	showRecording();
	byId("epoch").textContent = "Times on the axes are on the clock of " + RESULT.reference +
		", relative to " + formatInstant(BASE) + ".";
}

/*
 * Show when the traces were recorded (on the clock of the reference), for how long, on
 * which hosts, and by which tool.
 */
function showRecording() {
	const curves = HOSTS.map(curveOf).filter((curve) => curve && curve.length);
	const facts = [
		["Recorded", curves.length ? formatInstant(BASE).replace(/\.\d+ UTC$/, " UTC") :
			"at an unknown time"],
		["Duration", curves.length ? formatLength(WHOLE[1] - WHOLE[0]) : "unknown"],
		["Hosts", HOSTS.map((host) => host.name).join(", ")],
		["Made by", `netsync ${DATA.version}` +
			(RESULT.method ? `, method ${RESULT.method}` : "")],
	];

	byId("recording").replaceChildren(...facts.flatMap(([term, text]) =>
		[make("dt", {}, term), make("dd", {}, text)]));
}

function choosePair(pair, scrolls) {
	delays.pair = pair;
	delays.scale = null;
	for (const choice of document.querySelectorAll("[data-choice='pair']"))
		choice.value = pair.index;
	markPair(pair);
	showDelays();
	showLate(pair);
	showFlows(pair);
	showBetween(pair);
	if (scrolls) {
		byId("delays").scrollIntoView();
		tellAddress("delays");
	}
}

/* Put the pair that is displayed into addresses, by the names of its hosts. */
function addressPairs() {
	const names = (pair) => pair.hosts.map((host) => HOSTS[host].name).join(",");

	const still = { look: () => 0, window: () => null };
	const timed = { look: setView, window: shownView };

	for (const [section, time] of [["delays", timed], ["between", timed], ["late", still],
				       ["flows", still]])
		onAddress(section, {
			...time,
			chosen: () => ({ pair: names(delays.pair) }),
			choose: (told) => {
				const pair = PAIRS.find((one) => names(one) === told.get("pair"));

				if (pair && pair !== delays.pair)
					choosePair(pair);
			},
		});
}

function setUpPairs() {
	const choices = document.querySelectorAll("[data-choice='pair']");
	const busiest = PAIRS.slice().sort((a, b) =>
		b.messages[0] + b.messages[1] - a.messages[0] - a.messages[1])[0];

	for (const choice of choices) {
		choice.replaceChildren(...PAIRS.map((pair) =>
			make("option", { value: pair.index }, pair.name)));
		choice.addEventListener("change", () => {
			choosePair(PAIRS[choice.value]);
			tellAddress(viewOf(choice));
		});
	}
	setUpDelays();
	choosePair(busiest);
	addressPairs();
}

function hideSection(id) {
	byId(id).hidden = true;
	document.querySelector(`nav a[href="#${id}"]`).hidden = true;
}

/* Hide views that need messages. A result without traces does not contain messages. */
function hideMessages() {
	["delays", "late", "flows", "between", "spacetime"].forEach(hideSection);
	byId("pairs-table").before(make("p", { class: "note" }, HAS_MESSAGES ?
		"No messages between two hosts were found." :
		"A result does not contain messages. To plot messages and their delays, also give the traces: ",
		HAS_MESSAGES ? null : make("code", {}, "netsync report -m sync.json TRACE...")));
}

function showAll() {
	const shows = HAS_MESSAGES && PAIRS.length > 0 && WAYS.length > 0;
	const choose = shows ? (pair) => choosePair(pair, true) : null;

	showTop();
	showHosts();
	showPairs(choose);
	showSteering();
	showStack();
	showCounts();
	showTraces();
	if (!byId("source").querySelector("table"))
		hideSection("source");
	showNetwork(choose);
	for (const box of document.querySelectorAll(".zoom[data-chart]"))
		addMoves(box, byId(box.dataset.chart), MOVES);
	if (shows) {
		setUpPairs();
		setUpSpacetime();
	} else {
		hideMessages();
	}
	setUpClocks();
	setUpPath();
	watchEdges(document.querySelector(".tabs"));
	readAddress();
	redrawOnColours(() => {
		showClock();
		if (shows)
			choosePair(delays.pair);
	});
	document.body.dataset.ready = "true";
}

showAll();
