package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/gate/list"
	"github.com/urnd/urnd/proxy/gate/policy"
)

// zoneOf returns the time zone with a name, that of the machine for "".
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil //nolint:gosmopolitan // without a configured zone, the clock of the machine applies
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("proxy.time_zone: %w", err)
	}
	return zone, nil
}

// ruleFiles are the lists of the rules of a configuration, by path: each is in memory once, however many
// rules use it. Those of the previous configuration are reused, so that a reload does not lose valid content.
type ruleFiles struct {
	config   list.Config
	kept     *shared.Values
	previous *shared.Values // nil for none
	starters []func()       // start watching the lists for changes
	hosts    map[string]list.HostFile
	urls     map[string]list.URLFile
	networks map[string]list.NetworkFile
	files    []listFile
}

// listFile is the state of a list.
type listFile interface {
	Info() list.Info
	Failures() []string
}

func newRuleFiles(d dependencies, kept *shared.Values) *ruleFiles {
	return &ruleFiles{
		kept: kept, config: list.Config{Log: d.persistentLog, Now: d.now, After: time.After},
		hosts: make(map[string]list.HostFile), urls: make(map[string]list.URLFile),
		networks: make(map[string]list.NetworkFile),
	}
}

// fileOf returns the list with a path, and opens it if it is not among the known ones.
func fileOf[T interface {
	listFile
	Run(ctx context.Context)
}](f *ruleFiles, known map[string]T, path string, open func(list.Config) (T, error)) (T, error) {
	file, ok := known[path]
	if ok {
		return file, nil
	}
	file, err := shared.Reuse(f.kept, f.previous, "list "+path, nil, func() (T, func(), error) {
		config := f.config
		config.Path = path
		file, err := open(config)
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		f.starters = append(f.starters, func() { running.Go(func() { file.Run(ctx) }) })
		return file, func() {
			cancel()
			running.Wait()
		}, err
	})
	if err != nil {
		return file, err
	}
	known[path] = file
	f.files = append(f.files, file)
	return file, nil
}

// add adds the lists of a rule to it.
func (f *ruleFiles) add(rule *policy.Rule, r config.ProxyRule) error {
	for _, path := range r.HostsFrom {
		file, err := fileOf(f, f.hosts, path, list.OpenHosts)
		if err != nil {
			return err
		}
		rule.HostLists = append(rule.HostLists, file)
	}
	for _, path := range r.URLsFrom {
		file, err := fileOf(f, f.urls, path, list.OpenURLs)
		if err != nil {
			return err
		}
		rule.URLLists = append(rule.URLLists, file)
	}
	for _, networks := range [...]struct {
		paths []string
		lists *[]policy.AddressList
	}{{r.ClientsFrom, &rule.ClientLists}, {r.DestinationsFrom, &rule.DestinationLists}} {
		for _, path := range networks.paths {
			file, err := fileOf(f, f.networks, path, list.OpenNetworks)
			if err != nil {
				return err
			}
			*networks.lists = append(*networks.lists, file)
		}
	}
	return nil
}

// failures returns the failures of the lists.
func (f *ruleFiles) failures() (all []string) {
	for _, file := range f.files {
		all = append(all, file.Failures()...)
	}
	return all
}

// states returns the state of the lists, for metrics.
func (f *ruleFiles) states() (all []metrics.List) {
	for _, file := range f.files {
		info := file.Info()
		all = append(all, metrics.List{
			Path: info.Path, Entries: info.Entries, Skipped: info.Skipped,
			Loaded: info.Loaded,
		})
	}
	return all
}

// wireRules returns the policy of a service. Its lists are reloaded when they change, after the service is
// started.
func wireRules(s *service, c config.Config, r *resolution, d dependencies) (*policy.Policy, error) {
	s.lists = newRuleFiles(d, &r.shared)
	s.lists.previous = d.previous.reusable()
	rules, err := policyOf(c, s.lists)
	if err != nil {
		return nil, err
	}
	r.starters = append(r.starters, s.lists.starters...)
	r.readiness = append(r.readiness, degrading(s.lists.failures))
	return rules, nil
}

// testPolicy returns the policy of a configuration for a command, which reads its lists once.
func testPolicy(c config.Config) (*policy.Policy, error) {
	return policyOf(c, newRuleFiles(newDependencies(), new(shared.Values)))
}

// policyOf returns the policy of the forward proxy of a configuration, and opens its lists.
func policyOf(c config.Config, files *ruleFiles) (*policy.Policy, error) {
	mode, err := policy.ParseMode(c.Proxy.Policy)
	if err != nil {
		return nil, fmt.Errorf("proxy.policy: %w", err)
	}
	zone, err := zoneOf(c.Proxy.TimeZone)
	if err != nil {
		return nil, err
	}
	rules := make([]policy.Rule, 0, len(c.Proxy.Rules))
	for i, r := range c.Proxy.Rules {
		rule := policy.Rule{
			ID: r.ID, Deny: r.Action == "deny", Clients: r.Clients, Users: r.Users, Methods: r.Methods,
			Schemes: r.Schemes, Hosts: r.Hosts, Groups: r.Groups, Paths: r.Paths, Destinations: r.Destinations,
			Reason: r.Reason,
		}
		for _, w := range r.Times {
			rule.Times = append(rule.Times,
				policy.Window{Days: w.Days, From: w.From, To: w.To, Zone: zone, Name: w.String()})
		}
		for _, name := range r.Hellos {
			rule.Hellos = append(rule.Hellos, policy.ParseHello(name))
		}
		for _, ports := range r.Ports {
			rule.Ports = append(rule.Ports, policy.PortRange(ports))
		}
		if err := files.add(&rule, r); err != nil {
			return nil, fmt.Errorf("proxy.rules.%d: %w", i, err)
		}
		rules = append(rules, rule)
	}
	p, err := policy.New(mode, rules)
	if err != nil {
		return nil, fmt.Errorf("proxy.rules: %w", err)
	}
	return p, nil
}
