#!/usr/bin/env bash
# House rules that no linter knows, one line each: a name, what to do instead, the pattern
# (extended regular expression), and the files to search. The rules for imports and sizes are
# tests: pkg/deps_test.go and pkg/size_test.go.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
complain() {
	echo "house rule: $1" >&2
	sed 's/^/  /' >&2
	failed=1
}

# rule MESSAGE PATTERN PATHSPEC…
rule() {
	local found
	found=$(git grep --untracked -nE -e "$2" -- "${@:3}" ':!hack/check-rules.sh' || true)
	if [[ -n $found ]]; then complain "$1" <<<"$found"; fi
}

go=('pkg/*.go' 'plugins/*.go' ':!*_test.go') # what ships

rule "finish it, or open an issue; the code says what is" '\b(TODO|FIXME|XXX)\b' '*.go' '*.py' '*.sh' Makefile
rule "a test waits for an event, never for a time" 'time\.Sleep\(' '*_test.go'
rule "take the context from the caller" 'context\.(TODO|Background)\(\)' "${go[@]}" ':!pkg/cmd/cli/main.go' ':!pkg/cmd/frontdoor/output.go' ':!hack/bench/main.go' # these handle signals
rule "write to the streams you were given" '\bfmt\.Print(f|ln)?\(|\bprintln\(' "${go[@]}"
rule "return an error; only main ends the process" '\bos\.Exit\(|\blog\.Fatal' "${go[@]}" ':!plugins' ':!pkg/cmd/cli/main.go' ':!hack/bench/main.go'
rule "wrap with %w, so that errors.Is sees the cause" 'fmt\.Errorf\(.*%v.*[, ]err\)' "${go[@]}"
rule "import the parts of cli-runtime that leave text/template out" 'genericclioptions\.NewPrintFlags\(|ActsAsRootCommand' "${go[@]}"

folders=$(git ls-files --cached --others --exclude-standard | grep -E '(^|/)(utils?|common|helpers?|misc)/' || true)
if [[ -n $folders ]]; then complain "a folder is named after one noun" <<<"$folders"; fi

mains=$(git ls-files --cached --others --exclude-standard 'plugins/*.go' | grep -vE '/main(_test)?\.go$' || true)
if [[ -n $mains ]]; then complain "a plugin is only a main.go; its code is in pkg/cmd" <<<"$mains"; fi

unpinned=$(git grep --untracked -nE '\buses: ' -- .github/workflows | grep -vE 'uses: (\./|[^@ ]+@[0-9a-f]{40} # v[0-9.]+$)' || true)
if [[ -n $unpinned ]]; then complain "pin an action to a commit, and say its version" <<<"$unpinned"; fi

loose=$(for workflow in .github/workflows/*; do
	jobs=$(grep -c '^    runs-on:' "$workflow")
	grep -q '^permissions: {}$' "$workflow" || echo "$workflow: the jobs' permissions"
	(($(grep -c '^    permissions:' "$workflow") >= jobs)) || echo "$workflow: permissions of a job"
	(($(grep -c '^    timeout-minutes:' "$workflow") == jobs)) || echo "$workflow: timeout-minutes of a job"
	grep -q '^concurrency:' "$workflow" || echo "$workflow: concurrency"
done)
if [[ -n $loose ]]; then complain "a workflow has no permissions, each of its jobs says which it needs and how long it may take" <<<"$loose"; fi

unwatched=$(git ls-files --cached --others --exclude-standard '*go.mod' | while read -r mod; do
	folder=/$(dirname "$mod")
	grep -qxF "      - ${folder%.}" .github/dependabot.yml || echo "$mod"
done)
if [[ -n $unwatched ]]; then complain "list the folder in .github/dependabot.yml" <<<"$unwatched"; fi

exit "$failed"
