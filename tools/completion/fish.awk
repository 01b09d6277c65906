# SPDX-License-Identifier: GPL-2.0-only
# Write the completion for fish.

function quoted(text)
{
	gsub(/[\\']/, "\\\\&", text)
	return "'" text "'"
}

function action(kind, words)
{
	if (kind == "file")
		return " -r -F"
	if (kind == "words_or_file")
		return " -r -F -a " quoted(words)
	if (kind == "folder")
		return " -x -a '(__fish_complete_directories)'"
	if (kind == "host")
		return " -x -a '(__fish_print_hostnames)'"
	return kind == "words" ? " -x -a " quoted(words) : " -x"
}

END {
	print "# fish completion for netsync; made of its tables of options"
	print "complete -c netsync -f"
	print "complete -c netsync -n __fish_use_subcommand -s h -l help -d 'what it can do'"
	print "complete -c netsync -n __fish_use_subcommand -s V -l version -d 'its version'"
	print "complete -c netsync -n __fish_use_subcommand -a help -d 'open a manual page'"
	for (c = 1; c <= num; c++) {
		printf "complete -c netsync -n __fish_use_subcommand -a %s -d %s\n", command[c],
			quoted(summary[c])
		printf "complete -c netsync -n '__fish_seen_subcommand_from help' -a %s\n", command[c]
		is = "complete -c netsync -n '__fish_seen_subcommand_from " command[c] "'"
		for (o = first[c]; o <= last[c]; o++)
			printf "%s -l %s%s%s -d %s\n", is, option[o], letter[o] == "" ? "" : " -s " letter[o],
				has[o] == "some" ? action(kind[o], words[o]) : "", quoted(help[o])
		if (argument[c] == "file")
			print is " -F"
		else if (argument[c] == "host")
			print is " -a '(__fish_print_hostnames)'"
		else if (argument[c] == "program")
			print is " -a '(__fish_complete_command)'"
	}
}
