#!/bin/sh
# Merges the canon into the repository of a server that is there: steps 1 and 2 of an adoption, on the branch checked out.
# Arguments: the template, a YAML file of answers, and what else `copier update` takes, such as --data server_object=….
# Ends with 0: merged. 1: merged, and conflicts are marked for a person. 2: refused, and nothing has changed.
set -u
answers=.copier-answers.yml

# Git and Copier have to see every file that is not committed, whatever the settings of the person hide.
number=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$number=status.showUntrackedFiles" "GIT_CONFIG_VALUE_$number=normal"
export GIT_CONFIG_COUNT=$((number + 1))

refuse() {
    printf '%s\n' "$@" >&2
    exit 2
}

copier_command() {
    if command -v copier >/dev/null; then
        copier "$@"
    else
        uvx --from "copier>=9.18,<10" copier "$@"
    fi
}

# Nothing but what the adoption has made: the work tree was clean, and `git clean` would take empty folders as well.
undo() {
    git reset --quiet --hard "$before"
    # The inner shell expands what stands in single quotes.
    # shellcheck disable=SC2016
    git ls-files --others --exclude-standard -z | xargs -0 sh -c '
        for made; do
            rm -f -- "$made"
            case $made in */*) rmdir -p -- "${made%/*}" 2>/dev/null ;; esac
        done' undo
    refuse "The adoption was refused, and nothing has changed: $(printf '%s\n' "$1" | grep -v '^[ |]*$' | tail -n 1)"
}

[ $# -ge 2 ] || refuse "Name the template and a file of answers: adopt.sh TEMPLATE ANSWERS.yml"
template=$1
given=$2
shift 2
[ -f "$given" ] || refuse "There is no file of answers at $given: it names server_object, as docs/retrofit.md says."
before=$(git rev-parse --verify --quiet HEAD) ||
    refuse "There is no commit to come back to: make this folder a git repository and commit it first."
[ -z "$(git status --porcelain --untracked-files=normal)" ] ||
    refuse "There are changes that are not committed: commit or stash them first."
[ ! -f "$answers" ] || refuse "$answers is here already: a template is updated with .github/template-update.sh."
# A path that is not absolute leads nowhere from the place that an update works in.
[ ! -d "$template" ] || template=$(cd "$template" && pwd)

said=$(copier_command copy --defaults --quiet --data mode=baseline "$template" . 2>&1) || undo "$said"
git add "$answers"
git commit --quiet --message "Record the empty baseline of the canon" || undo "git could not commit."
said=$(copier_command update --defaults --vcs-ref=:current: --data-file "$given" --data mode=retrofit "$@" 2>&1) ||
    undo "$said"
previous=
for argument; do
    case $previous in --data | -d) argument=--data=$argument ;; esac
    previous=$argument
    case $argument in
    --data=*) name=${argument#*=} ;;
    -d?*) name=${argument#-d} ;;
    *) continue ;;
    esac
    sed -n 's/^\([a-z][a-z_]*\):.*/\1/p' "$answers" | grep -qxF -e "${name%%=*}" ||
        undo "the template does not ask for ${name%%=*}; the names that it asks for stand in docs/retrofit.md."
done
printf '%s\n' "$said" | sed -n '/^The canon is in /,$p'
conflicts=$(git diff --name-only --diff-filter=U --relative)
[ -z "$conflicts" ] || printf 'Conflicts to resolve, marked in the files:\n%s\n' "$conflicts"
[ -z "$conflicts" ]
