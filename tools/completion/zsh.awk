# SPDX-License-Identifier: GPL-2.0-only
# Write the completion for zsh, which uses the functions _arguments and _describe.

# Quote a text that is in single quotes, and within [...] or before a colon.
function quoted(text)
{
	gsub(/[]\\:[]/, "\\\\&", text)
	gsub(/'/, "'\\''", text)
	return text
}

function action(kind, words)
{
	if (kind == "words")
		return "(" words ")"
	if (kind == "words_or_file")
		return "{compadd -- " words "; _files}"
	if (kind == "file")
		return "_files"
	if (kind == "folder")
		return "_files -/"
	return kind == "host" ? "_hosts" : kind == "program" ? "_normal" : " "
}

END {
	print "#compdef netsync"
	print "# made of the tables of options of netsync"
	print ""
	print "_netsync_commands() {"
	print "\tlocal -a commands=("
	for (c = 1; c <= num; c++)
		printf "\t\t'%s:%s'\n", command[c], quoted(summary[c])
	print "\t\t'help:open a manual page'"
	print "\t)"
	print "\t_describe command commands"
	print "}"
	print ""
	print "_netsync() {"
	print "\tlocal curcontext=$curcontext"
	print ""
	print "\tif ((CURRENT == 2)); then"
	print "\t\t_arguments '(- *)'{-h,--help}'[what it can do]' \\"
	print "\t\t\t'(- *)'{-V,--version}'[its version]' '1:command:_netsync_commands'"
	print "\t\treturn"
	print "\tfi"
	print "\tshift words"
	print "\t((CURRENT--))"
	print "\tcase $words[1] in"
	for (c = 1; c <= num; c++) {
		printf "\t%s)\n\t\t_arguments -s -S", command[c]
		for (o = first[c]; o <= last[c]; o++) {
			end = "[" quoted(help[o]) "]"
			if (has[o] == "some")
				end = end ":" quoted(value[o]) ":" action(kind[o], words[o])
			else if (has[o] == "maybe")
				end = end "::" quoted(value[o]) ": "
			name = "--" option[o] (has[o] == "none" ? "" : has[o] == "some" ? "=" : "=-")
			printf " \\\n\t\t\t'*%s%s'", name, end
			if (letter[o] != "")
				printf " \\\n\t\t\t'*-%s%s%s'", letter[o], has[o] == "none" ? "" : "+", end
		}
		if (argument[c] == "program")
			printf " \\\n\t\t\t'*::program:_normal'"
		else if (argument[c] == "host")
			printf " \\\n\t\t\t'1:host:_hosts' '*: : '"
		else if (argument[c] != "other")
			printf " \\\n\t\t\t'*:%s:%s'", argument[c], action(argument[c], "")
		print ";;"
	}
	print "\thelp)"
	print "\t\t_netsync_commands;;"
	print "\tesac"
	print "}"
	print ""
	print "_netsync \"$@\""
}
