# What packaging/build and packaging/test share: the version, the folders, the processor, and the tools.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
work=$root/target/packaging
dist=$root/target/dist
# Programs and wheels can be made and tested for another processor than that of this machine.
architecture=${VIEM_ARCHITECTURE:-$(uname -m)}
target=$architecture-unknown-linux-gnu
platform=$architecture-linux
case $architecture in
  x86_64) debian_architecture=amd64 ;;
  aarch64) debian_architecture=arm64 ;;
  *) debian_architecture=$architecture ;;
esac

step() { echo "== $SECONDS s: $*" >&2; }
fail() { echo "$0: $*" >&2 && exit 1; }

as_root=$( ((EUID)) && echo sudo || true)

is_native() { [[ $architecture == "$(uname -m)" ]]; }

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

# Lets the kernel run programs for the other processor.
emulator() {
  local kernel=/proc/sys/fs/binfmt_misc
  install_missing "qemu-$architecture-static:qemu-user-static"
  [[ -e $kernel/register ]] || $as_root mount -t binfmt_misc binfmt_misc "$kernel"
  [[ -e $kernel/qemu-$architecture ]] || $as_root tee "$kernel/register" <"/usr/lib/binfmt.d/qemu-$architecture.conf" >/dev/null
}
