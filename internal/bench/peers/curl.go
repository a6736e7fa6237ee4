//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// curlName is the name of curl, which is not a server, in BENCH_ONLY.
const curlName = "curl"

// serverCore is the core of curl, which it does not share with the clients.
const serverCore = "1"

// measureCurl measures curl without a proxy in the rows of FTP: one process per request, sequentially.
func measureCurl(ctx context.Context, s settings, ends *network, progress io.Writer) (*column, bool) {
	c := newColumn(curlName, 1)
	path, err := program("curl")
	isRow := func(r row) bool { return r.ftp() }
	if err != nil || ends.place.FTP == "" || len(s.only) > 0 && !slices.Contains(s.only, curlName) ||
		!slices.ContainsFunc(rows(s.rows), isRow) {
		return c, false
	}
	c.version = peer{name: curlName, pkg: curlName}.version(ctx)
	for _, r := range rows(s.rows) {
		if !r.ftp() {
			c.cells[r.title] = cell{note: "curl is measured by ftp only"}
			continue
		}
		c.cells[r.title] = curlRow(ctx, s, path, "ftp://"+ends.place.FTP+r.ftpPath())
		fmt.Fprintf(progress, "curl: %s: %s\n", r.title, c.cells[r.title])
	}
	return c, true
}

func curlRow(ctx context.Context, s settings, path, target string) cell {
	ctx, cancel := context.WithTimeout(ctx, s.measure)
	defer cancel()
	var latencies []uint32
	var cpu time.Duration
	started := time.Now()
	for ctx.Err() == nil {
		begun := time.Now()
		//nolint:gosec // arguments of the row
		cmd := exec.CommandContext(ctx, "taskset", "-c", serverCore, path, "-q", "-s", "--noproxy", "*", "-o",
			"/dev/null", target)
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				break
			}
			return cell{note: "failed: " + strings.TrimSpace(err.Error())}
		}
		latencies = append(latencies, uint32(time.Since(begun).Microseconds())) //nolint:gosec // below the row's time
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if len(latencies) == 0 {
		return cell{note: "failed: no replies"}
	}
	n := len(latencies)
	return cell{
		measured: true, rate: float64(n) / time.Since(started).Seconds(), p99: percentile(latencies, 99),
		cpu:  cpu / time.Duration(n),
		note: "one process for each request, one at a time",
	}
}
