#!/bin/sh
# Measures a site beside HAProxy (three balanced servers), Caddy and nginx (compression), in turns on one machine: see docs/benchmarks.md.
# It needs haproxy, caddy, nginx and h2load (nghttp2-client); BENCH_URND is the program. All traffic is on loopback. Handshakes are a row of make bench-peers.
set -eu
urnd=$(realpath "${BENCH_URND:?is the program to measure}")
dir=$(mktemp -d)
chmod 755 "$dir" # for the user of nginx
trap 'kill $pids 2>/dev/null; rm -rf "$dir"' EXIT
pids=
requests=${BENCH_REQUESTS:-60000}
start() { "$@" >"$dir/$(basename "$1").log" 2>&1 & pids="$pids $!"; }
cd "$dir"
mkdir www
awk 'BEGIN { for (i = 0; i < 900; i++) printf "<p>Line %d of a page that a library shows to its readers, with words that come again: %d.</p>\n", i, i * i % 97 }' >www/page.html
printf small >www/small.txt
cat >nginx.conf <<END
pid $dir/nginx.pid; worker_processes 1; daemon off; error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off; types { text/html html; text/plain txt; } keepalive_requests 10000000;
  server { listen 127.0.0.1:18001; listen 127.0.0.1:18002; listen 127.0.0.1:18003; root $dir/www; add_header Cache-Control \$cc; }
  map \$uri \$cc { default "no-store"; ~cached "max-age=600"; }
  server { listen 127.0.0.1:18010; root $dir/www; gzip on; gzip_comp_level 5; gzip_types text/html; }
}
END
cp www/page.html www/cached.html
cat >haproxy.cfg <<END
global
  nbthread 2
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend f
  bind 127.0.0.1:18020
  default_backend b
backend b
  balance roundrobin
  option httpchk GET /small.txt
  server a 127.0.0.1:18001 check inter 2s
  server b 127.0.0.1:18002 check inter 2s
  server c 127.0.0.1:18003 check inter 2s
END
cat >Caddyfile <<END
{
  auto_https off
  admin off
}
http://127.0.0.1:18030 {
  root * $dir/www
  encode gzip
  file_server
}
END
cat >urnd.yaml <<END
listen: {service: '127.0.0.1:18040', admin: '127.0.0.1:18041'}
access: {allow_destinations: [127.0.0.0/8]}
limits: {client_connections: 0}
log: {level: ERROR}
compression: {codings: [gzip]}
proxy:
  sites:
    - hosts: [127.0.0.1]
      servers: ['http://127.0.0.1:18001', 'http://127.0.0.1:18002', 'http://127.0.0.1:18003']
      check: {path: /small.txt, interval: 2s}
END
start nginx -p "$dir" -c nginx.conf -e stderr
start haproxy -f haproxy.cfg
start caddy run --config Caddyfile --adapter caddyfile
start "$urnd" serve --config urnd.yaml
sleep 4
rate() { # name, and arguments of h2load
  name=$1; shift
  h2load --h1 -t 1 "$@" 2>/dev/null | awk -v name="$name" '/^finished in/ {r = $4} /^status codes/ {ok = $3} /^requests:/ {all = $2}
    /^time for request/ {max = $5} END {printf "%-32s %10.0f /s  at most %8s  %d of %d with 2xx\n", name, r, max, ok, all}'
}
for turn in 1 2 3; do
  rate "balanced, HAProxy" -c 32 -n "$requests" http://127.0.0.1:18020/small.txt
  rate "balanced, urnd" -c 32 -n "$requests" http://127.0.0.1:18040/small.txt
  for coding in "nginx 18010/page.html" "Caddy 18030/page.html" "urnd,_not_stored 18040/page.html" "urnd,_stored 18040/cached.html"; do
    rate "gzip of 90 KB, $(echo "${coding% *}" | tr _ ' ')" -c 8 -n 3000 -H 'accept-encoding: gzip' "http://127.0.0.1:${coding#* }"
  done
done
