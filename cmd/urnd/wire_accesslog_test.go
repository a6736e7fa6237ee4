package main

import (
	"net/netip"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
)

// All conditions of an access log must hold; the values of one condition are alternatives.
func TestOnlyOf(t *testing.T) {
	e := accesslog.Entry{
		Client: netip.MustParseAddr("192.0.2.7"), User: "ann", Method: "GET", Target: "http://WWW.Example.org:8080/a",
		Host: "b.example", Status: 503, Forwarded: true, Cache: "stale",
	}
	prefix := func(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
	for name, tt := range map[string]struct {
		only config.AccessLogOnly
		want bool
	}{
		"nothing":         {config.AccessLogOnly{}, true},
		"a status":        {config.AccessLogOnly{Statuses: []string{"200", "503"}}, true},
		"another status":  {config.AccessLogOnly{Statuses: []string{"502"}}, false},
		"a class":         {config.AccessLogOnly{Statuses: []string{"5xx"}}, true},
		"another class":   {config.AccessLogOnly{Statuses: []string{"4xx"}}, false},
		"a range":         {config.AccessLogOnly{Statuses: []string{"500-503"}}, true},
		"another range":   {config.AccessLogOnly{Statuses: []string{"500-502"}}, false},
		"a host":          {config.AccessLogOnly{Hosts: []string{"www.example.org"}}, true},
		"hosts below":     {config.AccessLogOnly{Hosts: []string{".example.org"}}, true},
		"another host":    {config.AccessLogOnly{Hosts: []string{"b.example"}}, false},
		"a network":       {config.AccessLogOnly{Clients: prefix("192.0.2.0/24")}, true},
		"another network": {config.AccessLogOnly{Clients: prefix("192.0.3.0/24")}, false},
		"a user":          {config.AccessLogOnly{Users: []string{"bob", "ann"}}, true},
		"another user":    {config.AccessLogOnly{Users: []string{"bob"}}, false},
		"a method":        {config.AccessLogOnly{Methods: []string{"GET"}}, true},
		"another method":  {config.AccessLogOnly{Methods: []string{"POST"}}, false},
		"an outcome":      {config.AccessLogOnly{Outcomes: []string{"denied", "cached"}}, true},
		"another outcome": {config.AccessLogOnly{Outcomes: []string{"denied"}}, false},
		"forwarded":       {config.AccessLogOnly{Outcomes: []string{"forwarded"}}, true},
		"all": {config.AccessLogOnly{
			Statuses: []string{"5xx"}, Hosts: []string{".example.org"},
			Users: []string{"ann"},
		}, true},
		"all but one": {config.AccessLogOnly{
			Statuses: []string{"5xx"}, Hosts: []string{".example.org"},
			Users: []string{"bob"},
		}, false},
		"all but the first": {config.AccessLogOnly{Statuses: []string{"4xx"}, Hosts: []string{".example.org"}}, false},
	} {
		only, err := onlyOf(tt.only)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := only == nil || only(&e); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
		if only == nil {
			continue
		}
		lower := e
		lower.Target = "http://www.example.org:8080/a"
		if n := testing.AllocsPerRun(100, func() { only(&lower) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The format names that the configuration accepts are those that exist.
func TestAccessFormats(t *testing.T) {
	for _, name := range accesslog.FormatNames() {
		c := config.Default()
		c.Log.Access = []config.AccessLog{{Format: name}}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := accessLogsOf(c, newDependencies()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
