#!/bin/sh
# Makes the tags that versions.yml lists: here, and on a remote when one is named.
set -eu
cd "$(dirname "$0")/.."

sed -n 's/^\([0-9][^: ]*\): *\([0-9a-f]\{40\}\)$/\1 \2/p' versions.yml | while read -r version commit; do
    if ! git merge-base --is-ancestor "$commit" HEAD; then
        echo "$version stands for $commit, which is no part of this history: fetch all of it first." >&2
        exit 1
    fi
    there=$(git rev-parse --quiet --verify "refs/tags/$version^{commit}" || echo "$commit")
    if [ "$there" != "$commit" ]; then
        echo "The tag $version stands for $there already: a published version never moves." >&2
        exit 1
    fi
    git tag --force "$version" "$commit" >/dev/null
    if [ $# -gt 0 ]; then
        git push --quiet "$1" "refs/tags/$version"
    fi
done
