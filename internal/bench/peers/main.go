//go:build linux

// Command peers compares urnd with other proxies and caches, those of Debian: what one core
// of each can do. "make bench-peers" installs them, builds urnd and runs it, pinned to core
// 0, and docs/benchmarks.md says how to read it.
//
// Each server runs alone, pinned to core 1, with one worker, or as many cores and workers as
// BENCH_PROCESSORS says, a configuration of its own (see the folder config) and a cache in
// memory or on tmpfs. The origin and the clients are
// in this process. Tables in Markdown are written to standard output, and progress to
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
	for _, p := range peers(s) {
		if len(s.only) > 0 && !slices.Contains(s.only, p.name) {
			continue
		}
		for _, processors := range s.processors {
			column, err := measurePeer(ctx, s, ends, p, processors, progress)
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			if err != nil {
				fmt.Fprintf(progress, "%s: skipped: %v\n", column.name, err)
				column.failed = err
			}
			t.columns = append(t.columns, column)
		}
	}
	if column, ok := measureCurl(ctx, s, ends, progress); ok {
		t.columns = append(t.columns, column)
	}
	return t.write(stdout)
}

// measurePeer starts a server with so many processors, measures its rows, and stops and removes it.
func measurePeer(ctx context.Context, s settings, ends *network, p peer, processors int, progress io.Writer) (column column, err error) {
	column = newColumn(p.name, processors)
	server, err := startPeer(ctx, ends, p, processors)
	if err != nil {
		return column, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	column.version = p.version(ctx)
	for _, r := range rows(s.rows) {
		if why := p.why(r); why != "" {
			column.cells[r.title] = cell{note: why}
			continue
		}
		c := measureRow(ctx, s, ends, server, r)
		fmt.Fprintf(progress, "%s: %s: %s\n", column.name, r.title, c)
		column.cells[r.title] = c
		if err := server.ended(); err != nil {
			return column, err
		}
	}
	return column, nil
}
