#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Takes the place of kperfbot-workloads; its first argument would be the name of the test.
# Names that stand for the same script; anything else is looked for elsewhere first.
[ "$1" = --list ] && echo "page_fault1_processes malloc1_threads" && exit 0
case $FAKE_WORKLOADS_MODE in
ok) echo "testcase:$*" && echo "a remark" >&2 ;;
status) echo "before" && exit 3 ;;
signal) kill -TERM $$ ;;
forever) echo "before" && exec sleep 1000 ;;
leaves-children)
	setsid sh -c 'exec sleep 1000' &
	echo "$!" >"$FAKE_WORKLOADS_PIDS"
	echo "testcase:$*"
	;;
flood) exec head -c 17825792 /dev/zero ;;
aslr) cat /proc/self/personality ;;
kills-agent) kill -KILL $PPID ;;
kills-agent-* | stops-agent-*)
	# shellcheck disable=SC2016 # the inner shell has them expanded
	setsid sh -c 'echo $$ >"$FAKE_WORKLOADS_PIDS"; exec sleep 1000' &
	while [ ! -s "$FAKE_WORKLOADS_PIDS" ]; do sleep 0.01; done
	case $FAKE_WORKLOADS_MODE in
	kills-agent-alone) kill -KILL $PPID ;;
	kills-agent-and-guard)
		guard=$(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat)
		kill -STOP $PPID
		kill -KILL "$guard" $PPID
		;;
	stops-agent-alone) kill -STOP $PPID ;;
	stops-agent-and-guard) kill -STOP "$(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat)" $PPID ;;
	esac
	exec sleep 1000
	;;
esac
