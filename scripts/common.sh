# What scripts/demo and scripts/test share. To be sourced; expects to run in the project's root.
# shellcheck shell=bash

say() { printf '== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Runs a command as root: apt-get is all that needs it.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"  # nobody is there to type a password
  fi
}

# The packages among the arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# Installs those of the named system packages that are not there yet.
install_packages() {
  local missing log
  if ! command -v dpkg-query >/dev/null; then
    say "This system has no dpkg: taking it that what scripts/packages-*.txt lists is installed"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "needs packages, and there is neither root nor sudo to install them. As root, run: apt-get install ${missing[*]}"
  fi
  say "Installing ${#missing[@]} system packages: ${missing[*]}"
  log=$(mktemp)
  if ! { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
      install --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "could not install the packages (see above). Fathom takes them from Debian 12 or Ubuntu 24.04 (with universe), or newer"
  fi
  rm -f "$log"
}

# The packages that a list names, without its comments.
packages_in() { sed 's/#.*//' "$@"; }

# Makes .venv hold exactly what scripts/requirements.txt says.
prepare_python() {
  local stamp=.venv/requirements.txt
  if cmp -s scripts/requirements.txt "$stamp" && .venv/bin/python -c '' 2>/dev/null; then
    return
  fi
  say "Preparing the private Python environment .venv"
  rm -rf .venv
  python3 -m venv .venv || die "could not make .venv; is python3-venv installed?"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt ||
    die "could not install what scripts/requirements.txt lists"
  fetch_source "$(grep '^edt==' scripts/requirements.txt)"
  cp scripts/requirements.txt "$stamp"
}

# fetch_source PACKAGE==VERSION: unpacks the source of a Python package, whose own tests are not installed with it, into
# .venv/peers. Without it those tests are skipped.
fetch_source() {
  mkdir -p .venv/peers
  if ! { .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "${1%%=*}" \
    --dest .venv/peers "$1" && tar -xzf .venv/peers/"${1/==/-}".tar.gz -C .venv/peers; }; then
    say "Could not fetch the source of $1: its own tests will be skipped"
  fi
}

# How many compilers fit: one per processor, and about 1.5 GB of memory for each.
compile_jobs() {
  local processors fit
  processors=$(nproc)
  fit=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "$fit" -ge 1 ] || fit=1
  echo $((fit < processors ? fit : processors))
}

# quietly LOG COMMAND...: runs the command, its output in LOG; the end of it is shown if the command fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    printf 'failed: %s\n(all of its output: %s)\n' "$*" "$log" >&2
    return 1
  fi
}
