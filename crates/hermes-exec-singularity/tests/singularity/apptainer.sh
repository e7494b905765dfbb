#!/usr/bin/env bash
# Stands in for apptainer: an instance is a process in namespaces of its own below a copy of the
# image's folder, and `exec` joins it. Every call is noted in state/calls.
set -eu
here=$(dirname "$0")/..
state="$here/state"
printf '%q ' "$@" >>"$state/calls"
echo >>"$state/calls"
fail() {
  echo "FATAL: $1" >&2
  exit 255
}
case "$1" in
  version | --version) echo 1.3.0-shim ;;
  build)
    case "$3" in *broken*) fail "no such image" ;; esac
    cp -a "$here/image" "$2"
    ;;
  instance)
    case "$2" in
      start)
        overlay= binds=()
        shift 2
        while [ $# -gt 2 ]; do
          case "$1" in
            --overlay) overlay="$2"; shift ;;
            --bind) binds+=("$2"); shift ;;
            --memory | --cpus) shift ;;
            --containall | --no-home | --writable-tmpfs) ;;
            *) fail "unknown option $1" ;;
          esac
          shift
        done
        image="$1" name="$2"
        [ -d "$image" ] || fail "could not open image $image"
        dir="$state/$name"
        mkdir "$dir"
        root="${overlay:-$dir}/root"
        [ -d "$root" ] || cp -a "$image" "$root"
        rm -rf "$root/tmp" && mkdir -p "$root/tmp"
        for bind in "${binds[@]}"; do
          host="${bind%%:*}" rest="${bind#*:}"
          target="$root/${rest%%:*}"
          mkdir -p "$(dirname "$target")"
          cp -a "$host" "$target"
        done
        echo "$root" >"$dir/path"
        unshare --pid --mount --fork bash -c 'mount -t proc proc "$1/proc" && exec chroot "$1" sleep 100000' \
          init "$root" </dev/null >/dev/null 2>&1 &
        outer=$!
        for _ in $(seq 100); do
          pid="$(cat "/proc/$outer/task/$outer/children" 2>/dev/null)"
          # Only when the processes of the instance can be seen in it.
          [ -z "$pid" ] || [ ! -e "/proc/$pid/root/proc/1" ] || [ "$(readlink "/proc/$pid/root")" != "$root" ] || break
          sleep 0.05
        done
        echo ${pid% } >"$dir/pid"
        ;;
      stop)
        [ -f "$state/$3/pid" ] || fail "no instance found"
        kill -KILL "$(cat "$state/$3/pid")" 2>/dev/null || true
        rm -rf "${state:?}/$3"
        ;;
      list)
        if [ -f "$state/$4/pid" ] && kill -0 "$(cat "$state/$4/pid")" 2>/dev/null; then
          echo "{\"instances\":[{\"instance\":\"$4\",\"pid\":1,\"img\":\"x\"}]}"
        else
          echo '{"instances":[]}'
        fi
        ;;
    esac
    ;;
  exec)
    [ "$2" = --cleanenv ] || fail "the environment would come along"
    name="${3#instance://}"
    shift 3
    [ -f "$state/$name/pid" ] || fail "no instance found with name $name"
    pid="$(cat "$state/$name/pid")"
    vars=(PATH=/usr/bin:/bin HOME=/root)
    while IFS= read -r -d '' var; do
      case "$var" in APPTAINERENV_*) vars+=("${var#APPTAINERENV_}") ;; esac
    done </proc/self/environ
    exec nsenter --target "$pid" --pid --mount -- chroot "$(cat "$state/$name/path")" \
      /bin/env -i "${vars[@]}" "$@"
    ;;
  *) fail "unknown command $1" ;;
esac
