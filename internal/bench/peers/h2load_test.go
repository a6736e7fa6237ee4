//go:build linux

package main

import (
	"slices"
	"testing"
	"time"
)

// h2loadOutput is the output of h2load 1.52.
const h2loadOutput = `starting benchmark...
spawning thread #0: 32 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.
Warm-up started for thread #0.
finished in 2.00s, 8312.50 req/s, 1.01MB/s
requests: 16625 total, 16657 started, 16625 done, 16620 succeeded, 5 failed, 0 errored, 0 timeout
status codes: 3 2xx, 16617 3xx, 5 4xx, 0 5xx
traffic: 2.02MB (2121112) total, 1.10MB (1150000) headers (space savings 50.00%), 0B (0) data
`

func TestParseH2load(t *testing.T) {
	for _, c := range []struct {
		output          string
		redirect, ok    bool
		replies, errors int
		rate            float64
	}{
		{h2loadOutput, true, true, 16617, 8, 8312.5},
		{h2loadOutput, false, true, 3, 16622, 8312.5},
		{"finished in 2s, x req/s", false, false, 0, 0, 0},
		{"", false, false, 0, 0, 0},
	} {
		got, rate, err := parseH2load([]byte(c.output), c.redirect)
		if (err == nil) != c.ok || got.replies != c.replies || got.errors != c.errors || rate != c.rate {
			t.Errorf("%.20q: %+v, %v, %v", c.output, got, rate, err)
		}
	}
}

func FuzzParseH2load(f *testing.F) {
	f.Add([]byte(h2loadOutput))
	f.Fuzz(func(t *testing.T, output []byte) {
		if got, _, err := parseH2load(output, true); err == nil && got.replies < 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestParseH2loadLog(t *testing.T) {
	for _, c := range []struct {
		text string
		want []uint32
		ok   bool
	}{
		{"1700000000000000\t302\t51\n1700000000000009\t-1\t900\n", []uint32{51, 900}, true},
		{"", nil, true},
		{"1\t2\n", nil, false},
		{"1\t2\tx\n", nil, false},
	} {
		if got, err := parseH2loadLog([]byte(c.text)); !slices.Equal(got, c.want) || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}

func TestH2loadArguments(t *testing.T) {
	at := place{Gateway: "127.0.0.1:1", Secure: "127.0.0.1:2"}
	for _, c := range []struct {
		load h2load
		want []string
	}{
		{
			h2load{row: row{form: redirect}, connections: 3, measure: time.Second, rate: 1.5, log: "log"},
			[]string{
				"-t", "1", "-c", "3", "-m", "1", "-D", "1000ms", "--h1", "--rps", "1.50", "--log-file", "log",
				"--connect-to", "127.0.0.1:1", "http://127.0.0.1:1" + namePath,
			},
		},
		{
			h2load{
				row: row{form: gateway, size: kibibyte, link: overHTTP2, batch: 16}, connections: 3,
				measure: 2 * time.Second,
			},
			[]string{
				"-t", "1", "-c", "3", "-m", "16", "-D", "2000ms", "--connect-to", "127.0.0.1:2",
				"https://" + gatewayHost + "/cached/1024",
			},
		},
	} {
		if got := c.load.arguments(at); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
