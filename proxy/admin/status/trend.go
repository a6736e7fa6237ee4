package status

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/pages"
)

const (
	// SampleEvery is the time from one sample of a Trend to the next.
	SampleEvery = 10 * time.Second
	// maxSamples bounds the samples of a Trend: those of 15 minutes.
	maxSamples = pages.CourseWidth
	// lately is what the figures are about, in samples: a minute.
	lately = 6
)

// Trend is the course of some figures in the last 15 minutes. It is safe for concurrent use. The zero value has no sample.
type Trend struct {
	mu      sync.Mutex
	samples []sample // the oldest first
}

// sample are counts since the start, at a time.
type sample struct {
	at               time.Time
	requests, failed uint64 // all, and those answered by a status of 5xx
	lookups, found   uint64 // in the caches for clients
	duration         metrics.Histogram
}

// Sample adds a sample, unless the last one is younger than SampleEvery.
func (s Sources) Sample() {
	t, now := s.Trend, s.sample()
	t.mu.Lock()
	defer t.mu.Unlock()
	const early = time.Second // of a ticker
	if n := len(t.samples); n > 0 && now.at.Sub(t.samples[n-1].at) < SampleEvery-early {
		return
	}
	if len(t.samples) == maxSamples {
		t.samples = append(t.samples[:0], t.samples[1:]...)
	}
	t.samples = append(t.samples, now)
}

func (s Sources) sample() sample {
	made := sample{at: s.Now()}
	for _, f := range s.Forms() {
		made.duration = made.duration.Plus(f.Duration)
		for _, n := range f.Classes {
			made.requests += n
		}
		made.failed += f.Classes[5]
	}
	for _, c := range s.Caches() {
		if c.Name == "answers" || c.Name == "responses" {
			lookups, found := lookupsOf(c)
			made.lookups, made.found = made.lookups+lookups, made.found+found
		}
	}
	return made
}

// lookupsOf returns how often a cache was asked, and how often it had what was asked for.
func lookupsOf(c metrics.Cache) (all, found uint64) {
	for _, n := range c.Lookups {
		all += n
	}
	return all, c.Lookups["hit"] + c.Lookups["negative"] + c.Lookups["stale"]
}

// since returns what came after an earlier sample. Counts that are less were counted anew, as caches are that a reload has replaced.
func (s sample) since(before sample) sample {
	less := func(now, then uint64) uint64 {
		if now < then {
			return now
		}
		return now - then
	}
	return sample{
		requests: less(s.requests, before.requests), failed: less(s.failed, before.failed), lookups: less(s.lookups, before.lookups),
		found: less(s.found, before.found), duration: s.duration.Since(before.duration),
	}
}

// course are the changes from one sample to the next, by their distance to the last one.
type course struct {
	steps   []sample
	seconds []float64 // that each took
	lately  sample    // the last minute
	within  float64   // seconds of it
}

// course returns that of the samples, and from the last one until now.
func (s Sources) course() course {
	now := s.sample()
	s.Trend.mu.Lock()
	samples := append(make([]sample, 0, maxSamples+1), s.Trend.samples...)
	s.Trend.mu.Unlock()
	var c course
	for i := 1; i < len(samples); i++ {
		c.steps = append(c.steps, samples[i].since(samples[i-1]))
		c.seconds = append(c.seconds, samples[i].at.Sub(samples[i-1].at).Seconds())
	}
	if n := len(samples); n > 0 {
		from := samples[max(n-lately, 0)]
		c.lately, c.within = now.since(from), now.at.Sub(from.at).Seconds()
	}
	return c
}

// line returns the course of a value as points; those where it is not ok are left out. most is the greatest one.
func (c course) line(value func(step sample, seconds float64) (v float64, ok bool)) (points string, most float64) {
	values := make([]float64, len(c.steps))
	for i, step := range c.steps {
		v, ok := value(step, c.seconds[i])
		if values[i] = v; !ok {
			values[i] = -1
		}
		most = max(most, values[i])
	}
	var b strings.Builder
	for i, v := range values {
		if v < 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		height := 0.0
		if most > 0 {
			height = v / most
		}
		const edge = 1 // for the width of the line
		fmt.Fprintf(&b, "%d,%d", pages.CourseWidth-len(values)+i+1, pages.CourseHeight-edge-int(height*(pages.CourseHeight-2*edge)))
	}
	return b.String(), most
}
