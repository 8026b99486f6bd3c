#!/bin/sh
# Updates many connectors from the template, two at a time, and prints one line for each.
#
#     sh scripts/roll-out.sh FOLDER...
#
# What an update has changed is committed on the branch `template-update`; nothing is pushed. JOBS says how many run at
# a time. Ends with 1 when a person has to look at one of them.
set -u
here=$(cd "$(dirname "$0")" && pwd)

line() {
    printf '%-28s %-12s %-12s %s\n' "$@"
}

version() {
    sed -n 's/^_commit: *//p' .copier-answers.yml 2>/dev/null | tr -d "'\""
}

update_one() {
    cd "$1" || exit 1
    before=$(version)
    code=0
    said=$(sh "$here/../template/.github/template-update.sh" 2>&1) || code=$?
    if [ "$code" -gt 1 ]; then
        line "$(basename "$1")" "${before:--}" - "refused: $(printf '%s\n' "$said" | head -n 1)"
        return 1
    fi
    if [ -z "$(git status --porcelain --untracked-files=normal)" ]; then
        line "$(basename "$1")" "$before" "$before" "nothing to do"
        return 0
    fi
    conflicts=$(git diff --name-only --diff-filter=U | wc -l)
    git switch --quiet --force-create template-update
    git add --all
    git commit --quiet --no-verify --message "Update from the template" --message "$said"
    if [ "$code" -eq 0 ]; then
        line "$(basename "$1")" "$before" "$(version)" updated
    else
        line "$(basename "$1")" "$before" "$(version)" "look: $((conflicts)) conflicts, $(printf '%s\n' "$said" | tail -n 1)"
    fi
    return "$code"
}

if [ "${1-}" = --one ]; then
    update_one "$2"
    exit
fi
line repository before after result
printf '%s\0' "$@" | xargs -0 -n 1 -P "${JOBS:-2}" sh "$0" --one || exit 1
