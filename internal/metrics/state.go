package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State contains the values that are read at each scrape instead of being counted. nil and zero values are not
// exported, except for Ready.
type State struct {
	Ready          bool
	Config         string               // hash of the current configuration, to detect instances that differ
	Certificates   map[string]time.Time // expiry times by certificate name
	Caches         []Cache
	Limits         []Limit
	Registry       *Registry      // nil if the site has no registry
	RegistryState  *RegistryState // nil if the registry is unavailable
	Targets        *Targets       // nil if targets are not checked
	Shared         *Shared        // nil without a second-level cache
	WebhookPending *int           // tags to be sent; nil without webhooks
	SiteServers    []Server
	Upstreams      []Server // upstream proxies
	Lists          []List
	Helpers        []Helper
}

// Helper is an external program that identifies users.
type Helper struct {
	Name               string // purpose of its queries
	Processes, Waiting int    // running processes; queries waiting for a process
	Questions          uint64
	Failures           uint64 // queries without an answer
	Restarts           uint64 // processes that ended
}

// List is a list of a rule, read from a file.
type List struct {
	Path             string
	Entries, Skipped int
	Loaded           time.Time // time of the last read
}

// Server is a server of a site for which urnd is the gateway, or an upstream proxy.
type Server struct {
	Name               string // scheme and authority
	Up                 bool   // receives requests according to probes and settings
	Outstanding        int64  // current requests, for servers of sites
	Requests, Failures int64
}

// Cache contains the statistics of a cache.
type Cache struct {
	Name           string
	Lookups        map[string]uint64 // by outcome: "hit", "miss" ...
	Evictions      uint64
	Entries, Bytes int64
}

// Limit is a concurrency limit and its current usage.
type Limit struct {
	Name      string // name of its setting: "requests"
	Used, Max int
}

// Registry reports whether the registry can be queried and changed.
type Registry struct{ Available, Writable bool }

// RegistryState describes the store of the registry, including changes by all instances.
type RegistryState struct {
	Names    map[string]int64 // by status
	Versions int64            // versions ever created
	Behind   int64            // versions that this instance has not read yet
	Jobs     map[string]int64 // imports of the last day by state
	// Size is the size of its file, and Free the free space of the file system, in bytes. Both are unknown for
	// a database server.
	Size, Free int64
	HasFile    bool
	// Backup and Verified are the times of the last backup and verification; zero if never.
	Backup, Verified time.Time
}

// Targets contains the results of target checks by all instances on the store of the registry.
type Targets struct {
	States map[string]int64 // by state: "unhealthy" ...
	Lag    time.Duration    // delay of the sweep over all names
	Moved  time.Time        // time at which it last passed a name; zero if never
}

// Shared reports whether the second-level cache is in use, and for each cache whether this instance is the only
// one that shares it.
type Shared struct {
	Used  bool
	Alone map[string]bool
}

// family is a metric of State.
type family struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

