#!/usr/bin/env bash
# Builds the documents into a site, build/site, and fails when a link leads nowhere, a document is in no part of the site, or a
# page would load something from elsewhere. README is the first page; scripts/site/config.mjs has the parts.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/npm-install.sh site
at=build/site-packages
exec 9>$at/.building
flock 9 # two test runs may ask at once

src=$at/src
rm -rf $src $at/out
mkdir -p $src/.vitepress/theme $src/public/ops
cp scripts/site/config.mjs $src/.vitepress/config.mjs
cp scripts/site/theme.mjs $src/.vitepress/theme/index.mjs
cp README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md $src/
cp -r docs $src/docs
go run ./scripts/reference $src/docs # a page for each endpoint of the two APIs
cp config.example.yaml LICENSE $src/public/ # what documents link to that is no document
cp ops/compose.yaml $src/public/ops/
mkdir -p $src/public/mermaid/chunks # as it is delivered, loaded by pages with a diagram: bundling it takes longer than all the rest
cp $at/node_modules/mermaid/dist/mermaid.esm.min.mjs $src/public/mermaid/
cp -r $at/node_modules/mermaid/dist/chunks/mermaid.esm.min $src/public/mermaid/chunks/
find $src/public/mermaid -name '*.map' -delete

code=0
for file in $(find docs -name '*.md' -not -path 'docs/adr/*'); do
	name=${file#docs/}
	name=${name%.md}
	[ "$name" = index ] || grep -q "'$name'" scripts/site/config.mjs || { echo "$file is in no part of scripts/site/config.mjs" >&2 && code=1; }
done
node $at/node_modules/vitepress/bin/vitepress.js build $src
if grep -rlE '<(script|link|img|iframe)[^>]* (src|href)="(https?:)?//' --include='*.html' $at/out; then
	echo "these pages load something from elsewhere" >&2
	code=1
fi
[ $code = 0 ] || exit $code
rm -rf build/site
mv $at/out build/site
echo "build/site: $(find build/site -name '*.html' | wc -l) pages"
