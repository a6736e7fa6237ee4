package status

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/urnd/urnd/internal/cli/admin"
)

// Instance is the state of an urnd. Counters start at its start.
type Instance struct {
	Address  string   `json:"address"`
	Error    string   `json:"error,omitempty"` // why the query failed
	Version  string   `json:"version,omitempty"`
	Uptime   float64  `json:"uptime_seconds,omitempty"` // 0 if the system does not report the start of a process
	Config   string   `json:"config,omitempty"`         // a hash, equal for instances with the same configuration
	Ready    bool     `json:"ready"`
	Unready  []string `json:"unready,omitempty"`
	Degraded []string `json:"degraded,omitempty"`

	Requests    float64          `json:"requests"`
	Errors      float64          `json:"errors"` // requests with a response status of 500 or above
	Connections float64          `json:"connections"`
	Caches      map[string]Cache `json:"caches,omitempty"`
	Registry    *Registry        `json:"registry,omitempty"` // nil without a registry
	Systems     []System         `json:"systems,omitempty"`  // the slowest first
	// Alone are caches that no other instance shares, although a shared level is configured.
	Alone []string `json:"alone,omitempty"`
}

// Cache is the content and the use of a cache.
type Cache struct {
	Entries float64 `json:"entries"`
	Bytes   float64 `json:"bytes"`
	Lookups float64 `json:"lookups"`
	Hits    float64 `json:"hits"` // lookups answered from the cache, including negative and stale entries
}

// Registry is the state of the registry as seen by an instance.
type Registry struct {
	Available bool    `json:"available"`
	Names     float64 `json:"names"`
	Behind    float64 `json:"behind_versions"` // versions that the instance has not processed yet
}

// System is a DNS server or a gateway, with its mean response time.
type System struct {
	Name      string  `json:"name"`
	Exchanges float64 `json:"exchanges"`
	Seconds   float64 `json:"mean_seconds"`
}

// instanceAt queries an instance.
func instanceAt(ctx context.Context, c *admin.Client, now func() time.Time) Instance {
	i := Instance{Address: c.Base()}
	if err := i.fetch(ctx, c, now); err != nil {
		return Instance{Address: c.Base(), Error: err.Error()}
	}
	return i
}

func (i *Instance) fetch(ctx context.Context, c *admin.Client, now func() time.Time) error {
	status, text, err := c.Do(ctx, http.MethodGet, "/readyz", nil)
	if err != nil {
		return err
	}
	var document readiness
	switch {
	case status != http.StatusOK && status != http.StatusServiceUnavailable:
		return c.StatusError(status, text)
	case json.Unmarshal(text, &document) != nil || document.Status == "":
		return fmt.Errorf("%s: %w", c.Base(), errNoReadiness)
	}
	i.Ready, i.Unready, i.Degraded = status == http.StatusOK, document.Unready, document.Degraded
	if text, err = c.Get(ctx, "/metrics", nil); err != nil {
		return err
	}
	all, err := parseSamples(text)
	if err != nil {
		return fmt.Errorf("reading the metrics of %s: %w", c.Base(), err)
	}
	i.read(all, now())
	return nil
}

// read sets the fields from metrics.
func (i *Instance) read(all samples, now time.Time) {
	if started := all.sum("process_start_time_seconds", nil); started > 0 {
		i.Uptime = max(0, float64(now.Unix())-started)
	}
	i.Version = all.label("urnd_build_info", "version")
	i.Config = all.label("urnd_config_info", "hash")
	i.Requests = all.sum("urnd_requests_total", nil)
	i.Errors = all.sum("urnd_requests_total", func(l map[string]string) bool { return l["code"] >= "500" })
	i.Connections = all.sum("urnd_limit_used", func(l map[string]string) bool { return l["limit"] == "connections" })
	i.Caches = cachesOf(all)
	for _, available := range all.of("urnd_registry_available") {
		i.Registry = &Registry{
			Available: available.value() == 1, Names: all.sum("urnd_registry_names", nil),
			Behind: all.sum("urnd_registry_replication_lag_versions", nil),
		}
	}
	i.Systems = systemsOf(all)
	for _, s := range all.of("urnd_shared_cache_alone") {
		if s.value() == 1 {
			i.Alone = append(i.Alone, s.labels["cache"])
		}
	}
	slices.Sort(i.Alone)
}

func cachesOf(all samples) map[string]Cache {
	caches := make(map[string]Cache)
	for _, s := range all.of("urnd_cache_entries") {
		name := s.labels["cache"]
		of := func(l map[string]string) bool { return l["cache"] == name }
		caches[name] = Cache{
			Entries: s.value(), Bytes: all.sum("urnd_cache_bytes", of),
			Lookups: all.sum("urnd_cache_lookups_total", of),
			Hits: all.sum("urnd_cache_lookups_total", func(l map[string]string) bool {
				return of(l) && slices.Contains([]string{"hit", "negative", "stale"}, l["outcome"])
			}),
		}
	}
	return caches
}

// systemsOf returns the systems that urnd waits for, the slowest first.
func systemsOf(all samples) []System {
	var systems []System
	for _, family := range []struct{ name, label, prefix string }{
		{"urnd_dns_query_duration_seconds", "server", "DNS "},
		{"urnd_gateway_exchange_duration_seconds", "gateway", ""},
	} {
		for _, s := range all.of(family.name) {
			if n := float64(s.GetHistogram().GetSampleCount()); n > 0 {
				systems = append(systems,
					System{family.prefix + s.labels[family.label], n, s.GetHistogram().GetSampleSum() / n})
			}
		}
	}
	slices.SortFunc(systems, slowest)
	return systems
}

// samples are scraped metrics by name.
type samples map[string]*dto.MetricFamily

// parseSamples parses the text format of Prometheus.
func parseSamples(text []byte) (samples, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// sample is a sample with its labels.
type sample struct {
	*dto.Metric
	labels map[string]string
}

// value returns the value of a counter, gauge or untyped metric.
func (s sample) value() float64 {
	return cmp.Or(s.GetCounter().GetValue(), s.GetGauge().GetValue(), s.GetUntyped().GetValue())
}

// of returns the samples of a metric.
func (s samples) of(name string) (all []sample) {
	for _, m := range s[name].GetMetric() {
		labels := make(map[string]string)
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		all = append(all, sample{m, labels})
	}
	return all
}

// sum adds the samples of a metric whose labels are wanted; nil wants all.
func (s samples) sum(name string, wanted func(labels map[string]string) bool) (total float64) {
	for _, one := range s.of(name) {
		if wanted == nil || wanted(one.labels) {
			total += one.value()
		}
	}
	return total
}

// label returns a label of the first sample of a metric, "" if there is none.
func (s samples) label(name, label string) string {
	for _, one := range s.of(name) {
		return one.labels[label]
	}
	return ""
}
