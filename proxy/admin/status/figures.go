package status

import (
	"math"
	"strconv"
	"time"

	"github.com/urnd/urnd/proxy/pages"
)

// figures returns what an operator looks at first.
func (s Sources) figures() []pages.Figure {
	c := s.course()
	return []pages.Figure{c.requests(), c.hits(), c.latency(), c.failures()}
}

func (c course) requests() pages.Figure {
	points, most := c.line(func(step sample, seconds float64) (float64, bool) { return rate(step.requests, seconds) })
	f := pages.Figure{ID: "rate", Name: "Requests in the last minute", Text: nothing, Line: points, Note: "at most " + perSecond(most) + " in 15 minutes"}
	if perSeconds, ok := rate(c.lately.requests, c.within); ok {
		f.Text = perSecond(perSeconds)
	}
	return f
}

func (c course) hits() pages.Figure {
	points, _ := c.line(func(step sample, _ float64) (float64, bool) { return partOf(step.found, step.lookups) })
	return pages.Figure{
		ID: "hits", Name: "Answered from the caches", Text: share(c.lately.found, c.lately.lookups), Line: points,
		Note: "of " + number(c.lately.lookups) + " lookups",
	}
}

func (c course) latency() pages.Figure {
	points, slowest := c.line(func(step sample, _ float64) (float64, bool) {
		d, _, ok := step.duration.Quantile(most)
		return float64(d), ok
	})
	f := pages.Figure{ID: "latency", Name: "95 % answered within", Text: quantile(c.lately.duration, most), Line: points, Note: "nothing in 15 minutes"}
	if slowest > 0 {
		f.Note = "at most " + duration(time.Duration(slowest)) + " in 15 minutes"
	}
	return f
}

func (c course) failures() pages.Figure {
	points, _ := c.line(func(step sample, _ float64) (float64, bool) { return partOf(step.failed, step.requests) })
	f := pages.Figure{ID: "failures", Name: "Answered by an error (5xx)", Text: share(c.lately.failed, c.lately.requests), Line: points}
	all := uint64(0)
	for _, step := range c.steps {
		all += step.failed
	}
	f.Note = number(all) + " in 15 minutes"
	const few, some, many = 5, .01, .1
	switch part, _ := partOf(c.lately.failed, c.lately.requests); {
	case c.lately.failed < few:
	case part >= many:
		f.Severity = pages.Critical
	case part >= some:
		f.Severity = pages.Warning
	}
	return f
}

func rate(n uint64, seconds float64) (perSecond float64, ok bool) {
	if seconds <= 0 {
		return 0, false
	}
	return float64(n) / seconds, true
}

func partOf(part, all uint64) (float64, bool) {
	if all == 0 {
		return 0, false
	}
	return min(float64(part)/float64(all), 1), true
}

// perSecond returns a rate with two digits, or as a whole number.
func perSecond(n float64) string {
	switch {
	case n > 0 && n < .1:
		return "under 0.1/s"
	case n < 9.95: //nolint:mnd // else it is shown with two digits before the point
		return strconv.FormatFloat(n, 'f', 1, 64) + "/s"
	default:
		return number(uint64(math.Round(n))) + "/s"
	}
}
