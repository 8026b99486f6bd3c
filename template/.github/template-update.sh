#!/bin/sh
# Updates the connector in this folder from its template, and says aloud what `copier update` keeps to itself.
# Arguments go to Copier, such as --vcs-ref 1.4.0 or --data docker=false.
# Ends with 0: updated, or nothing to do. 1: updated, and a person has to look. 2: refused, nothing has changed.
set -u
answers=.copier-answers.yml

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

main() {
    [ -n "$(git rev-parse --verify --quiet HEAD)" ] ||
        refuse "There is no commit to come back to: make this folder a git repository and commit it first."
    [ -z "$(git status --porcelain)" ] ||
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
        git reset --quiet --hard
        git clean --quiet --force -d
        refuse "The update was refused, and nothing has changed: $(printf '%s\n' "$said" | grep -v '^[ |]*$' | tail -n 1)" \
            "The template is $source, the last version was $before."
    fi

    after=$(answer _commit)
    conflicts=$(git diff --name-only --diff-filter=U --relative)
    gone=$(git diff HEAD --name-only --diff-filter=D --relative)
    unasked=$(git show "HEAD:./$answers" | sed -n 's/^\([a-z][a-z_]*\):.*/\1/p' | while read -r name; do
        grep -q "^$name:" "$answers" || printf '%s\n' "$name"
    done)

    if [ -z "$(git status --porcelain)" ]; then
        echo "Nothing to do: this is $after."
        return 0
    fi
    echo "Updated from $before to $after."
    [ -z "$conflicts" ] || printf 'Conflicts to resolve, marked in the files:\n%s\n' "$conflicts"
    [ -z "$gone" ] || printf 'Files that are gone, with whatever was changed in them:\n%s\n' "$gone"
    [ -z "$unasked" ] || printf 'Answers that are no longer asked for:\n%s\n' "$unasked"
    [ -z "$conflicts$gone$unasked" ]
}

# On one line, and last: an update may replace this file while the shell reads it.
main "$@"; exit
