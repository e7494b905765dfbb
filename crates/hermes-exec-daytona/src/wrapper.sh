# Runs a command so that everything it does can be told by lines of text, and taken from such.
#   $1  a folder to be made      $2  1 if stderr has a stream of its own
#   $3  what the command reads: null, open, or the path of a file      then the command
# It writes lines: o and e with what the command wrote, in base64 (O and E: in hexadecimal), x with
# its exit code, z when nobody can write any more. It reads lines: the number of the line from 0 on,
# a colon and bytes for printf's %b; or a number and a dot for the end.
d=$1 apart=$2 input=$3
shift 3
umask 077
exec 8>&1 6<&0
mkdir "$d" && mkfifo "$d/o" "$d/e" "$d/i" "$d/l" || { printf 'x126\nz\n'; exit 1; }
# Lines are whole: who writes one holds the word in this pipe.
exec 9<>"$d/l"
echo >&9
say() {
  read -r _ <&9
  printf '%s\n' "$1" >&8
  echo >&9
}
# Each read of dd takes what is there, so that nothing waits for more.
if command -v base64 >/dev/null 2>&1; then
  out=o err=e
  digits() { base64 <"$1" | tr -d '\n'; }
else
  out=O err=E
  digits() { od -An -v -tx1 <"$1" | tr -d ' \n'; }
fi
tell() {
  while :; do
    dd bs=16384 count=1 2>/dev/null >"$d/$1.piece"
    [ -s "$d/$1.piece" ] || return
    say "$1$(digits "$d/$1.piece")"
  done
}
tell $out <"$d/o" &
telling=$!
if [ "$apart" = 1 ]; then
  tell $err <"$d/e" &
  telling="$telling $!"
fi
take() {
  trap '' PIPE
  n=0
  while IFS= read -r line; do
    case $line in
    "$n.") return ;;
    "$n:"*)
      printf %b "${line#*:}"
      n=$((n + 1))
      ;;
    esac
  done 2>/dev/null
}
taking=
case $input in
null) exec 7</dev/null ;;
open)
  take <&6 >"$d/i" 7<&- 8>&- 9>&- &
  taking=$!
  exec 7<"$d/i"
  ;;
*) exec 7<"$input" && rm -f "$input" ;;
esac
# A shell of its own: what this one keeps of its descriptors isn't inherited by way of it.
if [ "$apart" = 1 ]; then
  (exec "$@" <&7 >"$d/o" 2>"$d/e" 6<&- 7<&- 8>&- 9>&-)
else
  (exec "$@" <&7 >"$d/o" 2>&1 6<&- 7<&- 8>&- 9>&-)
fi
say "x$?"
# shellcheck disable=SC2086 # One word for each number.
wait $telling
[ -z "$taking" ] || kill "$taking" 2>/dev/null
say z
rm -rf "$d"
