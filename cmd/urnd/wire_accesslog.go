package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
)

// openAccessLogs opens the access logs of a configuration.
func openAccessLogs(c config.Config, d dependencies) (accesslog.Set, error) {
	configs, err := accessLogsOf(c, d)
	if err != nil {
		return nil, err
	}
	var set accesslog.Set
	for i, one := range configs {
		opened, err := accesslog.Open(one)
		if err != nil {
			set.Close()
			return nil, fmt.Errorf("%s.file: %w", config.AccessLogSetting(i), err)
		}
		set = append(set, opened)
	}
	return set, nil
}

// keepAccessLogs adds the goroutine that rotates and removes files of access logs to the starters, and sets
// endKeeping.
func (p *parts) keepAccessLogs() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	access := p.access
	p.starters = append(p.starters, func() { running.Go(func() { access.Run(ctx, time.After) }) })
	p.endKeeping = func() {
		cancel()
		running.Wait()
	}
}

// accessLogsOf returns the configurations of the access logs.
func accessLogsOf(c config.Config, d dependencies) ([]accesslog.FileConfig, error) {
	configs := make([]accesslog.FileConfig, 0, len(c.Log.Access))
	for i, l := range c.Log.Access {
		format, err := accesslog.ParseFormat(l.Format)
		if err != nil {
			return nil, fmt.Errorf("%s.format: %w", config.AccessLogSetting(i), err)
		}
		only, err := onlyOf(l.Only)
		if err != nil {
			return nil, fmt.Errorf("%s.only: %w", config.AccessLogSetting(i), err)
		}
		omits := func(word string) bool { return slices.Contains(l.Omit, word) }
		configs = append(configs, accesslog.FileConfig{
			Config: accesslog.Config{
				Format: format, Filter: only, Clients: loggedClients()[l.Clients],
				Omit: accesslog.Omit{
					User: omits("user"), Query: omits("query"), Referer: omits("referer"),
					UserAgent: omits("user_agent"),
				},
				Lost: d.metrics.LostLines(cmp.Or(l.File, l.Syslog, "stderr")),
			},
			Path: l.File, Keep: int(l.Keep / (24 * time.Hour)), Syslog: syslogOf(c, l, d), Writer: d.stderr,
			ErrorLog: d.log, Now: d.now,
		})
	}
	return configs, nil
}

// loggedClients returns the values of log.access.*.clients.
func loggedClients() map[string]accesslog.Clients {
	return map[string]accesslog.Clients{
		"": accesslog.ClientAddresses, "whole": accesslog.ClientAddresses, "network": accesslog.ClientNetworks,
		"none": accesslog.NoClients,
	}
}

// syslogOf returns the syslog server of an access log, nil for none.
func syslogOf(c config.Config, l config.AccessLog, d dependencies) *accesslog.Syslog {
	if l.Syslog == "" {
		return nil
	}
	s := &accesslog.Syslog{
		PID:      os.Getpid(),
		Deadline: func(after time.Duration) time.Time { return time.Now().Add(after) },
	}
	s.Host, _ = os.Hostname() // "" is valid
	s.Network, s.Address = l.SyslogServer()
	s.Dial = netguard.New(c.Limits.ConnectTimeout, c.Access.AllowDestinations...).WithoutOwn(d.own).DialContext
	if s.Network == "unixgram" {
		s.Dial = netguard.DatagramSocket(c.Limits.ConnectTimeout, s.Address)
	}
	return s
}

// onlyOf returns the filter of an access log, nil for none.
func onlyOf(c config.AccessLogOnly) (func(*accesslog.Entry) bool, error) {
	type statuses struct{ least, most int }
	ranges := make([]statuses, 0, len(c.Statuses))
	for _, text := range c.Statuses {
		least, most, ok := config.StatusRange(text)
		if !ok {
			return nil, fmt.Errorf("statuses: %q is not a status", text)
		}
		ranges = append(ranges, statuses{least, most})
	}
	// The conditions that it shares with proxy rules are evaluated as those of a rule.
	rule := policy.Rule{ID: "only", Clients: c.Clients, Users: c.Users, Methods: c.Methods, Hosts: c.Hosts}
	hasRule := len(c.Clients)+len(c.Users)+len(c.Methods)+len(c.Hosts) > 0
	rules, err := policy.New(policy.ModeEnforce, []policy.Rule{rule})
	if err != nil {
		return nil, err
	}
	if !hasRule && len(ranges) == 0 && len(c.Outcomes) == 0 {
		return nil, nil //nolint:nilnil // no condition
	}
	outcomes := slices.Clone(c.Outcomes)
	return func(e *accesslog.Entry) bool {
		hasStatus := func(s statuses) bool { return s.least <= e.Status && e.Status <= s.most }
		if len(ranges) > 0 && !slices.ContainsFunc(ranges, hasStatus) {
			return false
		}
		hasOutcome := func(word string) bool { return outcomeHolds(e, word) }
		if len(outcomes) > 0 && !slices.ContainsFunc(outcomes, hasOutcome) {
			return false
		}
		r := policy.Request{Client: e.Client, User: e.User, Method: e.Method}
		if len(rule.Hosts) > 0 {
			r.Host = e.HostName()
		}
		return !hasRule || rules.Decide(r).Rule != ""
	}, nil
}

// outcomeHolds reports whether a value of log.access.*.only.outcomes matches a request.
func outcomeHolds(e *accesslog.Entry, word string) bool {
	switch word {
	case "forwarded":
		return e.Forwarded
	case "denied":
		return e.Denied
	default:
		return e.Cached()
	}
}
