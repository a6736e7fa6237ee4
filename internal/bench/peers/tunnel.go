//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// tunnels is the number of concurrent tunnels.
const tunnels = 4

// measureTunnel measures the throughput of tunnels.
func measureTunnel(ctx context.Context, s settings, ends *network, v *server, r row) (cell, error) {
	count, target, carry := &ends.received, v.at.Sink, send
	if r.form == download {
		count, target, carry = new(atomic.Int64), v.at.Source, receive
	}
	var running sync.WaitGroup
	defer running.Wait()
	for range tunnels {
		c, err := openTunnel(ctx, r.address(v.at), target)
		if err != nil {
			return cell{}, err
		}
		defer c.Close() // before Wait: ends the goroutines
		running.Go(func() { carry(c, count) })
	}
	if err := sleep(ctx, s.warm); err != nil {
		return cell{}, err
	}
	before, err := read(ends, v)
	if err != nil {
		return cell{}, err
	}
	start, earlier := time.Now(), count.Load()
	if err := sleep(ctx, s.measure); err != nil {
		return cell{}, err
	}
	elapsed, size := time.Since(start), count.Load()-earlier
	counted, err := before.since(ends, v)
	if err != nil {
		return cell{}, err
	}
	if size < mebibyte {
		return cell{}, fmt.Errorf("only %d bytes came through", size)
	}
	mebibytes := float64(size) / mebibyte
	return cell{
		measured: true,
		rate:     mebibytes / elapsed.Seconds(),
		cpu:      time.Duration(float64(counted.cpu) / mebibytes),
		idle:     counted.idle(),
		others:   counted.others(),
	}, nil
}

// openTunnel requests a tunnel from a proxy (RFC 9110 section 9.3.6).
func openTunnel(ctx context.Context, proxy, target string) (net.Conn, error) {
	const waitLimit = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	c, err := dial(ctx, proxy)
	if err != nil {
		return nil, err
	}
	if err := ask(c, target); err != nil {
		return nil, fmt.Errorf("CONNECT: %w", errors.Join(err, c.Close()))
	}
	return c, nil
}

func ask(c net.Conn, target string) error {
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return err
	}
	// Tunnel bytes buffered by the reader arrive before the measurement and are not counted.
	request := &http.Request{Method: http.MethodConnect}
	res, err := http.ReadResponse(bufio.NewReader(c), request) //nolint:bodyclose // the response to CONNECT has no body
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return c.SetDeadline(time.Time{})
}

func receive(c net.Conn, count *atomic.Int64) {
	buffer := make([]byte, 4*block)
	for {
		n, err := c.Read(buffer)
		count.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// send sends until the connection ends; the sink counts.
func send(c net.Conn, _ *atomic.Int64) {
	data := make([]byte, block)
	for {
		if _, err := c.Write(data); err != nil {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
