package config

import "time"

// stopTimeout is TimeoutStopSec of the units in systemd/.
const stopTimeout = time.Minute

// warnOfTimes warns of times that other times leave without effect.
func warnOfTimes(f *Faults, c Config) {
	d := Default()
	for _, t := range []struct {
		path                 string
		value, byDefault, by time.Duration
		other                string
	}{
		{"dns.timeout", c.DNS.Timeout, d.DNS.Timeout, c.Resolve.Timeout, "resolve.timeout"},
		{"thttp.timeout", c.THTTP.Timeout, d.THTTP.Timeout, c.Resolve.Timeout, "resolve.timeout"},
		{"slp.timeout", c.SLP.Timeout, d.SLP.Timeout, c.Resolve.Timeout, "resolve.timeout"},
		{"thttp.default_ttl", c.THTTP.DefaultTTL, d.THTTP.DefaultTTL, c.Resolve.MaxTTL, "resolve.max_ttl"},
		{"cache.retry_after", c.Cache.RetryAfter, d.Cache.RetryAfter, c.Cache.StaleFor, "cache.stale_for"},
		{"limits.connect_timeout", c.Limits.ConnectTimeout, d.Limits.ConnectTimeout, c.Limits.OriginTimeout, "limits.origin_timeout"},
	} {
		if t.value > t.by && t.value != t.byDefault {
			f.Add(t.path, "%s is more than %s, %s, which ends before: write a longer one there, or a shorter one here",
				show(t.value), t.other, show(t.by))
		}
	}
	l := c.Limits
	if stop := l.NoticeTime + l.DrainTime + l.ShutdownTimeout; stop > stopTimeout {
		f.Add("limits.shutdown_timeout", "with limits.notice_time and limits.drain_time urnd takes %s to stop, and its unit of systemd ends it "+
			"after %s: write less, or a longer TimeoutStopSec in the unit (systemctl edit urnd)", show(stop), show(stopTimeout))
	}
}

// warnOfShares warns of limits that are more than what they are a part of.
func warnOfShares(f *Faults, l Limits) {
	const ofStreams = 2
	if l.Streams > l.Outgoing/ofStreams {
		f.Add("limits.streams", "%d is more than half of limits.outgoing, %d: only that half is used", l.Streams, l.Outgoing)
	}
	if l.ClientConnections > l.Connections {
		f.Add("limits.client_connections", "%d is more than limits.connections, %d: one client can take them all",
			l.ClientConnections, l.Connections)
	}
}
