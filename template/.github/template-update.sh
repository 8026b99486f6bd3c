#!/bin/sh
# Updates the connector in this folder from its template, and says aloud what `copier update` keeps to itself.
# Arguments go to Copier, such as --vcs-ref 1.4.0 or --data docker=false.
# Ends with 0: updated, or nothing to do. 1: updated, and a person has to look. 2: refused, nothing has changed.
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

answer() {
    sed -n "s/^$1: *//p" "$answers" | tr -d "'\""
}

copier_command() {
    if command -v copier >/dev/null; then
        copier "$@"
    else
        uvx --from "copier>=9.18,<10" copier "$@"
    fi
}

changes() {
    git status --porcelain --untracked-files=normal
}

is_version() {
    printf '%s\n' "$1" | grep -qixE \
        'v?([0-9]+!)?[0-9]+(\.[0-9]+)*([-_.]?(a|b|c|rc|alpha|beta|pre|preview|post|rev|r|dev)[-_.]?[0-9]*)*(-[0-9]+-g[0-9a-f]+)?|[0-9a-f]{7,40}'
}

refuse_version() {
    refuse "The update was refused, and nothing has changed: $1 is no version, and the next update could not start from it." \
        "Name a version, a commit, HEAD or :current: with --vcs-ref."
}

# Notes which version and which answers the arguments name.
read_arguments() {
    wanted=
    given=
    previous=
    for argument; do
        case $previous in
        --vcs-ref | -r) argument=--vcs-ref=$argument ;;
        --data | -d) argument=--data=$argument ;;
        esac
        previous=$argument
        case $argument in
        --vcs-ref=*) wanted=${argument#*=} ;;
        -r?*) wanted=${argument#-r} ;;
        --data=*) argument=${argument#*=} && given="$given ${argument%%=*}" ;;
        -d?*) argument=${argument#-d} && given="$given ${argument%%=*}" ;;
        esac
    done
}

# Nothing but what the update has made: the work tree was clean, and `git clean` would take empty folders as well.
undo() {
    git reset --quiet --hard
    # The inner shell expands what stands in single quotes.
    # shellcheck disable=SC2016
    git ls-files --others --exclude-standard -z | xargs -0 sh -c '
        for made; do
            rm -f -- "$made"
            case $made in */*) rmdir -p -- "${made%/*}" 2>/dev/null ;; esac
        done' undo
}

# The template's files that the project has deleted; an update leaves them deleted.
deleted() {
    fresh=$(mktemp -d) || return 0
    if copier_command copy --defaults --quiet --vcs-ref "$after" --data-file "$answers" "$source" "$fresh" >/dev/null 2>&1; then
        # GitHub reads workflows at the root of a repository alone: those of a folder below it have moved there.
        folder=$(answer repository_folder)
        (cd "$fresh" && find . -type f \( -path '*/canon/*' -o -path './.github/*' -o -path './.claude/rules/*' \
            -o -path ./renovate.json -o -path ./ruff.toml -o -path ./mypy.ini -o -path ./pytest.ini -o -path ./.importlinter \)) |
            sed 's|^\./||' | LC_ALL=C sort | while read -r name; do
            case ${folder:-.}/$name in
            ./*) ;;
            */.github/workflows/*) continue ;;
            esac
            [ -e "$name" ] || printf '%s\n' "$name"
        done
    fi
    rm -rf -- "$fresh"
}

main() {
    read_arguments "$@"
    case $wanted in
    "" | HEAD | :current:) ;;
    *) is_version "$wanted" || refuse_version "$wanted" ;;
    esac
    [ -n "$(git rev-parse --verify --quiet HEAD)" ] ||
        refuse "There is no commit to come back to: make this folder a git repository and commit it first."
    [ -z "$(changes)" ] ||
        refuse "There are changes that are not committed: commit or stash them first."
    [ -f "$answers" ] ||
        refuse "$answers is missing, and without it nobody knows what to merge with." \
            "Bring back the last one: git checkout \"\$(git rev-list -n 1 HEAD -- $answers)^\" -- $answers"
    before=$(answer _commit)
    source=$(answer _src_path)
    if [ -z "$before" ] || [ -z "$source" ] || grep -q '^[<=>]\{7\}' "$answers"; then
        refuse "$answers is damaged: it has no _commit, no _src_path or a conflict in it." \
            "Bring back the last good one: git log -p -- $answers"
    fi

    # Given as data, an answer that the template no longer takes stops the update; else Copier would replace it in silence.
    if ! said=$(copier_command update --defaults --quiet --data-file "$answers" "$@" 2>&1); then
        undo
        refuse "The update was refused, and nothing has changed: $(printf '%s\n' "$said" | grep -v '^[ |]*$' | tail -n 1)" \
            "The template is $source, the last version was $before."
    fi

    after=$(answer _commit)
    if ! is_version "$after"; then
        undo
        refuse_version "$after"
    fi
    for name in $given; do
        if ! sed -n 's/^\([a-z][a-z_]*\):.*/\1/p' "$answers" | grep -qxF -e "$name"; then
            undo
            refuse "The update was refused, and nothing has changed: the template does not ask for $name." \
                "The names that it asks for stand in $answers."
        fi
    done
    conflicts=$(git diff --name-only --diff-filter=U --relative)
    gone=$(git diff HEAD --name-only --diff-filter=D --relative)
    unasked=$(git show "HEAD:./$answers" | sed -n 's/^\([a-z][a-z_]*\):.*/\1/p' | while read -r name; do
        grep -q "^$name:" "$answers" || printf '%s\n' "$name"
    done)

    missing=$(deleted)

    if [ -z "$(changes)" ]; then
        echo "Nothing to do: this is $after."
    else
        echo "Updated from $before to $after."
    fi
    [ -z "$missing" ] || printf "The template's files that were deleted here, and stay so:\n%s\n" "$missing"
    [ -z "$conflicts" ] || printf 'Conflicts to resolve, marked in the files:\n%s\n' "$conflicts"
    [ -z "$gone" ] || printf 'Files that are gone, with whatever was changed in them:\n%s\n' "$gone"
    [ -z "$unasked" ] || printf 'Answers that are no longer asked for:\n%s\n' "$unasked"
    [ -z "$conflicts$gone$unasked" ]
}

# On one line, and last: an update may replace this file while the shell reads it.
main "$@"; exit
