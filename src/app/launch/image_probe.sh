
# Which hosts of HTTPS accept a connection from here: a line each, 'host NAME ok', 'host NAME no REASON', or
# 'host NAME unknown' without a program that could tell.
reach() {
  if command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
    said=$(timeout 5 bash -c "exec 3<>/dev/tcp/$1/443" 2>&1)
    case $? in
      0) echo "host $1 ok" ;;
      124) echo "host $1 no no connection within 5 s" ;;
      *)
        said=${said%%"
"*}
        echo "host $1 no ${said##*: }"
        ;;
    esac
  elif command -v python3 >/dev/null 2>&1; then
    said=$(python3 -c 'import socket, sys
try:
    socket.create_connection((sys.argv[1], 443), 5)
    print("ok")
except OSError as error:
    print("no", error.strerror or error)' "$1")
    echo "host $1 $said"
  else
    echo "host $1 unknown"
  fi
}
for name; do
  reach "$name" &
done
wait
