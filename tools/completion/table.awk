# SPDX-License-Identifier: GPL-2.0-only
# Read the input of generate into variables for the other files, one of which exists for
# each shell. There are num commands, each with its name, summary, arguments, and options
# from first to last. Each option has its name, its letter, whether it has a value, the
# value's name, and its text in --help.

# Return the kind of a value or an argument that has this name.
function kind_of(called, words)
{
	if (words ~ / \.\.\.$/)
		return "words_or_file"
	if (words != "")
		return "words"
	if (called ~ /^(DEFINITION|FILE|PATH|TRACE\.\.\.|URL\.\.\.)$/)
		return "file"
	if (called ~ /^(DIR|FOLDER)$/)
		return "folder"
	return called == "HOST" ? "host" : called ~ /^COMMAND/ ? "program" : "other"
}

$1 == "command" {
	command[++num] = $2
	summary[num] = $3
	first[num] = options + 1
	# Use the last word of "Usage: netsync apply -m FILE -o FOLDER TRACE...", or the
	# HOST of "HOST TIME...".
	count = split($4, said, /[][ ]+/)
	while (count > 1 && said[count] == "")
		count--
	called = said[count] == "TIME..." ? said[count - 1] : said[count]
	argument[num] = $4 ~ / > FILE$/ ? "other" : kind_of(called, "")
}

$1 == "option" {
	option[++options] = $2
	letter[options] = $3
	has[options] = $4
	value[options] = $5
	words[options] = $6
	kind[options] = kind_of($5, $6)
	sub(/ \.\.\.$/, "", words[options])
	help[options] = $7
	last[num] = options
}
