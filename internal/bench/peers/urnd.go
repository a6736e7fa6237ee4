//go:build linux

package main

import (
	"strings"
)

// urnds returns the daemon of this tree, and that of an earlier commit if configured.
func urnds(s settings) []peer {
	all := []peer{urnd("urnd", s.urnd)}
	if s.before != "" {
		all = append(all, urnd("before", s.before))
	}
	return all
}

func urnd(name, program string) peer {
	return peer{
		name:    name,
		files:   map[string]string{"urnd.yaml": strings.TrimLeft(urndConfig, "\n")},
		command: func(p place) []string { return []string{program, "serve", "--config", p.Dir + "/urnd.yaml"} },
		env:     func(p place) []string { return []string{maxProcs(p)} },
		secure:  true,
		names:   true,
		squid:   true,
	}
}

const urndConfig = `
listen:
  service: ['{{.Forward}}', '{{.Gateway}}']
  tls: ['{{.Secure}}']
  admin: '{{.Admin}}'
tls:
  certificate: '{{.Dir}}/tls.pem'
  key: '{{.Dir}}/tls.pem'
limits:
  client_connections: 0
{{- if .With}}
  origin_timeout: 2s
{{- end}}
access:
  allow_destinations: [127.0.0.0/8]
  proxy_clients: [127.0.0.0/8]
{{- if eq .With "logins"}}
  helpers:
    - for: passwords
      command: [/usr/lib/squid/basic_fake_auth]
{{- end}}
ddds:
  enabled: false
log:
  level: ERROR
namespaces:
  - nid: example
    targets:
      - template: https://books.example/{+nss}
{{- if .Store}}
registry:
  store: 'sqlite:{{.Store}}'
  owned: ['urn:example:item:']
{{- end}}
proxy:
  connect_ports: [{{.SourcePort}}, {{.SinkPort}}]
{{- if eq .With "list"}}
  rules:
    - id: list
      action: deny
      hosts_from: ['{{.List}}']
{{- end}}
{{- if .With}}
  upstreams:
    - proxies: [{{range $i, $parent := .Parents}}{{if $i}}, {{end}}http://{{$parent}}{{end}}]
      check_interval: 1s
{{- end}}
  sites:
    - hosts: [{{.Host}}]
      servers: [http://{{.Origin}}]
`
