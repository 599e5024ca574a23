# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion of kperfbot: commands, sub-commands and options come from kperfbot --help.
_kperfbot()
{
	local help cur=${COMP_WORDS[COMP_CWORD]} cmd='' i words
	help=$("${COMP_WORDS[0]}" --help 2>/dev/null) || return 0
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-C | --config) ((++i)) ;;
		-*) ;;
		*)
			cmd=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	if [[ -z $cmd ]]; then
		words=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' <<<"$help")' --config --json --color --quiet --verbose --help --version'
	else
		words=$(sed -n "s/^ *kperfbot $cmd //p" <<<"$help" | grep -oE -e '--[a-z-]+')
		((i + 1 != COMP_CWORD)) || words+=" $(sed -n "s/^ *kperfbot $cmd \([a-z|]*\).*/\1/p" <<<"$help" | tr '|' ' ')"
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _kperfbot kperfbot
