//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// h2load is the load by clients with TLS and HTTP/2, and by clients with a limited rate: the program of nghttp2
// on the core of the clients. The time to open connections is included.
type h2load struct {
	row         row
	connections int
	rate        float64 // requests per second and connection; 0 is unlimited
	measure     time.Duration
	log         string // file for the latencies; "" for none
}

// h2loadSummary matches the summary that h2load prints.
var h2loadSummary = regexp.MustCompile(`(?s)finished in .*?, ([0-9.]+) req/s.*requests: .* (\d+) done, (\d+) succeeded, .*status codes: (\d+) 2xx, (\d+) 3xx`)

// arguments returns the arguments of h2load.
func (l h2load) arguments(at place) []string {
	url := "http://"
	if l.row.link != plain {
		url = "https://"
	}
	host, path := l.row.place(at, 0)
	all := []string{
		"-t", "1", "-c", strconv.Itoa(l.connections), "-m", strconv.Itoa(max(1, l.row.batch)), "-D",
		fmt.Sprintf("%dms", l.measure.Milliseconds()),
	}
	if l.row.link != overHTTP2 {
		all = append(all, "--h1")
	}
	if l.rate > 0 {
		all = append(all, "--rps", strconv.FormatFloat(l.rate, 'f', 2, 64))
	}
	if l.log != "" {
		all = append(all, "--log-file", l.log)
	}
	return append(all, "--connect-to", l.row.address(at), url+host+path)
}

// run runs h2load and returns its counters.
func (l h2load) run(ctx context.Context, v *server) (t tally, rate float64, err error) {
	path, err := program("h2load")
	if err != nil {
		return tally{}, 0, err
	}
	// h2load does not always end after it has received much data.
	const late = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, l.measure+late)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, l.arguments(v.at)...).CombinedOutput() //nolint:gosec // of the row
	if err != nil {
		return tally{}, 0, fmt.Errorf("h2load: %w: %.200s", err, output)
	}
	if t, rate, err = parseH2load(output, l.row.isRedirect()); err != nil || l.log == "" {
		return t, rate, err
	}
	text, err := os.ReadFile(l.log)
	if err != nil {
		return t, 0, err
	}
	t.latencies, err = parseH2loadLog(text)
	return t, rate, err
}

// parseH2load parses the output of h2load.
func parseH2load(output []byte, redirect bool) (t tally, rate float64, err error) {
	found := h2loadSummary.FindSubmatch(output)
	if found == nil {
		return tally{}, 0, fmt.Errorf("h2load: no summary in %.400q", output)
	}
	var counts [4]int // done, succeeded, 2xx, 3xx
	for i := range counts {
		counts[i], err = strconv.Atoi(string(found[2+i]))
		if err != nil {
			return tally{}, 0, fmt.Errorf("h2load: %w", err)
		}
	}
	if rate, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
		return tally{}, 0, fmt.Errorf("h2load: %w", err)
	}
	t.replies = counts[2]
	if redirect {
		t.replies = counts[3]
	}
	if t.errors = counts[0] - t.replies; t.errors > 0 {
		t.first = errors.New("another status")
	}
	if t.replies == 0 {
		err = errors.New("h2load: no replies")
	}
	return t, rate, err
}

// parseH2loadLog parses a file of --log-file: start, status and duration in microseconds of each request.
func parseH2loadLog(text []byte) (latencies []uint32, err error) {
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) < 3 {
			return nil, fmt.Errorf("h2load: %q is no line of its log", line)
		}
		micros, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("h2load: %w", err)
		}
		latencies = append(latencies, uint32(micros))
	}
	return latencies, nil
}

// measureH2load measures the maximum rate of requests.
func measureH2load(ctx context.Context, s settings, ends *network, v *server, r row) (cell, error) {
	c, _, err := measureLoad(ctx, ends, v, h2load{row: r, connections: s.connections, measure: s.measure})
	return c, err
}

func measureLoad(ctx context.Context, ends *network, v *server, l h2load) (cell, float64, error) {
	if _, err := probeUntil(ctx, ends, v, l.row); err != nil {
		return cell{}, 0, err
	}
	before, err := read(ends, v)
	if err != nil {
		return cell{}, 0, err
	}
	start := time.Now()
	t, rate, err := l.run(ctx, v)
	if err != nil {
		return cell{}, 0, err
	}
	elapsed := time.Since(start)
	counted, err := before.since(ends, v)
	return cellOf(l.row, t, counted, elapsed), rate, err
}

// mostPaced is the maximum number of requests per second that a client of h2load sends evenly: its clock ticks
// a hundred times a second.
const mostPaced = 100

// measureHalfLoad measures the latency at half the maximum rate of the server, which is measured first.
func measureHalfLoad(ctx context.Context, s settings, ends *network, v *server, r row) (cell, error) {
	l := h2load{row: r, connections: s.connections, measure: s.measure}
	_, rate, err := measureLoad(ctx, ends, v, l)
	if err != nil {
		return cell{}, err
	}
	l.connections = int(rate/2/mostPaced) + 1
	l.rate = rate / 2 / float64(l.connections)
	l.log = filepath.Join(v.at.Dir, "latencies")
	defer func() { _ = os.Remove(l.log) }()
	c, _, err := measureLoad(ctx, ends, v, l)
	return c, err
}
