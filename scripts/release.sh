#!/usr/bin/env bash
# Makes a release in build/release: release.sh VERSION
# For each architecture a static binary in a tar.gz, a Debian package and a bill of materials; one container image for both; the
# licences of what is linked; SHA256SUMS over all of it. The same commit gives the same bytes: every time is the commit's.
# GATEWAYD_RELEASE_ARCHS="amd64" makes fewer.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: release.sh VERSION, such as v0.9.0}
[[ $version =~ ^[0-9A-Za-z][0-9A-Za-z.+~-]*$ ]] || { echo "release: version $version: letters, digits and . + ~ - are wanted" >&2 && exit 2; }
commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain)" ] || commit=$commit+dirty
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C
read -ra archs <<<"${GATEWAYD_RELEASE_ARCHS:-amd64 arm64}"
out=build/release work=build/release/work
umask 022

# debian_version turns a git version into one that sorts as Debian sorts: v0.9.0-rc1 before v0.9.0 before v0.9.0-3-gabc.
debian_version() {
	local v=${1#v}
	v=$(sed -E 's/-([0-9]+)-g/+\1.g/; s/-/~/g' <<<"$v")
	[[ $v =~ ^[0-9]+\. ]] || v=0~$v
	echo "$v"
}

# packaged_config is the example with the package's folders in it.
packaged_config() {
	sed -E 's#^data: data\b#data: /var/lib/gatewayd#; s#\bdata/#/var/lib/gatewayd/#g' config.example.yaml
}

# documents copies what a reader of either package gets.
documents() { # target folder
	mkdir -p "$1"
	cp README.md CHANGELOG.md SECURITY.md NOTICE "$work/THIRD-PARTY-LICENCES" "$1"
	cp -r docs/*.md docs/operations "$1"
}

archive() { # architecture
	local name=gatewayd_${version}_linux_$1
	local dir=$work/$name
	mkdir -p "$dir"
	install -m 755 "$work/$1/gatewayd" "$dir/gatewayd"
	cp LICENSE config.example.yaml "$dir"
	documents "$dir/docs"
	mv "$dir/docs"/{README.md,CHANGELOG.md,SECURITY.md,NOTICE,THIRD-PARTY-LICENCES} "$dir"
	cp -r "$work/completions" "$work/man" packaging ops "$dir"
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -C "$work" -c "$name" |
		gzip -9n >"$out/$name.tar.gz"
}

package() { # architecture
	local root=$work/deb-$1 share=$work/deb-$1/usr/share
	mkdir -p "$root"/{DEBIAN,usr/bin,usr/lib/systemd/system,usr/lib/sysusers.d,etc/gatewayd} \
		"$share"/{doc/gatewayd,man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
	install -m 755 "$work/$1/gatewayd" "$root/usr/bin/gatewayd"
	install -m 644 packaging/*.service packaging/*.timer "$root/usr/lib/systemd/system/"
	install -m 644 packaging/sysusers.conf "$root/usr/lib/sysusers.d/gatewayd.conf"
	packaged_config >"$root/etc/gatewayd/config.yaml"
	documents "$share/doc/gatewayd"
	cp -r packaging/copyright ops "$share/doc/gatewayd/"
	cp "$work/completions/gatewayd.bash" "$share/bash-completion/completions/gatewayd"
	cp "$work/completions/gatewayd.zsh" "$share/zsh/vendor-completions/_gatewayd"
	cp "$work/completions/gatewayd.fish" "$share/fish/vendor_completions.d/gatewayd.fish"
	cp "$work"/man/*.1 "$share/man/man1/"
	gzip -9n "$share"/man/man1/*.1 "$share"/doc/gatewayd/{CHANGELOG.md,THIRD-PARTY-LICENCES}
	echo /etc/gatewayd/config.yaml >"$root/DEBIAN/conffiles"
	install -m 755 packaging/{postinst,prerm,postrm} "$root/DEBIAN/"
	sed "s/@VERSION@/$(debian_version "$version")/; s/@ARCH@/$1/; s/@SIZE@/$(du -k -s --apparent-size "$root" | cut -f1)/" packaging/control >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
	chmod -R u=rwX,go=rX "$root"
	dpkg-deb --build --root-owner-group -Zxz "$root" "$out/gatewayd_$(debian_version "$version")_$1.deb" >/dev/null
}

rm -rf $out
mkdir -p $work/completions
go build -o $work/release ./scripts/release
platforms=()
for arch in "${archs[@]}"; do
	echo "release: building linux/$arch"
	scripts/build.sh "$arch" "$version" "$commit" "$work/$arch/gatewayd"
	$work/release sbom --version "$version" "$work/$arch/gatewayd" >"$out/gatewayd_${version}_linux_$arch.cdx.json"
	scripts/image-root.sh "$work/$arch/gatewayd" "$work/root-$arch"
	platforms+=("linux/$arch=$work/root-$arch")
done
$work/release licences "$work/${archs[0]}/gatewayd" >$work/THIRD-PARTY-LICENCES
"$work/$(go env GOHOSTARCH)/gatewayd" man "$work/man"
for shell in bash zsh fish; do
	"$work/$(go env GOHOSTARCH)/gatewayd" completion $shell >"$work/completions/gatewayd.$shell"
done
for arch in "${archs[@]}"; do
	cp $work/THIRD-PARTY-LICENCES "$work/root-$arch/usr/share/doc/gatewayd/"
	archive "$arch"
	package "$arch"
done
$work/release image --version "$version" --commit "$commit" --created "$SOURCE_DATE_EPOCH" "$out/gatewayd_${version}_image.tar" "${platforms[@]}"
rm -rf $work
(cd $out && sha256sum -- * >SHA256SUMS)
ls -l $out
