//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// measureRow measures one row of one server.
func measureRow(ctx context.Context, s settings, ends *network, v *server, r row) cell {
	if r.ftp() && ends.place.FTP == "" {
		return cell{note: "vsftpd is not installed: make test-deps"}
	}
	measure := measureRequests
	switch {
	case r.tunnel():
		measure = measureTunnel
	case r.manner == idleConnections:
		measure = measureIdle
	case r.manner == halfLoad:
		measure = measureHalfLoad
	case r.link != plain && r.manner == closing:
		measure = measureHandshakes
	case r.link != plain:
		measure = measureH2load
	}
	c, err := measure(ctx, s, ends, v, r)
	if err != nil {
		return cell{note: "failed: " + err.Error()}
	}
	c.shared = v.on.shared()
	return c
}

func measureRequests(ctx context.Context, s settings, ends *network, v *server, r row) (cell, error) {
	l, err := loadOf(ctx, s, ends, v, r)
	if err != nil {
		return cell{}, err
	}
	defer func() { v.sent[r.title] = l.sent; l.close() }()
	if _, _, err := l.run(ctx, s.warm, s.connections); err != nil {
		return cell{}, fmt.Errorf("warming up: %w", err)
	}
	before, err := read(ends, v)
	if err != nil {
		return cell{}, err
	}
	t, elapsed, err := l.run(ctx, s.measure, s.connections)
	if err != nil {
		return cell{}, err
	}
	counted, err := before.since(ends, v)
	if err != nil {
		return cell{}, err
	}
	if t.replies == 0 {
		return cell{}, errors.Join(errors.New("no replies"), t.first)
	}
	return cellOf(r, t, counted, elapsed), nil
}

// cellOf returns the results for at least one response.
func cellOf(r row, t tally, counted reading, elapsed time.Duration) cell {
	c := cell{
		measured: true,
		rate:     float64(t.replies) / elapsed.Seconds(),
		p99:      percentile(t.latencies, 99),
		cpu:      counted.cpu / time.Duration(t.replies),
		idle:     counted.idle(),
		others:   counted.others(),
		note:     remarks(r, t, counted),
	}
	if r.manner == halfLoad {
		c.p50 = percentile(t.latencies, 50)
	}
	return c
}

// loadOf returns the load of a row after one response was verified.
func loadOf(ctx context.Context, s settings, ends *network, v *server, r row) (*load, error) {
	length, err := probeUntil(ctx, ends, v, r)
	if err != nil {
		return nil, err
	}
	l, err := newLoad(r.address(v.at), s.connections)
	if err != nil {
		return nil, err
	}
	l.status, l.length = http.StatusOK, length
	if r.isRedirect() {
		l.status = http.StatusFound
	}
	l.closes = r.manner == closing || r.manner == connectionClose
	l.sent = v.sent[r.title]
	l.request, l.replies = requests(v.at, r), max(1, r.batch)
	return l, nil
}

// requests returns a function that creates the n-th write of a row. It returns the same bytes each time if
// possible.
func requests(at place, r row) func(uint64) []byte {
	if r.origin == once || r.form == registered || r.users {
		return func(n uint64) []byte { return r.request(at, n+1) } // 0 was used by the probe
	}
	same := bytes.Repeat(r.request(at, 0), max(1, r.batch))
	return func(uint64) []byte { return same }
}

// remarks returns the notes that qualify a result.
func remarks(r row, t tally, counted reading) string {
	requested := counted.requests
	var all []string
	part := float64(requested) / float64(t.replies)
	switch {
	case r.origin == never && part > 0.5:
		all = append(all, "not cached: the origin was asked")
	case r.origin == never && requested > 0:
		all = append(all, fmt.Sprintf("%.2g %% of the requests reached the origin", 100*part))
	case r.origin != never && part < 0.9 && !r.ftp():
		all = append(all, fmt.Sprintf("only %.0f %% of the requests reached the origin", 100*part))
	}
	if requested > 0 && 2*counted.accepted > requested {
		all = append(all, "most requests to the origin open a connection")
	}
	if t.errors > 0 {
		all = append(all, fmt.Sprintf("%d errors, first: %v", t.errors, t.first))
	}
	if t.stalled > 0 {
		all = append(all, fmt.Sprintf("%d connections had no reply all the time", t.stalled))
	}
	if t.reopened > 0 {
		all = append(all, fmt.Sprintf("the server closed %d connections", t.reopened))
	}
	return strings.Join(all, "; ")
}

// percentile returns the latency that this percentage of responses does not exceed.
func percentile(latencies []uint32, percent int) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	slices.Sort(latencies)
	return time.Duration(latencies[(len(latencies)-1)*percent/100]) * time.Microsecond
}

// probeUntil probes until the response is correct: some servers listen before they are ready.
func probeUntil(ctx context.Context, ends *network, v *server, r row) (length int, err error) {
	const waitLimit = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		length, err := probe(ctx, ends, v, r)
		if err == nil {
			return length, nil
		}
		if err := v.ended(); err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-tick.C:
		}
	}
}

// probe sends one request, verifies the complete response, and returns the length of its body, which differs
// for redirects.
func probe(ctx context.Context, ends *network, v *server, r row) (length int, err error) {
	c, err := dialRow(ctx, v, r)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, err := c.Write(r.request(v.at, 0)); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, 2*mebibyte))
	if err != nil {
		return 0, err
	}
	if r.isRedirect() {
		if res.StatusCode != http.StatusFound || res.Header.Get("Location") != r.location() {
			return 0, fmt.Errorf("%s, Location %q", res.Status, res.Header.Get("Location"))
		}
		return len(got), nil
	}
	if res.StatusCode != http.StatusOK {
		return 0, errors.New(res.Status)
	}
	if r.form == ftpDirectory {
		return len(got), checkDirectory(got)
	}
	if !bytes.Equal(got, ends.body[:r.size]) {
		return 0, fmt.Errorf("the body is not that of the origin: %d bytes", len(got))
	}
	return len(got), nil
}

// dialRow connects like the clients of a row.
func dialRow(ctx context.Context, v *server, r row) (net.Conn, error) {
	c, err := dial(ctx, r.address(v.at))
	if err != nil || r.link == plain {
		return c, err
	}
	return secured(ctx, c)
}

// dial connects; the deadline of ctx applies to the connection.
func dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := c.SetDeadline(deadline); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}
