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
	"os"
	"strconv"
	"time"
)

const (
	// idleCount is the number of idle connections, and idleBaseline the number before memory is first
	// measured, so that initial allocations are excluded.
	idleCount    = 5000
	idleBaseline = 200
	// settled is the time for the server to process connections that have become idle.
	settled = 3 * time.Second
)

// measureIdle measures the resident memory of idle connections after one request.
func measureIdle(ctx context.Context, _ settings, ends *network, v *server, r row) (cell, error) {
	if _, err := probeUntil(ctx, ends, v, r); err != nil {
		return cell{}, err
	}
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	request := r.request(v.at, 0)
	var sizes []int64
	for _, n := range []int{idleBaseline, idleCount} {
		for len(conns) < n {
			c, err := openIdle(ctx, v, r, request)
			if err != nil {
				return cell{}, fmt.Errorf("connection %d: %w", len(conns)+1, err)
			}
			conns = append(conns, c)
		}
		if err := sleep(ctx, settled); err != nil {
			return cell{}, err
		}
		size, err := resident(v.cmd.Process.Pid)
		if err != nil {
			return cell{}, err
		}
		sizes = append(sizes, size)
	}
	if n := closedOf(conns); n > 0 {
		return cell{}, fmt.Errorf("the server has closed %d of %d connections", n, len(conns))
	}
	return cell{measured: true, resident: float64(sizes[1]-sizes[0]) / (idleCount - idleBaseline)}, nil
}

// openIdle opens a connection that has received a response.
func openIdle(ctx context.Context, v *server, r row, request []byte) (net.Conn, error) {
	c, err := dialRow(ctx, v, r)
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(request); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
		err = errors.Join(err, res.Body.Close())
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// closedOf counts closed connections.
func closedOf(conns []net.Conn) (n int) {
	for _, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // reading a closed connection fails, too
		if _, err := c.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			n++
		}
	}
	return n
}

// resident returns the resident memory of a process and its descendants in bytes: proc_pid_statm(5).
func resident(root int) (sum int64, err error) {
	for _, p := range processTree(root) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.pid))
		if err != nil {
			continue // it has ended
		}
		pages, err := parseStatm(text)
		if err != nil {
			return 0, err
		}
		sum += pages * int64(os.Getpagesize())
	}
	return sum, nil
}

// parseStatm returns the resident pages.
func parseStatm(text []byte) (int64, error) {
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("memory of a process: %d fields", len(fields))
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("memory of a process: %w", err)
	}
	return pages, nil
}