// families returns all metrics of State by name.
func families() map[string]family {
	all := make(map[string]family)
	row := func(kind prometheus.ValueType, name, help string, labels []string) {
		all[name] = family{prometheus.NewDesc("urnd_"+name, help, labels, nil), kind}
	}
	gauge := func(name, help string, labels ...string) { row(prometheus.GaugeValue, name, help, labels) }
	counter := func(name, help string, labels ...string) { row(prometheus.CounterValue, name, help, labels) }
	gauge("ready", "Whether what the configuration promises can be answered, as /readyz says: 1 or 0.")
	gauge("config_info", "Always 1; the label is a hash of the configuration in force, without secrets, addresses and directories.", "hash")
	gauge("certificate_expiry_timestamp_seconds", "When a certificate of urnd expires, by its first name, in seconds since 1970.", "name")
	counter("cache_lookups_total", "Lookups by cache and outcome: hit, negative (a cached failure or absence), stale, miss, collapsed "+
		"(waited for the same lookup), failure.", "cache", "outcome")
	counter("cache_evictions_total", "Entries that were evicted for others.", "cache")
	gauge("cache_entries", "Entries in the cache.", "cache")
	gauge("cache_bytes", "Memory of the entries in the cache, in bytes.", "cache")
	gauge("limit_used", "How much of a limit is in use, by its setting below limits.", "limit")
	gauge("limit_max", "The greatest value of limit_used, by its setting below limits.", "limit")
	gauge("registry_available", "Whether the registry of the site can be asked: 1 or 0.")
	gauge("registry_writable", "Whether the registry of the site accepts changes, as far as it is known: 1 or 0.")
	gauge("registry_names", "Names of the registry by status.", "status")
	counter("registry_versions_total", "Versions of names and prefixes that were ever made in the registry, by all that write to it.")
	gauge("registry_behind_versions", "Versions of the registry that this instance has not heard of yet.")
	gauge("registry_jobs", "Imports by the API that were accepted in the last day, by state.", "state")
	gauge("registry_size_bytes", "Size of the file of the registry, in octets.")
	gauge("registry_free_bytes", "Room that the file system of the registry has left, in octets.")
	gauge("registry_backup_timestamp_seconds", "When urnd registry backup has made a backup last, in seconds since 1970.")
	gauge("registry_verify_timestamp_seconds", "When urnd registry verify has found no fault last, in seconds since 1970.")
	gauge("registry_targets", "Targets of the registry by state: suspect (some failures), unhealthy, inaccessible (urnd may not ask their "+
		"address), healthy (again; those that always were are not counted).", "state")
	gauge("registry_sweep_lag_seconds", "How late the checks of the targets of the registry are, in seconds.")
	gauge("registry_sweep_progress_timestamp_seconds", "When the checks of the targets of the registry went on last, in seconds since 1970.")
	gauge("shared_cache_used", "Whether the shared level of caches is asked: 1, or 0 after a failure, until it answers again.")
	gauge("shared_cache_alone", "Whether no other instance has shared this cache within the last minute: 1 or 0.", "cache")
	gauge("site_server_up", "Whether a server of a site gets requests, as its settings and probes say: 1 or 0.", "server")
	gauge("site_server_outstanding_requests", "Requests that a server of a site has now.", "server")
	counter("site_server_requests_total", "Requests that a server of a site got, with those that were repeated there.", "server")
	counter("site_server_failures_total", "Requests that a server of a site did not answer.", "server")
	gauge("helper_processes", "Processes of a helper that run.", "helper")
	gauge("helper_waiting_questions", "Questions that wait for a process of a helper.", "helper")
	counter("helper_questions_total", "Questions to a helper that no cache answered.", "helper")
	counter("helper_failures_total", "Questions to which a helper gave no answer.", "helper")
	counter("helper_restarts_total", "Processes of a helper that ended.", "helper")
	gauge("list_entries", "Entries of a list of a rule.", "file")
	gauge("list_skipped_lines", "Lines of a list of a rule that were not understood.", "file")
	gauge("list_loaded_timestamp_seconds", "When a list of a rule was read last, in seconds since 1970.", "file")
	gauge("upstream_up", "Whether probes can connect to an upstream proxy: 1 or 0.", "proxy")
	counter("upstream_requests_total", "Requests that were to go through an upstream proxy.", "proxy")
	counter("upstream_failures_total", "Requests for which no connection to an upstream proxy was made.", "proxy")
	gauge("webhook_pending_tags", "Tags that caches in front of urnd are still to be told.")
	return all
}

// add adds a sample to the family with this name.
type add func(family string, value float64, labels ...string)

// time adds a time unless it is zero.
func (a add) time(family string, t time.Time, labels ...string) {
	if !t.IsZero() {
		a(family, float64(t.Unix()), labels...)
	}
}

