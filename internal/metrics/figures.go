package metrics

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Classes is the number of status classes. The class of a status is its first digit; class 0 contains requests
// aborted before they had a status.
const Classes = 6

// Form contains the requests of one form since the start.
type Form struct {
	Name     string
	Classes  [Classes]uint64
	Duration Histogram
}

// Forms returns the requests by form, ordered by name.
func (m *Metrics) Forms() []Form {
	found := make(map[string]*Form)
	for l, t := range m.requests.totals() {
		f := found[l.first]
		if f == nil {
			f = &Form{Name: l.first, Duration: Histogram{m.requests.bounds[:], make([]uint64, ranges)}}
			found[l.first] = f
		}
		const hundred = 100
		f.Classes[l.code/hundred] += t.count()
		for i, n := range t.counts {
			f.Duration.counts[i] += n
		}
	}
	all := make([]Form, 0, len(found))
	for _, f := range found {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Form) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// System is a system that urnd queries: a DNS server, or the servers behind a gateway.
type System struct {
	Kind     string // SystemDNS or SystemGateway
	Name     string
	Outcomes map[string]uint64
	Duration Histogram
}

// Kinds of systems.
const (
	SystemDNS     = "DNS server"
	SystemGateway = "gateway"
)

// Failures returns the number of queries without a response or with a server error.
func (s System) Failures() (n uint64) {
	failing := []string{"timeout", "error", "SERVFAIL", "REFUSED", "FORMERR", "NOTIMP"}
	if s.Kind == SystemGateway {
		failing = []string{"timeout", "failed"}
	}
	for _, outcome := range failing {
		n += s.Outcomes[outcome]
	}
	return n
}

// Systems returns the queries since the start, ordered by kind and name.
func (m *Metrics) Systems() []System {
	type key struct{ kind, name string }
	found := make(map[key]*System)
	system := func(kind, name string) *System {
		s := found[key{kind, name}]
		if s == nil {
			s = &System{Kind: kind, Name: name, Outcomes: make(map[string]uint64)}
			found[key{kind, name}] = s
		}
		return s
	}
	for _, family := range []struct {
		kind, name, outcome string
		counts, durations   prometheus.Collector
	}{
		{SystemDNS, "server", "rcode", m.queries, m.queryDuration},
		{SystemGateway, "gateway", "outcome", m.exchanges, m.exchangeDuration},
	} {
		for _, s := range gather(family.counts) {
			system(family.kind, s.labels[family.name]).Outcomes[s.labels[family.outcome]] += s.count
		}
		for _, s := range gather(family.durations) {
			system(family.kind, s.labels[family.name]).Duration = s.durations
		}
	}
	all := make([]System, 0, len(found))
	for _, s := range found {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b System) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return all
}

// sample is a counter or a histogram with its labels.
type sample struct {
	labels    map[string]string
	count     uint64
	durations Histogram
}

// gather returns the samples of a collector of counters or histograms.
func gather(c prometheus.Collector) (all []sample) {
	r := prometheus.NewRegistry() // with this collector only: others are expensive, such as the memory statistics of Go
	r.MustRegister(c)
	families, _ := r.Gather() // these collectors do not fail
	for _, family := range families {
		for _, m := range family.GetMetric() {
			s := sample{labels: make(map[string]string), count: uint64(m.GetCounter().GetValue())}
			for _, l := range m.GetLabel() {
				s.labels[l.GetName()] = l.GetValue()
			}
			below := uint64(0)
			for _, b := range m.GetHistogram().GetBucket() {
				s.durations.bounds = append(s.durations.bounds, time.Duration(b.GetUpperBound()*float64(time.Second)))
				s.durations.counts = append(s.durations.counts, b.GetCumulativeCount()-below)
				below = b.GetCumulativeCount()
			}
			s.durations.counts = append(s.durations.counts, m.GetHistogram().GetSampleCount()-below)
			all = append(all, s)
		}
	}
	return all
}
