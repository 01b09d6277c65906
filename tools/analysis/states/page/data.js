/* SPDX-License-Identifier: GPL-2.0-only */
/* The spans of the page, by row, in order of time. Times are in ns since the base time. */
"use strict";

/* Count of the numbers that describe a span in the array. */
const WIDTH = 9;
const OPEN = 1, DOUBTFUL = 2, UNCERTAIN = 4;

function readStates(text) {
	const { spans, meaning } = JSON.parse(text);
	const count = spans.length / WIDTH;
	const numbered = meaning.rows.map(([host, definition, name, lane]) => ({
		host: meaning.hosts[host],
		definition: meaning.definitions[definition],
		name: lane ? `${name} (${lane + 1})` : name,
		size: 0,
	}));

	for (let i = 0; i < count; i++)
		numbered[spans[i * WIDTH]].size++;
	for (const row of numbered) {
		row.begin = new Float64Array(row.size);
		row.end = new Float64Array(row.size);
		row.span = new Uint32Array(row.size);
		row.size = 0;
	}
	for (let i = 0; i < count; i++) {
		const row = numbered[spans[i * WIDTH]];

		row.begin[row.size] = spans[i * WIDTH + 2];
		row.end[row.size] = spans[i * WIDTH + 3];
		row.span[row.size++] = i;
	}
	/* A row can exist only as a holder, without a state in the window. */
	const rows = numbered.filter((row) => row.size).sort((a, b) => a.definition.localeCompare(b.definition) ||
		a.host.localeCompare(b.host) ||
		a.name.localeCompare(b.name, undefined, { numeric: true }));
	const data = {
		base: BigInt(meaning.base_ns), hosts: meaning.hosts, numbered, rows,
		spans, count,
		reference: meaning.reference, labels: meaning.states,
		titles: meaning.definitions,
	};

	/* Return an arrow from the end of the state that was waited for to the end of the wait. */
	data.arrow = (row, at) => {
		const holder = holderOf(data, row, at);

		return holder && { row: holder.row, begin: holder.end, end: row.end[at] };
	};
	data.label = (row, at) => spans[row.span[at] * WIDTH + 1];
	data.describe = (row, at) => describe(data, row, at);
	return data;
}

/* Return the row that a span waited for, and the end of its state there, or null. */
function holderOf(data, row, at) {
	const [holder, end] = data.spans.slice(row.span[at] * WIDTH + 7,
		(row.span[at] + 1) * WIDTH);

	return holder < 0 ? null : { row: data.numbered[holder], end };
}

/* Format a time as "2026-11-23 18:50:15.123456789 UTC". */
function formatInstant(data, ns) {
	const time = data.base + BigInt(Math.round(ns));
	const second = 1000000000n;
	const rest = ((time % second) + second) % second;
	const date = new Date(Number((time - rest) / 1000000n));

	return date.toISOString().slice(0, 19).replace("T", " ") + "." +
		String(rest).padStart(9, "0") + " UTC";
}

/* Describe a span in a sentence. */
function describe(data, row, at) {
	const [, label, begin, end, beginBound, endBound, flags] =
		data.spans.slice(row.span[at] * WIDTH, (row.span[at] + 1) * WIDTH);
	const holder = holderOf(data, row, at);
	const bound = (ns) => ns < 0 ? "" : ` ± ${formatDuration(ns)}`;

	return `${row.host}, ${row.name}: ${data.labels[label]} for ` +
		`${formatDuration(end - begin)}, from ${formatInstant(data, begin)}` +
		`${bound(beginBound)} to ${formatInstant(data, end)}${bound(endBound)}` +
		(!holder ? "" : `; waited for ${holder.row.host}` +
			(holder.row.name === row.name ? "" : `, ${holder.row.name}`) +
			(flags & UNCERTAIN ? ", in uncertain order" : "")) +
		(flags & OPEN ? "; not ended" : "") +
		(flags & DOUBTFUL ? "; events were lost during this state" : "") + ".";
}
