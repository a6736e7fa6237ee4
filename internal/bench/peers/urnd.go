//go:build linux

package main

import (
	"slices"
	"strings"
)

// urnd returns the daemon of this tree. BENCH_URND_WITHOUT takes out what it has no
// settings for.
func urnd(s settings) peer {
	config := urndConfig
	cannot := map[form]string{}
	if slices.Contains(s.urndWithout, "origins") {
		cannot[gateway] = "left out by BENCH_URND_WITHOUT"
	} else {
		config += urndOrigins
	}
	if slices.Contains(s.urndWithout, "connect") {
		cannot[download] = "left out by BENCH_URND_WITHOUT"
		cannot[upload] = "left out by BENCH_URND_WITHOUT"
	} else {
		config += urndConnect
	}
	return peer{
		name:    "urnd",
		files:   map[string]string{"urnd.yaml": strings.TrimLeft(config, "\n")},
		command: func(p place) []string { return []string{s.urnd, "serve", "--config", p.Dir + "/urnd.yaml"} },
		env:     func(place) []string { return []string{"GOMAXPROCS=1"} },
		cannot:  cannot,
	}
}

const urndConfig = `
listen:
  service: ['{{.Forward}}', '{{.Gateway}}']
  admin: ""
access:
  allow_destinations: [127.0.0.0/8]
  proxy_clients: [127.0.0.0/8]
ddds:
  enabled: false
log:
  level: ERROR
namespaces:
  - nid: example
    targets:
      - template: https://books.example/{+nss}
`

const urndOrigins = `
origins:
  - host: {{.Host}}
    servers: [http://{{.Origin}}]
`

const urndConnect = `
proxy:
  connect_ports: [{{.SourcePort}}, {{.SinkPort}}]
`
