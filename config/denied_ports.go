package config

import "slices"

// warnOfDeniedPorts warns of a list that was copied, and not chosen.
func warnOfDeniedPorts(f *Faults, ports []PortRange) {
	isOfDefault := func(p PortRange) bool {
		return slices.ContainsFunc(Default().Gateways.DenyPorts, func(d PortRange) bool { return p.First <= d.Last && d.First <= p.Last })
	}
	if len(ports) > 0 && !slices.ContainsFunc(ports, isOfDefault) {
		f.Add("gateways.deny_ports", "takes the place of the default, and has none of its ports: write these too, or delete the line")
	}
}
