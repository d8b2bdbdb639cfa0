#!/bin/sh
# Builds ONNX from its released source archive and installs it below build/third_party; done once per version.
#
#   third_party/build_onnx.sh [PREFIX]        default: build/third_party/onnx
#
# Takes the archive from the package index that pip is set up for, and checks its hash. Needs python3-pip, protobuf's compiler
# and headers, cmake, ninja. Only memcrest's tests use it (text form of models); no operator schema is registered.
set -eu

version=1.19.1
sha256=737524d6eb3907d3499ea459c6f01c5a96278bb3a0f2ff8ae04786fb5d7f1ed5

root=$(cd "$(dirname "$0")/.." && pwd)
prefix=${1:-$root/build/third_party/onnx}
work=$root/build/third_party/work
archive=$work/onnx-$version.tar.gz
stamp=$prefix/built-$version

[ -e "$stamp" ] && exit 0

checked() { [ -f "$archive" ] && echo "$sha256  $archive" | sha256sum -c --status; }

# pip prepares the package's metadata after the download: in its own environment, or else with what is installed.
download() {
  for isolation in "" --no-build-isolation; do
    # shellcheck disable=SC2086
    python3 -m pip download -q --no-deps --no-binary onnx $isolation -d "$work" "onnx==$version" && return 0
  done
  return 1
}

mkdir -p "$work"
if ! checked; then
  rm -f "$archive"
  echo "onnx $version: downloading the source archive"
  download || { echo "error: pip could not download the source archive of onnx $version" >&2; exit 1; }
  checked || { echo "error: $archive does not have the sha256 $sha256" >&2; exit 1; }
fi

rm -rf "$work/onnx-$version" "$work/build"
tar -xzf "$archive" -C "$work"
launcher=$(command -v ccache || true)
echo "onnx $version: building (about two minutes)"
# Not optimised: only small models go through it. Never lets ONNX's build fetch anything itself.
cmake -S "$work/onnx-$version" -B "$work/build" -G Ninja -Wno-dev --log-level=WARNING \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CXX_STANDARD=17 \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DONNX_USE_PROTOBUF_SHARED_LIBS=ON \
    -DONNX_BUILD_PYTHON=OFF -DONNX_BUILD_TESTS=OFF -DONNX_DISABLE_STATIC_REGISTRATION=ON -DONNX_ML=ON \
    -DFETCHCONTENT_FULLY_DISCONNECTED=ON >"$work/cmake.log" 2>&1 ||
  { cat "$work/cmake.log" >&2; exit 1; }
cmake --build "$work/build" >"$work/build.log" 2>&1 || { tail -n 60 "$work/build.log" >&2; exit 1; }
rm -rf "$prefix"
cmake --install "$work/build" >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }
rm -rf "$work/onnx-$version" "$work/build"
: >"$stamp"
