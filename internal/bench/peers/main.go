//go:build linux

// Command peers compares urnd with other proxies and caches of Debian: the throughput of one core. It starts
// each server with its own configuration (folder config) and a cache in memory or on tmpfs, loads it by HTTP
// requests from clients and an origin in this process, and writes tables in Markdown to standard output and
// progress to standard error. "make bench-peers" installs the servers, builds urnd and runs it, pinned to core
// 0; docs/benchmarks.md explains the results.
//
// Servers are loaded one at a time, in turns of half a second, while the others are idle. They are pinned to
// core 1 with one worker, or to as many cores and workers as BENCH_PROCESSORS specifies. It needs epoll and
// /proc of Linux.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
)

func main() {
	// A child is killed when the thread that started it ends; the main thread lives until the end.
	runtime.LockOSThread()
	// One thread of the runtime waits for the clients' sockets, while others run the origin.
	runtime.GOMAXPROCS(3)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, getenv func(string) string, stdout, progress io.Writer) error {
	s, err := readSettings(getenv)
	if err != nil {
		return err
	}
	ends, err := newNetwork(ctx)
	if err != nil {
		return fmt.Errorf("starting the origin: %w", err)
	}
	defer ends.close()

	if s.profile != "" {
		return writeProfile(ctx, s, ends, progress)
	}
	ftp, err := startFTP(ctx, ends.body)
	if err != nil {
		return fmt.Errorf("starting vsftpd: %w", err)
	}
	defer ftp.stop()
	ends.place.FTP = ftp.address
	remove, err := ends.registerNames(ctx, s)
	if err != nil {
		return fmt.Errorf("registering names: %w", err)
	}
	defer remove()
	t := table{settings: s}
	t.columns, err = measurePeers(ctx, s, ends, progress)
	if err != nil {
		return err
	}
	if column, ok := measureCurl(ctx, s, ends, progress); ok {
		t.columns = append(t.columns, column)
	}
	return t.write(stdout)
}

// measurePeers starts the servers with each number of processors, measures the rows of all in turns, and stops
// and removes the servers.
func measurePeers(ctx context.Context, s settings, ends *network, progress io.Writer) (columns []*column, err error) {
	defer func() {
		for _, c := range columns {
			err = errors.Join(err, c.stop())
		}
	}()
	for _, p := range peers(s) {
		if len(s.only) > 0 && !slices.Contains(s.only, p.name) {
			continue
		}
		for _, processors := range s.processors {
			c := newColumn(p.name, processors)
			if c.server, c.failed = startPeer(ctx, ends, p, processors); c.failed == nil {
				c.version = p.version(ctx)
			}
			columns = append(columns, c)
		}
	}
	for _, r := range rows(s.rows) {
		measureRounds(ctx, s, ends, columns, r, progress)
		if ctx.Err() != nil {
			return columns, errors.New("interrupted")
		}
	}
	for _, c := range columns {
		if c.failed != nil {
			fmt.Fprintf(progress, "%s: failed: %v\n", c.name, c.failed)
		}
	}
	return columns, nil
}
