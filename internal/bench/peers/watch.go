//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	watchers = 8
	// breath is the interval between two requests, so that they do not load the server.
	breath = 5 * time.Millisecond
	// watched is the time limit of a response: Squid does not respond while it reads a list.
	watched = 30 * time.Second
)

// sample is one request of a watch.
type sample struct {
	start, end time.Time
	status     int // 0: no or incomplete response
}

// watch sends requests through a proxy during an event.
type watch struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	samples []sample
}

// proxied returns a client of the forward proxy. The caller closes its idle connections.
func proxied(v *server) *http.Client {
	through := http.ProxyURL(&url.URL{Scheme: "http", Host: v.at.Forward})
	return &http.Client{Transport: &http.Transport{Proxy: through, MaxIdleConnsPerHost: watchers}, Timeout: watched}
}

// startWatch requests a URL repeatedly until stop.
func startWatch(ctx context.Context, v *server, target string) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{cancel: cancel}
	client := proxied(v)
	var clients sync.WaitGroup
	for range watchers {
		clients.Go(func() {
			for sleep(ctx, breath) == nil {
				s := request(ctx, client, target)
				if ctx.Err() != nil {
					return // the result is unknown
				}
				w.mu.Lock()
				w.samples = append(w.samples, s)
				w.mu.Unlock()
			}
		})
	}
	w.running.Go(func() {
		clients.Wait()
		client.CloseIdleConnections()
	})
	return w
}

// stop returns the completed requests. It may be called again.
func (w *watch) stop() []sample {
	w.cancel()
	w.running.Wait()
	return w.samples
}

func request(ctx context.Context, client *http.Client, target string) (s sample) {
	s.start = time.Now()
	defer func() { s.end = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return s
	}
	res, err := client.Do(req)
	if err != nil {
		return s
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, mebibyte)); err == nil {
		s.status = res.StatusCode
	}
	return s
}

// verdict summarizes the requests since a time.
type verdict struct {
	requests, failed int
	last             time.Duration // time until the last failed request ended
	longest          time.Duration // longest request, failed or not
}

// judge counts the requests that ended after a time.
func judge(samples []sample, since time.Time) (v verdict) {
	for _, s := range samples {
		if s.end.Before(since) {
			continue
		}
		v.requests++
		v.longest = max(v.longest, s.end.Sub(s.start))
		if s.status != http.StatusOK {
			v.failed++
			v.last = max(v.last, s.end.Sub(since))
		}
	}
	return v
}

func (v verdict) String() string {
	text := fmt.Sprintf("%d of %s requests failed", v.failed, thousands(float64(v.requests)))
	if v.failed > 0 {
		text += ", the last after " + seconds(v.last)
	}
	return text + ", the longest took " + seconds(v.longest)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