// samples calls add for each sample.
func (s *State) samples(add add) {
	add("ready", number(s.Ready))
	if s.Config != "" {
		add("config_info", 1, s.Config)
	}
	for name, expires := range s.Certificates {
		add("certificate_expiry_timestamp_seconds", float64(expires.Unix()), name)
	}
	for _, c := range s.Caches {
		for outcome, n := range c.Lookups {
			add("cache_lookups_total", float64(n), c.Name, outcome)
		}
		add("cache_evictions_total", float64(c.Evictions), c.Name)
		add("cache_entries", float64(c.Entries), c.Name)
		add("cache_bytes", float64(c.Bytes), c.Name)
	}
	for _, l := range s.Limits {
		add("limit_used", float64(l.Used), l.Name)
		add("limit_max", float64(l.Max), l.Name)
	}
	if r := s.Registry; r != nil {
		add("registry_available", number(r.Available))
		add("registry_writable", number(r.Writable))
	}
	if s.RegistryState != nil {
		s.RegistryState.samples(add)
	}
	if t := s.Targets; t != nil {
		for state, n := range t.States {
			add("registry_targets", float64(n), state)
		}
		add("registry_sweep_lag_seconds", t.Lag.Seconds())
		add.time("registry_sweep_progress_timestamp_seconds", t.Moved)
	}
	if s.Shared != nil {
		add("shared_cache_used", number(s.Shared.Used))
		for cache, alone := range s.Shared.Alone {
			add("shared_cache_alone", number(alone), cache)
		}
	}
	s.serverSamples(add)
	if s.WebhookPending != nil {
		add("webhook_pending_tags", float64(*s.WebhookPending))
	}
}

// serverSamples calls add for servers of sites, helpers, lists of rules and upstream proxies.
func (s *State) serverSamples(add add) {
	for _, server := range s.SiteServers {
		add("site_server_up", number(server.Up), server.Name)
		add("site_server_outstanding_requests", float64(server.Outstanding), server.Name)
		add("site_server_requests_total", float64(server.Requests), server.Name)
		add("site_server_failures_total", float64(server.Failures), server.Name)
	}
	for _, helper := range s.Helpers {
		add("helper_processes", float64(helper.Processes), helper.Name)
		add("helper_waiting_questions", float64(helper.Waiting), helper.Name)
		add("helper_questions_total", float64(helper.Questions), helper.Name)
		add("helper_failures_total", float64(helper.Failures), helper.Name)
		add("helper_restarts_total", float64(helper.Restarts), helper.Name)
	}
	for _, list := range s.Lists {
		add("list_entries", float64(list.Entries), list.Path)
		add("list_skipped_lines", float64(list.Skipped), list.Path)
		add.time("list_loaded_timestamp_seconds", list.Loaded, list.Path)
	}
	for _, proxy := range s.Upstreams {
		add("upstream_up", number(proxy.Up), proxy.Name)
		add("upstream_requests_total", float64(proxy.Requests), proxy.Name)
		add("upstream_failures_total", float64(proxy.Failures), proxy.Name)
	}
}

func (r *RegistryState) samples(add add) {
	for status, n := range r.Names {
		add("registry_names", float64(n), status)
	}
	for state, n := range r.Jobs {
		add("registry_jobs", float64(n), state)
	}
	add("registry_versions_total", float64(r.Versions))
	add("registry_behind_versions", float64(r.Behind))
	if r.HasFile {
		add("registry_size_bytes", float64(r.Size))
		add("registry_free_bytes", float64(r.Free))
	}
	add.time("registry_backup_timestamp_seconds", r.Backup)
	add.time("registry_verify_timestamp_seconds", r.Verified)
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// State exports the values returned by get, which each scrape calls once.
func (m *Metrics) State(get func() State) { m.registry.MustRegister(scraped{get, families()}) }

// scraped is a prometheus.Collector of State.
type scraped struct {
	get      func() State
	families map[string]family
}

// Describe implements prometheus.Collector.
func (s scraped) Describe(out chan<- *prometheus.Desc) {
	for _, f := range s.families {
		out <- f.Desc
	}
}

// Collect implements prometheus.Collector.
func (s scraped) Collect(out chan<- prometheus.Metric) {
	state := s.get()
	state.samples(func(name string, value float64, labels ...string) {
		f := s.families[name]
		out <- prometheus.MustNewConstMetric(f.Desc, f.kind, value, labels...)
	})
}
