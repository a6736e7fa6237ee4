package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// fileDaemon is an urnd that reads its configuration from a file, like "urnd serve --config".
type fileDaemon struct {
	testService
	file         string
	secure       string // address of the TLS listener
	admin        string
	hangup, stop func()
}

// newFileDaemon writes the configuration of an urnd that is not started.
func newFileDaemon(t *testing.T, lines ...string) *fileDaemon {
	l := &fileDaemon{file: filepath.Join(t.TempDir(), "urnd.yaml")}
	l.log.next = t.Output()
	l.write(t, lines...)
	return l
}

// write replaces the file atomically. Of lines with the same key, the last one is used.
func (l *fileDaemon) write(t *testing.T, lines ...string) {
	t.Helper()
	all := map[string]string{
		// Nothing listens there.
		"listen": `{service: "127.0.0.1:0", admin: ""}`, "dns": `{servers: ["127.0.0.1:9"], timeout: 1s}`,
		"log": "{format: text}", "cache": "{answers: 1MiB, records: 1MiB}", "namespaces": bookNamespace("a"),
		"access": "{allow_destinations: [127.0.0.0/8]}",
	}
	for _, line := range lines {
		key, value, _ := strings.Cut(line, ": ")
		all[key] = value
	}
	var text strings.Builder
	for key, value := range all {
		text.WriteString(key + ": " + value + "\n")
	}
	if err := os.WriteFile(l.file+".new", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(l.file+".new", l.file); err != nil {
		t.Fatal(err)
	}
}

// bookNamespace returns the namespace "book", whose names resolve to a host.
func bookNamespace(host string) string {
	return "[{nid: book, order: [namespace], targets: [{template: 'https://" + host + ".example/{+nss}'}]}]"
}

// startInProcess runs it in this process.
func (l *fileDaemon) startInProcess(t *testing.T, inherited map[string][]net.Listener) {
	t.Helper()
	stderr, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	deps := newDependencies()
	l.metrics = deps.metrics
	deps.stderr = written
	var origins config.Origins
	deps.origins = func() config.Origins { return origins }
	d := newDaemon(deps, l.file, func() (c config.Config, err error) {
		c, origins, err = config.LoadOrigins(l.file, nil)
		return c, err
	}, inherited)
	ctx, cancel := context.WithCancel(context.Background())
	hangups := make(chan os.Signal, 1)
	l.hangup = func() { hangups <- syscall.SIGHUP }
	ended := make(chan error, 1)
	go func() {
		ended <- d.Run(ctx, hangups)
		written.Close()
	}()
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.Copy(&l.log, stderr)
		stderr.Close()
	})
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		reading.Wait()
	})
	t.Cleanup(l.stop)
}

// start runs a fileDaemon in this process, and returns when it is ready.
func start(t *testing.T, lines ...string) *fileDaemon {
	t.Helper()
	l := newFileDaemon(t, lines...)
	l.startInProcess(t, nil)
	l.ready(t)
	return l
}

func (l *fileDaemon) ready(t *testing.T) {
	t.Helper()
	var found []string
	testserver.Wait(t, "urnd is ready", func() bool {
		found = regexp.MustCompile(`msg="urnd is ready" service=(\S+|".*?") tls=(\S+) admin=(\S+)`).FindStringSubmatch(l.log.String())
		return found != nil
	})
	l.url, l.secure, l.admin = "http://"+found[1], found[2], found[3]
}

func (l *fileDaemon) logged(text string) int { return strings.Count(l.log.String(), text) }

// reload sends SIGHUP, and reports whether the new configuration is in force.
func (l *fileDaemon) reload(t *testing.T) bool {
	t.Helper()
	taken, refused := l.logged("configuration reloaded"), l.logged("configuration reload failed, keeping")
	l.hangup()
	testserver.Wait(t, "the log has the outcome of the reload", func() bool {
		return l.logged("configuration reloaded")+l.logged("configuration reload failed, keeping") > taken+refused
	})
	return l.logged("configuration reloaded") > taken
}
