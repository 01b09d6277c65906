# SPDX-License-Identifier: GPL-2.0-only
# Write the completion for bash. It does not need the package bash-completion, but uses
# the host names of this package if it is installed.

function all_commands(    i, text)
{
	for (i = 1; i <= num; i++)
		text = text command[i] " "
	return text
}

END {
	print "# bash completion for netsync; made of its tables of options"
	print ""
	print "_netsync_words()"
	print "{"
	print "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")"
	print "}"
	print ""
	print "_netsync_words_or_files()"
	print "{"
	print "\tcompopt -o filenames 2> /dev/null"
	print "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\"; compgen -f -- \"$2\")"
	print "}"
	print ""
	print "# file, folder, host, program, or other: nothing is known of it."
	print "_netsync_kind()"
	print "{"
	print "\tcase $1 in"
	print "\tfile)"
	print "\t\tcompopt -o filenames 2> /dev/null"
	print "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$2\");;"
	print "\tfolder)"
	print "\t\tcompopt -o filenames 2> /dev/null"
	print "\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$2\");;"
	print "\thost)"
	print "\t\tif declare -F _known_hosts_real > /dev/null; then"
	print "\t\t\t_known_hosts_real -- \"$2\""
	print "\t\telse"
	print "\t\t\tmapfile -t COMPREPLY < <(compgen -A hostname -- \"$2\")"
	print "\t\tfi;;"
	print "\tprogram)"
	print "\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$2\");;"
	print "\tesac"
	print "}"
	print ""
	print "_netsync()"
	print "{"
	print "\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}"
	print "\tlocal command=${COMP_WORDS[1]} i"
	print ""
	print "\tCOMPREPLY=()"
	print "\t# \"=\" is a word of its own."
	print "\tif [[ $cur == = ]]; then"
	print "\t\tcur="
	print "\telif [[ $option == = ]]; then"
	print "\t\toption=${COMP_WORDS[COMP_CWORD - 2]}"
	print "\tfi"
	print "\tif ((COMP_CWORD == 1)); then"
	printf "\t\t_netsync_words \"%shelp --help --version\" \"$cur\"\n", all_commands()
	print "\t\treturn"
	print "\tfi"
	print "\tfor ((i = 2; i < COMP_CWORD; i++)); do"
	print "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then"
	print "\t\t\t# What follows a program is its own."
	print "\t\t\tif ((i == COMP_CWORD - 1)); then"
	print "\t\t\t\t_netsync_arguments \"$command\" \"$cur\""
	print "\t\t\telse"
	print "\t\t\t\t_netsync_kind file \"$cur\""
	print "\t\t\tfi"
	print "\t\t\treturn"
	print "\t\tfi"
	print "\tdone"
	print "\tcase $command:$option in"
	for (c = 1; c <= num; c++)
		for (o = first[c]; o <= last[c]; o++) {
			if (has[o] != "some")
				continue
			printf "\t%s:--%s", command[c], option[o]
			if (letter[o] != "")
				printf " | %s:-%s", command[c], letter[o]
			if (kind[o] == "words")
				printf ")\n\t\t_netsync_words \"%s\" \"$cur\"\n\t\treturn;;\n", words[o]
			else if (kind[o] == "words_or_file")
				printf ")\n\t\t_netsync_words_or_files \"%s\" \"$cur\"\n\t\treturn;;\n", words[o]
			else
				printf ")\n\t\t_netsync_kind %s \"$cur\"\n\t\treturn;;\n", kind[o]
		}
	print "\tesac"
	print "\tif [[ $cur != -* ]]; then"
	print "\t\t_netsync_arguments \"$command\" \"$cur\""
	print "\t\treturn"
	print "\tfi"
	print "\tcase $command in"
	for (c = 1; c <= num; c++) {
		printf "\t%s)\n\t\t_netsync_words \"", command[c]
		for (o = first[c]; o <= last[c]; o++)
			printf "%s--%s", o == first[c] ? "" : " ", option[o]
		print "\" \"$cur\";;"
	}
	print "\tesac"
	print "}"
	print ""
	print "_netsync_arguments()"
	print "{"
	print "\tcase $1 in"
	for (c = 1; c <= num; c++)
		printf "\t%s)\n\t\t_netsync_kind %s \"$2\";;\n", command[c], argument[c]
	printf "\thelp)\n\t\t_netsync_words \"%s\" \"$2\";;\n", all_commands()
	print "\tesac"
	print "}"
	print ""
	print "complete -F _netsync netsync"
}
