/* SPDX-License-Identifier: GPL-2.0-only */
/* Format numbers as text. Durations are in ns. */
"use strict";

const UNITS = [
	{ name: "s", ns: 1e9 },
	{ name: "ms", ns: 1e6 },
	{ name: "µs", ns: 1e3 },
	{ name: "ns", ns: 1 },
];
const MINUS = "\u2212";

/*
 * Choose the unit of a value. A value that would be rounded up to a unit is displayed in
 * that unit.
 */
function unitOf(ns) {
	const size = Math.abs(ns) * 1.00005;

	return UNITS.find((unit) => size >= unit.ns) || UNITS[UNITS.length - 1];
}

function fixed(number, digits) {
	const text = Math.abs(number).toFixed(digits);

	return (number < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

/* Format a duration with four significant digits; null means unknown. */
function formatDuration(ns) {
	if (ns === null || ns === undefined)
		return "unknown";
	const unit = unitOf(ns);
	const value = ns / unit.ns;
	const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value) * 1.00005 || 1)) + 1);

	return fixed(value, unit.ns === 1 ? 0 : Math.max(0, 4 - whole)) + " " + unit.name;
}

/* Add a plus sign to a positive value. A value that is rounded to 0 has no sign. */
function withSign(ns, text) {
	return ns > 0 && /[1-9]/.test(text) ? "+" + text : text;
}

function formatCount(number) {
	return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/* Format a size in bytes in units of 1000, with three significant digits. */
function formatBytes(bytes) {
	const units = ["kB", "MB", "GB", "TB", "PB"];
	let size = bytes / 1000, unit = 0;

	if (bytes < 1000)
		return plural(bytes, "byte");
	for (; size >= 999.5 && unit + 1 < units.length; unit++)
		size /= 1000;
	return fixed(size, size < 9.995 ? 2 : size < 99.95 ? 1 : 0) + " " + units[unit];
}

/*
 * Format a skew with two digits of its uncertainty, @within, which is null if unknown,
 * and undefined if not displayed.
 */
function formatPpm(ppm, within) {
	if (within === undefined)
		return withSign(ppm, fixed(ppm, 3)) + " ppm";
	if (within === null)
		return withSign(ppm, fixed(ppm, 0)) + " ppm ± unknown";
	const digits = within > 0 ?
		Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(within)))) : 3;
	return withSign(ppm, fixed(ppm, digits)) + " ± " + fixed(within, digits) + " ppm";
}

/* Format seconds on the time axis, with the resolution of a step. */
function formatSeconds(seconds, step) {
	const digits = step ? Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) : 9;

	return fixed(seconds, Math.min(digits, 9));
}

function plural(number, one, many) {
	return formatCount(number) + " " + (number === 1 ? one : many || one + "s");
}

/* Format a BigInt of ns as seconds with all digits. */
function formatBig(ns) {
	const size = ns < 0n ? -ns : ns;

	return (ns < 0n ? MINUS : "") + size / 1000000000n + "." +
		String(size % 1000000000n).padStart(9, "0");
}

/* Format an instant, which is displayed as a date if it is after 1990. */
function formatInstant(ns) {
	const date = new Date(Number(ns / 1000000n));

	if (ns < 631152000000000000n || isNaN(date))
		return formatBig(ns) + " s";
	return date.toISOString().slice(0, 19).replace("T", " ") + "." +
		String(ns % 1000000000n).padStart(9, "0") + " UTC";
}

/* ---- axes -------------------------------------------------------------- */

function niceStep(range, number) {
	const rough = range / Math.max(number, 1);
	const power = Math.pow(10, Math.floor(Math.log10(rough)));

	return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.75);
}

function linearTicks(min, max, number, label) {
	const step = niceStep(max - min, number);
	const ticks = [];

	if (!(step > 0) || !isFinite(step))
		return ticks;
	for (let i = Math.ceil(min / step); i * step <= max && ticks.length < 50; i++)
		ticks.push({ v: i * step, label: label(i * step, step) });
	return ticks;
}

function logTicks(min, max, number, label) {
	const decades = Math.log10(max / min);
	const factors = decades > number ? [1] : decades > 2 ? [1, 3] : [1, 2, 5];
	const every = Math.max(1, Math.ceil(decades / number));
	const ticks = [];

	for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power += every)
		for (const factor of factors) {
			const v = factor * Math.pow(10, power);

			if (v >= min && v <= max)
				ticks.push({ v, label: label(v, v) });
		}
	return ticks;
}

/*
 * Return ticks for durations. All are in the unit that suits the largest one, with the
 * resolution of the step.
 */
function durationTicks(min, max, number, log) {
	if (log && min > 0)
		return logTicks(min, max, number, (ns) => {
			const unit = unitOf(ns);

			return fixed(ns / unit.ns, ns < unit.ns ? 1 : 0) + " " + unit.name;
		});
	const unit = unitOf(Math.max(Math.abs(min), Math.abs(max)));

	return linearTicks(min, max, number, (ns, step) =>
		fixed(ns / unit.ns, Math.max(0, Math.ceil(-Math.log10(step / unit.ns) - 1e-9))) +
		" " + unit.name);
}

function ppmTicks(min, max, number) {
	return linearTicks(min, max, number, (ppm, step) =>
		fixed(ppm, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) + " ppm");
}

/* Usual time steps in s, other than powers of ten. */
const LONG_STEPS = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

function formatMinutes(seconds) {
	const minutes = Math.round(Math.abs(seconds) / 60);
	const hours = Math.floor(minutes / 60), rest = minutes % 60;

	return (seconds < 0 && minutes ? MINUS : "") + (hours ? hours + " h" : "") +
		(hours && rest ? " " : "") + (rest || !hours ? rest + " min" : "");
}

/* Format a duration. Above two minutes, use days, hours, minutes and seconds. */
function formatLength(seconds) {
	const whole = Math.round(seconds);
	const parts = [[Math.floor(whole / 86400), "d"], [Math.floor(whole / 3600) % 24, "h"],
		[Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];

	return seconds < 120 ? formatDuration(seconds * 1e9) :
		parts.filter(([number]) => number).map(([number, unit]) => number + " " + unit).join(" ");
}

function timeTicks(min, max, number) {
	const step = LONG_STEPS.find((s) => (max - min) / s <= number);

	if (max - min > 600 && step)
		return Array.from({ length: Math.floor(max / step) - Math.ceil(min / step) + 1 },
			(_, i) => (Math.ceil(min / step) + i) * step)
			.map((v) => ({ v, label: formatMinutes(v) }));
	return linearTicks(min, max, number, (s, step) => formatSeconds(s, step) + " s");
}
