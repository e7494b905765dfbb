# What `commit.rs` calls to carry out a plan. Words of each step are named before it.
umask=$(umask); new_mode=$(printf '%o' $((0666 & ~0$umask)))
if printf 'eA==' | base64 -d >/dev/null 2>&1; then decode=-d; else decode=-D; fi
if command -v sha256sum >/dev/null 2>&1; then digest=sha256sum
elif command -v shasum >/dev/null 2>&1; then digest='shasum -a 256'
else digest=; fi
sum() { x=$($digest) && printf %s "${x%% *}"; }
temp() { mktemp -- "${1%/}/.hermes-XXXXXX" 2>&1; }
aside_temp() { mktemp -- "${TMPDIR:-/tmp}/hermes-XXXXXX" 2>&1; }
there() { [ -e "$1" ] || [ -h "$1" ]; }
closed() { case $1 in *'Permission denied'*|*'Read-only file system'*) return 0 ;; esac; return 1; }

# What was done, to be taken back from the last to the first: kind, path and another path.
steps=0
did() { steps=$((steps + 1)); eval "kind$steps=\$1 path$steps=\$2 other$steps=\${3-}"; }
left() { tell left "$1"; tell message "$2"; }
undo() {
  while [ $steps -gt 0 ]; do
    eval "kind=\$kind$steps path=\$path$steps other=\$other$steps"
    steps=$((steps - 1))
    case $kind in
      folder) rmdir -- "$path" 2>/dev/null ;;
      file) e=$(rm -f -- "$path" 2>&1) || left "$path" "$e" ;;
      moved)
        if there "$path"; then left "$other" 'something else is in its place'
        else e=$(mv -f -- "$other" "$path" 2>&1) || left "$other" "$e"; fi ;;
      replaced) e=$(mv -f -- "$other" "$path" 2>&1) || left "$path" "$e" ;;
      overwritten) { cat < "$other" > "$path"; } 2>/dev/null || left "$path" 'it was overwritten' ;;
    esac
  done
}

# Files that go in the end, and those that go when all went well.
temps=0; backups=0
toss() { temps=$((temps + 1)); eval "temp$temps=\$1"; }
keep() { backups=$((backups + 1)); eval "backup$backups=\$1"; }
clean() {
  while [ $temps -gt 0 ]; do eval "x=\$temp$temps"; rm -f -- "$x"; temps=$((temps - 1)); done
}
clean_backups() {
  while [ $backups -gt 0 ]; do eval "x=\$backup$backups"; rm -f -- "$x"; backups=$((backups - 1)); done
}
# kind, path, message
fail() {
  trap '' HUP INT TERM
  tell "fail $1" "$2"; tell message "${3-}"
  undo; clean; say end; exit 0
}
trap 'trap "" HUP INT TERM; undo; clean; exit 1' HUP INT TERM

# Folders, from above: the first is where all of them are.
made=no
folders() {
  for path do
    [ -d "$path" ] && continue
    plain "${path%/*}" || fail 'io create' "$path" "$swapped"
    if e=$(mkdir -- "$path" 2>&1); then did folder "$path"; made=yes
    else [ -d "$path" ] || fail 'io create' "$path" "$e"; fi
  done
}

# All contents, as they are joined in stdin.
receive() {
  joined=$(aside_temp) || joined=$(temp "$1") || fail 'io write' "$1" "$joined"
  toss "$joined"
  e=$({ base64 $decode > "$joined"; } 2>&1) || fail 'io write' "$1" "$e"
}

# number, path, offset or none if stdin is its content, length, whether there is an old file, and
# mode, owner and group if they are known. A file with several names is written over.
stage() {
  new=; way=beside
  plain "${2%/*}" || fail 'io write' "$2" "$swapped"
  if [ "$5" = linked ]; then way=linked; new=$(aside_temp) || fail 'io write' "$2" "$new"
  else
    new=$(temp "${2%/*}") || {
      if [ "$5" = old ] && closed "$new"; then way=folder; new=$(aside_temp) || fail 'io write' "$2" "$new"
      else fail 'io write' "$2" "$new"; fi
    }
  fi
  toss "$new"
  if [ -n "$3" ]; then e=$({ tail -c +$(($3 + 1)) -- "$joined" | head -c "$4" > "$new"; } 2>&1)
  else e=$({ base64 $decode > "$new"; } 2>&1); fi
  [ "$(($(wc -c < "$new")))" = "$4" ] || fail 'io write' "$2" "${e:-the content was cut off on the way}"
  if [ $way = beside ]; then
    if [ -n "${6-}" ]; then
      own=$(stat -c '%u %g' -- "$new" 2>/dev/null || stat -f '%u %g' -- "$new" 2>/dev/null)
      if [ "${own% *}" != "$7" ]; then
        chown -- "$7:$8" "$new" 2>/dev/null || {
          [ "$5" = old ] || fail owner "$2"
          way=owner
        }
      elif [ "${own#* }" != "$8" ]; then chgrp -- "$8" "$new" 2>/dev/null; fi
      e=$(chmod -- "$6" "$new" 2>&1) || fail 'io write' "$2" "$e"
    else e=$(chmod -- "$new_mode" "$new" 2>&1) || fail 'io write' "$2" "$e"; fi
  fi
  eval "new$1=\$new way$1=\$way"
}

