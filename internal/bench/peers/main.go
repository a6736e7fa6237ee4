//go:build linux

// Command peers compares urnd with other proxies and caches, those of Debian: what one core
// of each can do. "make bench-peers" installs them, builds urnd and runs it, pinned to core
// 0, and docs/benchmarks.md says how to read it.
//
// Each server is loaded alone, in turns of half a second, and the others are idle meanwhile. They are pinned to core 1, with
// one worker, or as many cores and workers as BENCH_PROCESSORS says, a configuration of their own (see the folder config) and a
// cache in memory or on tmpfs. The origin and the clients are in this process. Tables in Markdown are written to standard output, and progress to
// standard error. It needs epoll and /proc: Linux.
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
	// A child is killed when the thread that started it ends: the thread of main lasts.
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

// measurePeers starts the servers, each with every number of processors, measures the rows of all in turns, and stops and removes them.
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
