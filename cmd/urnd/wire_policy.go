package main

import (
	"fmt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/gate/policy"
)

// policyOf returns the policy of the forward proxy of a configuration.
func policyOf(c config.Config) (*policy.Policy, error) {
	mode, err := policy.ParseMode(c.Proxy.Policy)
	if err != nil {
		return nil, fmt.Errorf("proxy.policy: %w", err)
	}
	rules := make([]policy.Rule, 0, len(c.Proxy.Rules))
	for _, r := range c.Proxy.Rules {
		rule := policy.Rule{
			ID: r.ID, Deny: r.Action == "deny", Clients: r.Clients, Users: r.Users, Methods: r.Methods, Schemes: r.Schemes, Hosts: r.Hosts,
			Destinations: r.Destinations,
		}
		for _, ports := range r.Ports {
			rule.Ports = append(rule.Ports, policy.PortRange(ports))
		}
		rules = append(rules, rule)
	}
	p, err := policy.New(mode, rules)
	if err != nil {
		return nil, fmt.Errorf("proxy.rules: %w", err)
	}
	return p, nil
}
