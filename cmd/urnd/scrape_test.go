package main

import (
	"bufio"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// scraped returns a metric of the daemon, summed over the labels that a pattern matches.
func (p *process) scraped(t *testing.T, pattern string) float64 {
	t.Helper()
	response, err := http.Get(p.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	line := regexp.MustCompile("^" + pattern + " (.*)$")
	sum := 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if found := line.FindStringSubmatch(lines.Text()); found != nil {
			value, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += value
		}
	}
	return sum
}

// waitBelow waits until a metric of the daemon is at most most.
func (p *process) waitBelow(t *testing.T, pattern string, most float64) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		got := p.scraped(t, pattern)
		if got <= most {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s is %.0f, and was %.0f after the warm-up", pattern, got, most)
			return
		}
		response, err := http.Get(p.admin + "/debug/pprof/heap?gc=1") // it runs the garbage collector
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
