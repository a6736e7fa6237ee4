package adversary

import "slices"

// faults are failures of what urnd depends on: the DNS, files, and its own process being
// replaced. The clock is not among them: a process cannot be given one, and the tests of the
// packages set it.
func faults(s *stage) []payload {
	return slices.Concat(s.faultyDNS(), s.faultyRecords(), s.snapshots(), s.files(), s.sharedServers(), s.ends(), s.middles())
}
