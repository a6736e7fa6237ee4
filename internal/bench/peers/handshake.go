//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// measureHandshakes measures TLS connections with a full handshake and one request each.
func measureHandshakes(ctx context.Context, s settings, ends *network, v *server, r row) (cell, error) {
	if _, err := probeUntil(ctx, ends, v, r); err != nil {
		return cell{}, err
	}
	if _, err := handshakes(ctx, s, v, r, s.warm); err != nil {
		return cell{}, err
	}
	before, err := read(ends, v)
	if err != nil {
		return cell{}, err
	}
	start := time.Now()
	t, err := handshakes(ctx, s, v, r, s.measure)
	if err != nil {
		return cell{}, err
	}
	elapsed := time.Since(start)
	counted, err := before.since(ends, v)
	return cellOf(r, t, counted, elapsed), err
}

// handshakes connects for a time; each client reconnects after its response.
func handshakes(ctx context.Context, s settings, v *server, r row, d time.Duration) (tally, error) {
	until := time.Now().Add(d)
	var running sync.WaitGroup
	tallies := make([]tally, s.connections)
	for i := range tallies {
		running.Go(func() { tallies[i].connect(ctx, v, r, until) })
	}
	running.Wait()
	var all tally
	for _, t := range tallies {
		all.replies += t.replies
		all.errors += t.errors
		all.first = errors.Join(all.first, t.first)
		all.latencies = append(all.latencies, t.latencies...)
	}
	if all.replies == 0 {
		return all, errors.Join(errors.New("no replies"), all.first)
	}
	return all, ctx.Err()
}

// connect counts connections with one request each until a time.
func (t *tally) connect(ctx context.Context, v *server, r row, until time.Time) {
	request := r.request(v.at, 0)
	for ctx.Err() == nil && time.Now().Before(until) {
		begun := time.Now()
		if err := t.once(ctx, v, r, request); err != nil {
			t.errors++
			t.first = err
			return
		}
		t.replies++
		t.latencies = append(t.latencies, uint32(time.Since(begun).Microseconds())) //nolint:gosec // less than an hour
	}
}

func (*tally) once(ctx context.Context, v *server, r row, request []byte) error {
	c, err := dialRow(ctx, v, r)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