# path, what `stat` told, digest of the content if it is known
unchanged() {
  s=$(st "$1") && [ "${s%%|*}" = "$2" ] || fail changed "$1"
  if [ -n "$3" ] && [ -n "$digest" ] && [ -r "$1" ]; then
    [ "$(sum < "$1")" = "$3" ] || fail changed "$1"
  fi
}

# path
remove() {
  plain "${1%/*}" || fail 'io remove' "$1" "$swapped"
  place=$(temp "${1%/*}") || fail 'io remove' "$1" "$place"
  e=$(mv -f -- "$1" "$place" 2>&1) || { rm -f -- "$place"; fail 'io remove' "$1" "$e"; }
  did moved "$1" "$place"; keep "$place"
}

# from, to
move() {
  plain "${1%/*}" || fail 'io move' "$1" "$swapped"
  plain "${2%/*}" || fail 'io move' "$2" "$swapped"
  there "$2" && fail exists "$2"
  e=$(mv -f -- "$1" "$2" 2>&1) || fail 'io move' "$1" "$e"
  did moved "$1" "$2"
}

# from: moves it to a name of its own, which is in `place` then
step_aside() {
  place=$(temp "${1%/*}") || fail 'io move' "$1" "$place"
  rm -f -- "$place"
  move "$1" "$place"
}

# number, path, whether there is an old file, whether other steps follow that may fail
put() {
  eval "new=\$new$1 way=\$way$1"
  plain "${2%/*}" || fail 'io write' "$2" "$swapped"
  [ -h "$2" ] && fail 'io write' "$2" "$swapped"
  [ -d "$2" ] && fail changed "$2"
  if [ $way = beside ] && [ "$3" = none ]; then
    there "$2" && fail changed "$2"
    # A link is never made over something else.
    if ln -- "$new" "$2" 2>/dev/null; then rm -f -- "$new"
    else
      there "$2" && fail changed "$2"
      e=$(mv -f -- "$new" "$2" 2>&1) || fail 'io write' "$2" "$e"
    fi
    did file "$2"
  elif [ $way = beside ]; then
    if [ "$4" = more ]; then
      old=$(temp "${2%/*}") || fail 'io write' "$2" "$old"
      { rm -f -- "$old" && ln -- "$2" "$old"; } 2>/dev/null || e=$(cp -p -- "$2" "$old" 2>&1) || fail 'io write' "$2" "$e"
      keep "$old"
    fi
    if e=$(mv -f -- "$new" "$2" 2>&1); then [ "$4" = more ] && did replaced "$2" "$old"
    elif closed "$e"; then way=folder
    else fail 'io write' "$2" "$e"; fi
  fi
  case $way in linked|folder|owner)
    old=$(aside_temp) || fail 'io write' "$2" "$old"
    keep "$old"
    e=$({ cat < "$2" > "$old"; } 2>&1) || fail 'io write' "$2" "$e"
    did overwritten "$2" "$old"
    e=$({ cat < "$new" > "$2"; } 2>&1) || fail 'io write' "$2" "$e" ;;
  esac
  case $way in folder|owner) say "warning $way" ;; esac
}

# path, digest: what it holds now
verify() {
  [ -n "$digest" ] && [ -r "$1" ] || return
  [ "$(sum < "$1")" = "$2" ] && return
  # What is there now is somebody else's, and not to be undone.
  eval "path=\${path$steps-}"
  [ "$path" = "$1" ] && steps=$((steps - 1))
  fail overtaken "$1"
}

finish() { trap '' HUP INT TERM; clean; clean_backups; say "done $made"; }
