# What packaging/build and packaging/test share: the version, the folders, and the tools.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
work=$root/target/packaging
dist=$root/target/dist
target=$(uname -m)-unknown-linux-gnu
platform=$(uname -m)-linux

step() { echo "== $SECONDS s: $*" >&2; }
fail() { echo "$0: $*" >&2 && exit 1; }

as_root=$( ((EUID)) && echo sudo || true)

# install_missing COMMAND:PACKAGE...  installs packages of the system whose commands are missing.
install_missing() {
  local need packages=()
  for need; do
    PATH=$PATH:/usr/sbin command -v "${need%%:*}" >/dev/null || packages+=("${need##*:}")
  done
  ((${#packages[@]})) || return 0
  step "packages ${packages[*]}"
  $as_root apt-get update -q >&2
  $as_root apt-get install -qy "${packages[@]}" >&2
}

# Puts the tools of tools.txt on the path, in an environment of their own.
tools() {
  [[ -e $work/tools/bin/python ]] || python3 -m venv "$work/tools"
  cmp -s "$root/packaging/tools.txt" "$work/tools/installed" || {
    step "tools"
    "$work/tools/bin/pip" install -q -r "$root/packaging/tools.txt"
    cp "$root/packaging/tools.txt" "$work/tools/installed"
  }
  export PATH=$work/tools/bin:$PATH
}
